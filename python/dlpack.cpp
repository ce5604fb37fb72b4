// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dlpack.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

namespace nb = nanobind;

namespace videoconvolve_python {
namespace {

constexpr const char* plain_name = "dltensor";
constexpr const char* versioned_name = "dltensor_versioned";
constexpr std::uint64_t read_only_flag = 1;

struct Tensor {
  void* data;
  std::int32_t device_type, device;
  std::int32_t dimensions;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};

struct Plain {
  Tensor tensor;
  void* context;
  void (*deleter)(Plain*);
};

struct Versioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  Tensor tensor;
};

// A managed tensor of ours, with all that its pointers point to.
template <class Managed>
struct Export {
  Managed managed{};
  DlpackArray array;
  nb::object owner;
};

// The consumer may call it from any thread, with the interpreter's lock or without.
template <class Managed>
void delete_export(Managed* managed) {
  const std::unique_ptr<Export<Managed>> taken(static_cast<Export<Managed>*>(managed->context));
  if (!Py_IsInitialized()) {
    taken->owner.release();
    return;
  }
  const nb::gil_scoped_acquire locked;
  taken->owner.reset();
}

// A capsule that nobody consumed still has its first name, and deletes what it holds.
template <class Managed>
void delete_capsule(PyObject* capsule) {
  const char* name = std::is_same_v<Managed, Plain> ? plain_name : versioned_name;
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class Managed>
nb::object capsule_of(const DlpackArray& array, nb::object owner) {
  auto made = std::make_unique<Export<Managed>>();
  made->array = array;
  made->owner = std::move(owner);
  Managed& managed = made->managed;
  managed.tensor = {reinterpret_cast<void*>(array.data),
                    array.device_type,
                    array.device,
                    static_cast<std::int32_t>(array.shape.size()),
                    static_cast<std::uint8_t>(array.code),
                    static_cast<std::uint8_t>(array.bits),
                    1,
                    made->array.shape.data(),
                    made->array.strides.data(),
                    0};
  managed.context = made.get();
  managed.deleter = &delete_export<Managed>;
  const char* name = plain_name;
  if constexpr (std::is_same_v<Managed, Versioned>) {
    managed.major = 1;
    managed.flags = array.readonly ? read_only_flag : 0;
    name = versioned_name;
  }
  PyObject* capsule = PyCapsule_New(&managed, name, &delete_capsule<Managed>);
  if (!capsule) throw nb::python_error();
  made.release();  // NOLINT(bugprone-unused-return-value): the capsule's from here on
  return nb::steal(capsule);
}

DlpackArray array_of(const Tensor& tensor, bool readonly) {
  DlpackArray array{reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset,
                    tensor.device_type,
                    tensor.device,
                    tensor.code,
                    tensor.bits * tensor.lanes,
                    {tensor.shape, tensor.shape + tensor.dimensions},
                    {},
                    readonly};
  if (tensor.strides) {
    array.strides.assign(tensor.strides, tensor.strides + tensor.dimensions);
  } else {
    array.strides.resize(array.shape.size());
    std::int64_t step = 1;
    for (std::size_t i = array.shape.size(); i-- > 0; step *= array.shape[i]) array.strides[i] = step;
  }
  return array;
}

}  // namespace

DlpackArray read_capsule(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), versioned_name)) {
    const auto* managed = static_cast<Versioned*>(PyCapsule_GetPointer(capsule.ptr(), versioned_name));
    if (managed->major != 1)
      throw std::invalid_argument("__dlpack__ gave version " + std::to_string(managed->major) +
                                  " of DLPack; 1 is read");
    return array_of(managed->tensor, managed->flags & read_only_flag);
  }
  if (PyCapsule_IsValid(capsule.ptr(), plain_name))
    return array_of(static_cast<Plain*>(PyCapsule_GetPointer(capsule.ptr(), plain_name))->tensor, false);
  throw std::invalid_argument("__dlpack__ gave something that is no DLPack capsule");
}

nb::object make_capsule(const DlpackArray& array, nb::object owner, bool versioned) {
  return versioned ? capsule_of<Versioned>(array, std::move(owner)) : capsule_of<Plain>(array, std::move(owner));
}

}  // namespace videoconvolve_python

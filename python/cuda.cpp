// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The binding of arrays in CUDA memory. A call queues its work on the stream that it is given and returns. Plans and
// their tables have to outlive that work: each stream has a backend of its own, which keeps its last plans.
#include "filtering.hpp"

#ifdef CONVOLVE_HAVE_CUDA

#include <cuda_runtime_api.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>

#include "dlpack.hpp"

namespace nb = nanobind;

namespace videoconvolve_python {
namespace {

using namespace convolve;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

cudaStream_t stream_of(std::uintptr_t handle) {
  return reinterpret_cast<cudaStream_t>(handle);
}

// Makes a GPU the calling thread's for its own duration.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    check(cudaGetDevice(&before_), "the thread's GPU");
    if (device != before_) check(cudaSetDevice(device), "the array's GPU");
    changed_ = device != before_;
  }
  ~DeviceScope() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// What is kept for one stream of one GPU.
class StreamWork {
 public:
  /// `number` is the stream's, which is never used again, unlike its handle.
  StreamWork(int device, unsigned long long number) : device_(device), number_(number), backend_(make_cuda_backend()) {}
  ~StreamWork() { cudaEventSynchronize(done_.get()); }
  StreamWork(const StreamWork&) = delete;
  StreamWork& operator=(const StreamWork&) = delete;

  int device() const { return device_; }
  bool is_of(int device, unsigned long long number) const { return device == device_ && number == number_; }

  void filter(const PlanDesc& desc, const Shape& shape, const Frames& in, const Frames& out, cudaStream_t handle) {
    auto found = std::find_if(plans_.begin(), plans_.end(), [&](const Kept& kept) { return kept.desc == desc; });
    if (found == plans_.end()) {
      if (plans_.size() == max_plans) plans_.pop_back();
      plans_.push_front({desc, backend_->make_plan(desc)});
    } else {
      plans_.splice(plans_.begin(), plans_, found);
    }
    const char* fault = run(*plans_.front().plan, desc, shape, in, out, handle);
    check(cudaEventRecord(done_.get(), handle), "the stream");
    if (fault) throw std::runtime_error(fault);
  }

 private:
  static constexpr std::size_t max_plans = 8;
  struct Kept {
    PlanDesc desc;
    std::unique_ptr<Plan> plan;
  };

  const int device_;
  const unsigned long long number_;
  Event done_;
  const std::unique_ptr<Backend> backend_;
  std::list<Kept> plans_;  ///< that of the last call first
};

// The last streams first. Never freed at the end of the process, when the driver may be gone already.
struct AllWork {
  std::mutex mutex;
  std::list<StreamWork> streams;
};
constexpr std::size_t max_streams = 16;

StreamWork& work_on(AllWork& all, int device, cudaStream_t handle) {
  unsigned long long number = 0;
  check(cudaStreamGetId(handle, &number), "the stream");
  auto found = std::find_if(all.streams.begin(), all.streams.end(),
                            [&](const StreamWork& work) { return work.is_of(device, number); });
  if (found == all.streams.end()) {
    if (all.streams.size() == max_streams) {
      const DeviceScope scope(all.streams.back().device());
      all.streams.pop_back();
    }
    all.streams.emplace_front(device, number);
  } else {
    all.streams.splice(all.streams.begin(), all.streams, found);
  }
  return all.streams.front();
}

// The GPU of an address; throws where it is none of a GPU's.
int device_of(std::uintptr_t address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, reinterpret_cast<const void*>(address)), "the array's address");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw std::invalid_argument("the address " + std::to_string(address) +
                                " that the array names is not in CUDA memory");
  return attributes.device;
}

void refuse_capture(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "the stream");
  if (status != cudaStreamCaptureStatusNone)
    throw std::runtime_error(
        "the stream is being captured into a graph, which filters cannot be part of; call this outside of the capture");
}

SampleType type_of(const std::string& dtype) {
  return dtype == "uint8" ? SampleType::u8 : dtype == "uint16" ? SampleType::u16 : SampleType::f32;
}

using Strides = std::vector<std::ptrdiff_t>;

void filter_cuda_frames(std::uintptr_t in, const Strides& in_strides, std::uintptr_t out, const Strides& out_strides,
                        const std::tuple<int, int, int, int>& shape, bool planar, const std::string& dtype,
                        std::uintptr_t stream, nb::list taps, int depth, int height, int width,
                        const std::string& operation, double scale, bool normalize, double bias,
                        const std::string& border, double border_value, int bits, const std::string& algorithm) {
  const auto [count, rows, columns, components] = shape;
  const Shape frames{type_of(dtype), count, rows, columns, components, planar};
  const PlanDesc desc = describe(frames, {std::move(taps), depth, height, width, operation, scale, normalize, bias,
                                          border, border_value, bits, algorithm});
  const auto view = [](std::uintptr_t data, const Strides& strides) {
    return Frames{reinterpret_cast<std::byte*>(data), {strides.at(0), strides.at(1), strides.at(2), strides.at(3)}};
  };
  const nb::gil_scoped_release unlocked;
  const int device = device_of(in), out_device = device_of(out);
  if (device != out_device)
    throw std::invalid_argument("the frames are on GPU " + std::to_string(device) + " and out on GPU " +
                                std::to_string(out_device) + "; copy one to the other's");
  const DeviceScope scope(device);
  refuse_capture(stream_of(stream));
  static auto* all = new AllWork;
  const std::lock_guard lock(all->mutex);
  work_on(*all, device, stream_of(stream))
      .filter(desc, frames, view(in, in_strides), view(out, out_strides), stream_of(stream));
}

// Later work on the second stream comes after what is queued on the first by now.
void order_streams(int device, std::uintptr_t first, std::uintptr_t second) {
  const nb::gil_scoped_release unlocked;
  const DeviceScope scope(device);
  const Event event;
  check(cudaEventRecord(event.get(), stream_of(first)), "the first stream");
  check(cudaStreamWaitEvent(stream_of(second), event.get(), 0), "the second stream");
}

// Waits for all that is queued on a GPU.
void synchronize(int device) {
  const nb::gil_scoped_release unlocked;
  const DeviceScope scope(device);
  check(cudaDeviceSynchronize(), "the GPU");
}

// Memory of a GPU, for results that belong to no other library.
class CudaMemory {
 public:
  CudaMemory(std::size_t bytes, int device) : device_(device) {
    const DeviceScope scope(device);
    check(cudaMalloc(&address_, std::max<std::size_t>(bytes, 1)), "memory for the result");
  }
  // Freeing waits for the work on it.
  ~CudaMemory() { cudaFree(address_); }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(address_); }
  int device() const { return device_; }

 private:
  void* address_ = nullptr;
  int device_;
};

nb::tuple read_dlpack(nb::handle capsule) {
  const DlpackArray array = read_capsule(capsule);
  return nb::make_tuple(array.data, array.shape, array.strides, array.code, array.bits, array.readonly);
}

nb::object make_dlpack(std::uintptr_t data, const std::vector<std::int64_t>& shape,
                       const std::vector<std::int64_t>& strides, int code, int bits, int device, bool readonly,
                       nb::object owner, bool versioned) {
  constexpr int cuda_device_type = 2;
  return make_capsule({data, cuda_device_type, device, code, bits, shape, strides, readonly}, std::move(owner),
                      versioned);
}

}  // namespace

void add_cuda(nb::module_& module) {
  module.attr("have_cuda") = true;
  module.def("filter_cuda_frames", &filter_cuda_frames);
  module.def("device_of", &device_of);
  module.def("order_streams", &order_streams);
  module.def("synchronize", &synchronize);
  module.def("read_dlpack", &read_dlpack);
  module.def("make_dlpack", &make_dlpack);
  nb::class_<CudaMemory>(module, "CudaMemory")
      .def(nb::init<std::size_t, int>())
      .def_prop_ro("address", &CudaMemory::address)
      .def_prop_ro("device", &CudaMemory::device);
}

}  // namespace videoconvolve_python

#else

namespace videoconvolve_python {

void add_cuda(nanobind::module_& module) {
  module.attr("have_cuda") = false;
}

}  // namespace videoconvolve_python

#endif

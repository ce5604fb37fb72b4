// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a call is forwarded without knowing its signature: each exported name is a small stub that puts its own number
// into a register and jumps to forward_call, which saves the six argument registers, asks enter_call() what to do,
// restores them, and either jumps on to the driver below, with the stack as it was, or returns a CUresult. All driver
// functions take integers and pointers, and return a CUresult, so nothing else has to be saved. x86-64 ELF.
//
// The CUDA runtime does not use the exported names: it asks cuGetProcAddress() for addresses. It is given stubs as
// well, out of a row of spare ones.
#include "faults.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#define SPARE_STUBS 768
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

asm(R"(
    .pushsection .text
    .set stub_number, 0
    .macro stub
    .balign 16
    mov $stub_number, %eax
    jmp forward_call
    .set stub_number, stub_number + 1
    .endm
    .balign 16
    .hidden first_stub
    .globl first_stub
first_stub:
)");
#define ENTRY(name) asm(".balign 16\n.globl " #name "\n.type " #name ", @function\n" #name ":\nstub\n");
#include "entry_points.inc"
#undef ENTRY
asm(".rept " TEXT(SPARE_STUBS) R"(
    stub
    .endr
forward_call:
    push %rbp
    mov %rsp, %rbp
    push %r9
    push %r8
    push %rcx
    push %rdx
    push %rsi
    push %rdi
    mov %eax, %edi
    mov %rsp, %rsi
    call enter_call
    mov %rax, %r11
    mov %rdx, %r10
    pop %rdi
    pop %rsi
    pop %rdx
    pop %rcx
    pop %r8
    pop %r9
    pop %rbp
    test %r11, %r11
    jz 1f
    jmp *%r11
1:  mov %r10d, %eax
    ret
    .popsection
)");

extern "C" const unsigned char first_stub[] __attribute__((visibility("hidden")));

namespace {

constexpr const char* exported[] = {
#define ENTRY(name) #name,
#include "entry_points.inc"
#undef ENTRY
};
constexpr std::size_t exported_count = std::size(exported);
constexpr std::size_t stub_count = exported_count + SPARE_STUBS;
constexpr std::size_t stub_bytes = 16;

struct Function {
  std::string name;
  std::atomic<std::uint64_t> calls{0};
};

struct Stub {
  void* target = nullptr;
  Function* function = nullptr;
};

/// They have freed or left what they were called for even when they report a fault.
constexpr const char* releasing[] = {"cuMemFree",      "cuMemFreeHost", "cuMemHostUnregister", "cuStreamDestroy",
                                     "cuEventDestroy", "cuCtxDestroy",  "cuCtxPopCurrent",     "cuModuleUnload"};
/// They work in a process whose context is lost, too.
constexpr const char* unaffected[] = {"cuInit",           "cuDriverGetVersion",   "cuGetErrorName",  "cuGetErrorString",
                                      "cuGetExportTable", "cuGetProcAddress",     "cuDeviceGet",     "cuDeviceGetCount",
                                      "cuDeviceGetName",  "cuDeviceGetAttribute", "cuCtxGetCurrent", "cuCtxPushCurrent",
                                      "cuCtxPopCurrent",  "cuCtxDestroy",         "cuDeviceGetUuid"};
/// Texts of errors are no part of what is tested.
constexpr const char* never_failing[] = {"cuGetErrorName", "cuGetErrorString", "cuGetExportTable", "cuGetProcAddress"};

template <std::size_t size>
bool is_in(const char* const (&list)[size], const std::string& name) {
  return std::any_of(std::begin(list), std::end(list), [&](const char* other) { return name == other; });
}

/// cuMemAlloc_v2 and cuMemAlloc_v2_ptsz are cuMemAlloc.
std::string without_version(std::string name) {
  for (const char* suffix : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"}) {
    const std::string text = suffix;
    if (name.ends_with(text)) name.resize(name.size() - text.size());
  }
  return name;
}

class Layer {
 public:
  static Layer& get() {
    static auto* const layer = new Layer;  // outlives threads that are still at work when the process ends
    return *layer;
  }

  std::mutex mutex;
  std::array<Stub, stub_count> stubs;
  std::array<Function, stub_count> functions;
  std::size_t function_count = 0, stubs_used = exported_count;
  void* below = nullptr;

  Function* armed = nullptr;
  std::uint64_t nth = 0;
  int error = 0;
  bool lasting = false, fired = false;

  Function* function_of(const std::string& full_name) {
    const std::string name = without_version(full_name);
    for (std::size_t i = 0; i < function_count; ++i)
      if (functions[i].name == name) return &functions[i];
    functions[function_count].name = name;
    return &functions[function_count++];
  }

  /// The address of a stub for a function that cuGetProcAddress() found.
  void* stub_for(const char* name, void* target) {
    for (std::size_t i = 0; i < stubs_used; ++i)
      if (stubs[i].target == target) return address_of(i);
    if (stubs_used == stub_count) return target;
    stubs[stubs_used] = {target, function_of(name)};
    return address_of(stubs_used++);
  }

 private:
  Layer() {
    std::string path;
    if (const char* asked = std::getenv("DRIVER_BELOW")) {
      path = asked;
    } else {
      Dl_info self{};
      dladdr(first_stub, &self);
      path = self.dli_fname;
      path = path.substr(0, path.rfind('/') + 1) + "libcuda-standin.so";
    }
    below = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!below) std::fprintf(stderr, "fault layer: no driver below: %s\n", dlerror());
    for (std::size_t i = 0; i < exported_count; ++i)
      stubs[i] = {below ? dlsym(below, exported[i]) : nullptr, function_of(exported[i])};
  }

  static void* address_of(std::size_t stub) { return const_cast<unsigned char*>(first_stub) + stub * stub_bytes; }
};

/// The error of this call, or 0.
int fault_of(Layer& layer, Function& function, std::uint64_t call) {
  const std::lock_guard lock(layer.mutex);
  if (layer.fired) return layer.lasting && !is_in(unaffected, function.name) ? layer.error : 0;
  if (layer.armed != &function || call != layer.nth) return 0;
  layer.fired = true;
  // The stand-in's contexts are lost for good, so that work that waits in their streams never runs.
  using Lose = void (*)(int);
  if (layer.lasting)
    if (const auto lose = reinterpret_cast<Lose>(dlsym(layer.below, "standin_lose_contexts"))) lose(layer.error);
  return layer.error;
}

}  // namespace

extern "C" {

struct Outcome {
  void* target;  ///< to be called with the arguments as they came; null: `result` is the answer
  long result;
};

__attribute__((used, visibility("hidden"))) Outcome enter_call(unsigned number, const long* arguments) {
  Layer& layer = Layer::get();
  const Stub stub = layer.stubs[number];
  if (!stub.target) return {nullptr, layer.below ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NO_DEVICE};
  const int error = fault_of(layer, *stub.function, ++stub.function->calls);
  if (error == 0) return {stub.target, 0};
  const std::string& name = stub.function->name;
  if ((!layer.lasting && is_in(releasing, name)) || name == "cuCtxPopCurrent") {
    const auto release = reinterpret_cast<CUresult (*)(long, long, long)>(stub.target);
    release(arguments[0], arguments[1], arguments[2]);
  }
  return {nullptr, error};
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  Layer& layer = Layer::get();
  using Find = decltype(&cuGetProcAddress_v2);
  static const auto find = reinterpret_cast<Find>(dlsym(layer.below, "cuGetProcAddress_v2"));
  if (!find) return CUDA_ERROR_NOT_FOUND;
  const CUresult result = find(name, function, version, flags, status);
  if (result != CUDA_SUCCESS || !*function) return result;
  const std::lock_guard lock(layer.mutex);
  if (without_version(name) == "cuGetProcAddress")
    *function = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  else if (!is_in(never_failing, without_version(name)))
    *function = layer.stub_for(name, *function);
  return result;
}

void faults_reset() {
  Layer& layer = Layer::get();
  const std::lock_guard lock(layer.mutex);
  layer.armed = nullptr;
  layer.fired = layer.lasting = false;
  for (Function& function : layer.functions) function.calls = 0;
}

void faults_arm(const char* function, std::uint64_t nth, int error, bool lasting) {
  Layer& layer = Layer::get();
  const std::lock_guard lock(layer.mutex);
  layer.armed = layer.function_of(function);
  layer.nth = layer.armed->calls + nth;
  layer.error = error;
  layer.lasting = lasting;
  layer.fired = false;
}

bool faults_fired() {
  Layer& layer = Layer::get();
  const std::lock_guard lock(layer.mutex);
  return layer.fired;
}

std::uint64_t faults_calls(const char* function) {
  Layer& layer = Layer::get();
  const std::lock_guard lock(layer.mutex);
  return layer.function_of(function)->calls;
}

const char* faults_called(int i) {
  Layer& layer = Layer::get();
  const std::lock_guard lock(layer.mutex);
  for (std::size_t at = 0; at < layer.function_count; ++at)
    if (layer.functions[at].calls > 0 && !is_in(never_failing, layer.functions[at].name) && i-- == 0)
      return layer.functions[at].name.c_str();
  return nullptr;
}
}

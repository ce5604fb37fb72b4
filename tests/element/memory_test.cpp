// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// System memory runs out: the n-th allocation that the plugin's own code makes fails, n = 1, 2, ... until none is left.
// Each stream ends with all frames right or with one error and no wrong frame, and the next start works. Allocations of
// GLib and GStreamer succeed: those libraries abort the process where they do not. With CUDA the same holds for
// NVIDIA's runtime, which is linked into the plugin and crashes without memory: what fails there is `operator new`
// alone.
//
// MEMORY_TEST_SHARE=K/N: fails the allocations K+1, K+1+N, K+1+2N, ... alone, so that N processes share the work where
// each start takes long, as with a real driver.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "stream.hpp"

namespace {

std::uintptr_t plugin_begin = 0, plugin_end = 0;  ///< where the plugin's code lies
std::atomic<int> countdown = 0;                   ///< the allocation that fails when it comes to 1; 0: none
std::atomic<bool> failed = false;
std::atomic<std::uintptr_t> callers[64] = {};  ///< who asked for memory while the CPU's backend ran: operator new
std::atomic<bool> noting = false, only_noted = false;

int find_plugin(dl_phdr_info* info, std::size_t, void*) {
  if (!std::strstr(info->dlpi_name, "libgstconvolve.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    plugin_begin = info->dlpi_addr + part.p_vaddr;
    plugin_end = plugin_begin + part.p_memsz;
  }
  return 1;
}

bool is_noted(std::uintptr_t address) {
  for (const auto& caller : callers)
    if (caller == address) return true;
  return false;
}

/// Keeps the address of a caller. Two threads may note the same one twice; a full table drops what comes after.
void note(std::uintptr_t address) {
  if (is_noted(address)) return;
  for (auto& caller : callers) {
    std::uintptr_t empty = 0;
    if (caller.compare_exchange_strong(empty, address)) return;
  }
}

/// Whether this allocation, asked for from that address, is the one to fail.
bool fails_now(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (address < plugin_begin || address >= plugin_end) return false;
  if (noting) note(address);
  if (countdown == 0 || (only_noted && !is_noted(address))) return false;
  if (countdown.fetch_sub(1) != 1) return false;
  failed = true;
  return true;
}

}  // namespace

extern "C" void* __libc_malloc(std::size_t bytes);  // glibc's own, below what is replaced here

// These take the places of the C library's own, for the plugin as well: its operator new is linked into it, and calls
// malloc() from the plugin's code.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  return fails_now(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
#endif
extern "C" __attribute__((visibility("default"))) int posix_memalign(void** memory, std::size_t align,
                                                                     std::size_t bytes) noexcept {
  if (fails_now(__builtin_return_address(0))) return ENOMEM;
  *memory = aligned_alloc(align, (bytes + align - 1) / align * align);
  return *memory ? 0 : ENOMEM;
}

namespace element_test {
namespace {

struct Run {
  std::vector<std::string> errors;
  std::size_t outputs = 0;
  std::string wrong;
};

Run run(GstElement* element, const Filtering& f, const GstVideoInfo& info, const std::vector<Owned<GstBuffer>>& input,
        int nth) {
  Run result;
  const std::vector<Frame> wanted = expected(f, frames_of(input, info), info);
  ElementBus bus(element);
  failed = false;
  countdown = nth;
  if (gst_element_set_state(element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) {
    GstHarness* harness = gst_harness_new_with_element(element, "sink", "src");
    gst_harness_set_src_caps(harness, gst_video_info_to_caps(&info));
    GstFlowReturn flow = GST_FLOW_OK;
    for (const Owned<GstBuffer>& buffer : input)
      if (flow == GST_FLOW_OK) flow = gst_harness_push(harness, gst_buffer_copy_deep(buffer.get()));
    if (flow == GST_FLOW_OK) gst_harness_push_event(harness, gst_event_new_eos());
    countdown = 0;
    while (const Owned<GstBuffer> out{gst_harness_try_pull(harness)}) {
      if (result.wrong.empty() && result.outputs < wanted.size())
        result.wrong = first_difference(wanted[result.outputs], frame_of(out.get(), info), info, tolerance(f, info));
      ++result.outputs;
    }
    gst_harness_teardown(harness);
  }
  countdown = 0;
  gst_element_set_state(element, GST_STATE_NULL);
  for (const Report& report : bus.errors()) result.errors.push_back(report.text);
  return result;
}

/// On a GPU, only those who ask for memory on the CPU as well are to be refused: NVIDIA's code never runs there.
void note_callers(const Filtering& f, const GstVideoInfo& info, const std::vector<Owned<GstBuffer>>& input) {
  if (!have_gpu()) return;
  noting = true;
  const Owned<GstElement> element = make_element(kernel_is(f.kernel) + " backend=cpu");
  dl_iterate_phdr(find_plugin, nullptr);
  run(element.get(), f, info, input, 0);
  noting = false;
  only_noted = true;
}

struct Share {
  int first = 1, step = 1;
};

Share share_of_work() {
  Share share;
  const char* text = g_getenv("MEMORY_TEST_SHARE");
  if (!text) return share;
  int number = 0;
  CHECK(std::sscanf(text, "%d/%d", &number, &share.step) == 2 && number >= 0 && number < share.step,
        "MEMORY_TEST_SHARE=%s is no K/N with K from 0 to N - 1", text);
  share.first = 1 + number;
  return share;
}

constexpr const char* streams[] = {"NV12", "RGBA", "GRAY16_LE"};

ELEMENT_TEST_ROWS(each_allocation_of_the_plugin_fails_in_turn, std::size(streams)) {
  std::mt19937 random(31);
  const GstVideoInfo info = video_info(streams[row], 34, 22);
  const Filtering f{random_kernel(random, row == 1 ? 1 : 3, 3, 3, 4, 16)};
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 4);
  note_callers(f, info, input);
  int injected = 0, absorbed = 0;
  const Share share = share_of_work();
  for (int n = share.first;; n += share.step) {
    const std::string label = std::string(streams[row]) + ", allocation " + std::to_string(n);
    const Owned<GstElement> element = make_element(kernel_is(f.kernel));
    dl_iterate_phdr(find_plugin, nullptr);
    CHECK(plugin_end != 0, "the plugin's code was not found");
    const Run faulty = run(element.get(), f, info, input, n);
    if (!failed) break;
    ++injected;
    CHECK(faulty.errors.size() <= 1, "%s: %zu errors", label.c_str(), faulty.errors.size());
    CHECK(faulty.errors.size() == 1 || faulty.outputs == input.size(), "%s: %zu outputs and no error", label.c_str(),
          faulty.outputs);
    CHECK(faulty.wrong.empty(), "%s: %s", label.c_str(), faulty.wrong.c_str());
    absorbed += faulty.errors.empty();
    const Run next = run(element.get(), f, info, input, 0);
    CHECK(next.errors.empty() && next.outputs == input.size() && next.wrong.empty(), "%s: the next start: %s %s",
          label.c_str(), next.errors.empty() ? "" : next.errors[0].c_str(), next.wrong.c_str());
  }
  std::printf("%s: %d allocations failed in turn, %d of them without a lost frame\n", streams[row], injected, absorbed);
  CHECK(injected > 0, "no allocation of the plugin's was seen");
}

}  // namespace
}  // namespace element_test

int main() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("skipped: sanitizers have a malloc() of their own");
  return 77;
#endif
  return element_test::run_tests("memory");
}

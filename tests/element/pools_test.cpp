// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Upstream's pool, which a window of frames may leave without a buffer: of pools with few buffers it holds copies, and
// of memory that others lend.
#include <string>

#include "stream.hpp"

namespace element_test {
namespace {

Owned<GstBufferPool> pool_of(const GstVideoInfo& info, guint most) {
  Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
  const Owned<GstCaps> caps(gst_video_info_to_caps(&info));
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), 0, most);
  CHECK(gst_buffer_pool_set_config(pool.get(), config) && gst_buffer_pool_set_active(pool.get(), TRUE), "no pool");
  return pool;
}

// Pushes a frame from the pool; fails where it has none to give.
void push_from(GstBufferPool* pool, Harness& harness, const GstVideoInfo& info, int index) {
  GstBuffer* buffer = nullptr;
  GstBufferPoolAcquireParams params{};
  params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  CHECK(gst_buffer_pool_acquire_buffer(pool, &buffer, &params) == GST_FLOW_OK, "frame %d: no buffer is free", index);
  gst_buffer_memset(buffer, 0, static_cast<guint8>(index), GST_VIDEO_INFO_SIZE(&info));
  stamp(buffer, index);
  CHECK(harness.push(buffer) == GST_FLOW_OK, "frame %d: push failed", index);
  while (harness.try_pull()) continue;
}

ELEMENT_TEST(a_window_that_grows_while_playing_leaves_upstream_a_free_buffer) {
  const GstVideoInfo info = video_info("GRAY8", 32, 16);
  const Owned<GstBufferPool> pool = pool_of(info, 6);
  Harness harness("preset=temporal-mean temporal-radius=1", info);
  int index = 0;
  for (const char* radius : {"1", "7", "1", "3"}) {
    harness.set("temporal-radius", radius);
    for (int i = 0; i < 40; ++i) push_from(pool.get(), harness, info, index++);
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

ELEMENT_TEST(each_pool_is_judged_by_itself_wherever_it_lies) {
  const GstVideoInfo info = video_info("GRAY8", 32, 16);
  Harness harness("preset=temporal-mean temporal-radius=2", info);
  int index = 0;
  // Pools follow each other, often at the address of the one before.
  for (const guint most : {20U, 4U, 0U, 3U, 20U, 2U}) {
    const Owned<GstBufferPool> pool = pool_of(info, most);
    for (int i = 0; i < 12; ++i) push_from(pool.get(), harness, info, index++);
    gst_buffer_pool_set_active(pool.get(), FALSE);
    harness.flush();
  }
}

// How many of a pool's buffers are free.
guint free_of(GstBufferPool* pool) {
  std::vector<Owned<GstBuffer>> taken;
  GstBufferPoolAcquireParams params{};
  params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer* buffer = nullptr;
  while (gst_buffer_pool_acquire_buffer(pool, &buffer, &params) == GST_FLOW_OK) taken.emplace_back(buffer);
  return static_cast<guint>(taken.size());
}

// While an output is made, a window holds as many frames as it is deep, afterwards one fewer. Beside them upstream may
// keep one buffer for itself, and needs one to go on with.
ELEMENT_TEST(a_window_holds_the_buffers_of_a_pool_that_has_two_more_and_copies_others) {
  const GstVideoInfo info = video_info("GRAY8", 32, 16);
  for (const guint depth : {3U, 7U, 15U})
    for (const guint more : {0U, 1U, 2U, 3U}) {
      const Owned<GstBufferPool> pool = pool_of(info, depth + more);
      Harness harness("preset=temporal-mean temporal-radius=" + std::to_string(depth / 2), info);
      for (int index = 0; index < 40; ++index) push_from(pool.get(), harness, info, index);
      // What was uploaded to a GPU is not held.
      const bool holds = more >= 2 && std::string(test_backend()) == "cpu";
      const guint wanted = holds ? more + 1 : depth + more, found = free_of(pool.get());
      CHECK(found == wanted, "depth %u, a pool of %u: %u buffers are free, not %u", depth, depth + more, found, wanted);
      gst_buffer_pool_set_active(pool.get(), FALSE);
    }
}

// As shmsrc has it, and unixfdsrc: memory of another process, which has so much of it and waits for what is out.
ELEMENT_TEST(a_window_does_not_hold_memory_that_was_lent_for_reading) {
  const GstVideoInfo info = video_info("GRAY8", 32, 16);
  for (const bool shared : {false, true}) {
    int out = 0;
    std::vector<std::vector<guint8>> samples;
    Harness harness("preset=temporal-mean temporal-radius=3", info);
    for (int index = 0; index < 12; ++index) {
      const auto back = [](gpointer count) { --*static_cast<int*>(count); };
      samples.emplace_back(info.size, static_cast<guint8>(index));
      GstMemory* memory =
          gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, samples.back().data(), info.size, 0, info.size, &out, back);
      ++out;
      GstBuffer* buffer = gst_buffer_new();
      gst_buffer_append_memory(buffer, shared ? gst_memory_share(memory, 0, -1) : gst_memory_ref(memory));
      gst_memory_unref(memory);
      stamp(buffer, index);
      CHECK(harness.push(buffer) == GST_FLOW_OK, "frame %d: push failed", index);
      CHECK(out == 0, "frame %d: %d frames are held", index, out);
      if (index < 3) continue;
      const Owned<GstBuffer> output = harness.try_pull();
      if (index >= 6)
        CHECK(frame_of(output.get(), info).component[0].samples[0] == index - 3, "frame %d is wrong", index);
    }
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("pools");
}

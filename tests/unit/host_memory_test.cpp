// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameMemory of the CPU backend: who holds which buffer, and what reaches it. That of a GPU is tested through the
// element, on the stand-in for the driver.
#include <gtest/gtest.h>

#include <cstring>

#include "convolve/backend.hpp"
#include "formats.hpp"
#include "frame_memory.hpp"

namespace {

using namespace convolve;

/// Frames of 4 x 2 bytes, whose buffers are known by their first sample.
struct HostMemoryTest : testing::Test {
  HostMemoryTest() {
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, 4, 2);
    layout = make_layout(info, 2, {});
  }
  FrameMap::Format format() const { return {info, layout, false}; }
  static BufferPtr buffer_of(char sample) {
    BufferPtr buffer(gst_buffer_new_allocate(nullptr, 8, nullptr));
    gst_buffer_memset(buffer.get(), 0, static_cast<guint8>(sample), 8);
    GST_BUFFER_PTS(buffer.get()) = 77;
    return buffer;
  }
  static std::string bytes_of(GstBuffer* buffer) {
    std::string bytes(8, '?');
    gst_buffer_extract(buffer, 0, bytes.data(), 8);
    return bytes;
  }
  static char* data_of(const Image& image) { return static_cast<char*>(image.plane[0].data); }

  GstVideoInfo info;
  FrameLayout layout;
  std::unique_ptr<FrameMemory> memory = make_host_memory(1);
};

TEST_F(HostMemoryTest, ImportsAFrameWhereItLies) {
  BufferPtr buffer = buffer_of('a');
  GstBuffer* upstream = buffer.get();
  const HeldFrame frame = memory->import_frame(std::move(buffer), format(), false);
  EXPECT_EQ(frame.buffer.get(), upstream);
  EXPECT_EQ(*data_of(frame.image), 'a');
  EXPECT_FALSE(frame.copy);
}

TEST_F(HostMemoryTest, ADetachedFrameLeavesUpstreamItsBuffer) {
  BufferPtr buffer = buffer_of('a');
  const BufferPtr upstream(gst_buffer_ref(buffer.get()));
  const HeldFrame frame = memory->import_frame(std::move(buffer), format(), true);
  EXPECT_TRUE(gst_buffer_is_writable(upstream.get()));  // nobody else has it
  gst_buffer_memset(upstream.get(), 0, 'b', 8);
  EXPECT_EQ(*data_of(frame.image), 'a');
  EXPECT_EQ(GST_BUFFER_PTS(frame.buffer.get()), 77u);
}

TEST_F(HostMemoryTest, AnOutputIsMadeInItsOwnBuffer) {
  const BufferPtr out = buffer_of('.');
  memory->produce({}, {out.get(), format(), GST_MAP_WRITE, {}, false}, [&](const Image& image, const Slab* slab) {
    EXPECT_EQ(slab, nullptr);
    std::memcpy(data_of(image) + image.plane[0].stride, "abcd", 4);
  });
  EXPECT_EQ(bytes_of(out.get()), "....abcd");
  EXPECT_TRUE(gst_buffer_is_writable(out.get()));
}

TEST_F(HostMemoryTest, AFrameIsEditedOnlyWhereNobodyElseReadsIt) {
  HeldFrame frame = memory->import_frame(buffer_of('a'), format(), false);
  int calls = 0;
  const FrameMemory::Work work = [&](const Image& image, const Slab*) {
    ++calls;
    data_of(image)[1] = 'x';
  };
  {
    const BufferPtr reader(gst_buffer_ref(frame.buffer.get()));
    EXPECT_FALSE(memory->edit(frame, format(), work));
    EXPECT_EQ(*data_of(frame.image), 'a');  // still to be read
  }
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(memory->edit(frame, format(), work));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(bytes_of(frame.buffer.get()), "axaaaaaa");
  EXPECT_FALSE(frame.map.mapped());  // so that it can leave
}

TEST_F(HostMemoryTest, CopiesSamplesAndNoPadding) {
  char from[] = "abcd--efgh--", to[] = "............";
  memory->copy({{{{from, 6}}}}, {{{{to, 5}}}}, layout);
  EXPECT_STREQ(to, "abcd.efgh...");
}

TEST_F(HostMemoryTest, HasNoMemoryOfItsOwnToGiveBack) {
  EXPECT_FALSE(memory->trim());
  EXPECT_EQ(memory->pinned_allocator(), nullptr);
  EXPECT_EQ(memory->stream(), nullptr);
  EXPECT_EQ(memory->backend().memory(), MemoryKind::host);
  const Image scratch = memory->scratch(layout);
  EXPECT_EQ(scratch.plane[0].data, memory->scratch(layout).plane[0].data);
}

}  // namespace

// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frames.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace element_test {
namespace {

// A frame mapped for as long as this lives.
class Mapped {
 public:
  Mapped(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags) {
    CHECK(gst_video_frame_map(&frame_, &info, buffer, flags), "cannot map a buffer as %s",
          gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
  }
  ~Mapped() { gst_video_frame_unmap(&frame_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  const GstVideoFrame* get() const { return &frame_; }

  // The stored word of one sample.
  std::uint8_t* at(int component, int x, int y) const {
    return static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame_, component)) + slip(component) +
           static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_COMP_STRIDE(&frame_, component) +
           static_cast<std::ptrdiff_t>(x) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, component);
  }

 private:
  // Bytes by which GStreamer's tables are wrong, in one version or another. Its functions that unpack rows are right,
  // and a test compares with them.
  int slip(int component) const {
    const std::string format = gst_video_format_to_string(GST_VIDEO_FRAME_FORMAT(&frame_));
    std::array<int, 4> offset{};
    if (format[0] == 'P' && format[1] == '0')  // the V of 1.22 has an offset of 1, in the middle of U
      offset = {0, 0, 2, 0};
    else if (format == "VYUY")
      offset = {1, 2, 0, 0};
    else if (format.starts_with("Y21"))
      offset = {0, 2, 6, 0};
    else if (format.starts_with("Y41") && format != "Y41B")
      offset = {2, 0, 4, 6};
    else
      return 0;
    return offset[component] - GST_VIDEO_FRAME_COMP_POFFSET(&frame_, component);
  }

  GstVideoFrame frame_;
};

int bits_of(const GstVideoInfo& info, int component) {
  return GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, component);
}
int shift_of(const GstVideoInfo& info, int component) {
  if (GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_Y210) return 6;  // GStreamer's table says 0
  return GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, component);
}

int read_word(const std::uint8_t* at, int bits) {
  return bits <= 8 ? at[0] : at[0] | at[1] << 8;
}
void write_word(std::uint8_t* at, int bits, int word) {
  at[0] = static_cast<std::uint8_t>(word);
  if (bits > 8) at[1] = static_cast<std::uint8_t>(word >> 8);
}

// Bytes of one row of a plane, up to its last sample.
int row_bytes(const GstVideoInfo& info, int plane) {
  int bytes = 0;
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c)
    if (static_cast<int>(GST_VIDEO_INFO_COMP_PLANE(&info, c)) == plane)
      bytes = std::max<int>(bytes, GST_VIDEO_INFO_COMP_WIDTH(&info, c) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, c));
  return bytes;
}

int rows_of(const GstVideoInfo& info, int plane) {
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c)
    if (static_cast<int>(GST_VIDEO_INFO_COMP_PLANE(&info, c)) == plane) return GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
  return 0;
}

GstMemory* random_memory(std::mt19937& random, gsize size) {
  GstMemory* memory = gst_allocator_alloc(nullptr, size, nullptr);
  GstMapInfo map;
  CHECK(gst_memory_map(memory, &map, GST_MAP_WRITE), "cannot map fresh memory");
  std::generate(map.data, map.data + map.size, [&] { return static_cast<guint8>(random()); });
  gst_memory_unmap(memory, &map);
  return memory;
}

}  // namespace

const std::vector<std::string>& formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    const Owned<GstElement> element = make_element();
    const Owned<GstPad> pad(gst_element_get_static_pad(element.get(), "sink"));
    const Owned<GstCaps> caps(gst_pad_get_pad_template_caps(pad.get()));
    for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
      const GstCapsFeatures* features = gst_caps_get_features(caps.get(), i);
      if (!gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) continue;
      const GValue* list = gst_structure_get_value(gst_caps_get_structure(caps.get(), i), "format");
      for (guint f = 0; f < gst_value_list_get_size(list); ++f)
        found.emplace_back(g_value_get_string(gst_value_list_get_value(list, f)));
    }
    return found;
  }();
  return names;
}

GstVideoInfo video_info(GstVideoFormat format, int width, int height, const char* colorimetry) {
  GstVideoInfo info;
  CHECK(gst_video_info_set_format(&info, format, width, height), "no such frame");
  GST_VIDEO_INFO_FPS_N(&info) = 25;
  GST_VIDEO_INFO_FPS_D(&info) = 1;
  if (colorimetry)
    CHECK(gst_video_colorimetry_from_string(&info.colorimetry, colorimetry), "no colorimetry %s", colorimetry);
  return info;
}

GstVideoInfo video_info(const char* format, int width, int height, const char* colorimetry) {
  return video_info(gst_video_format_from_string(format), width, height, colorimetry);
}

void stamp(GstBuffer* buffer, int index) {
  GST_BUFFER_PTS(buffer) = index * frame_duration;
  GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(buffer) = frame_duration;
  GST_BUFFER_OFFSET(buffer) = index;
  GST_BUFFER_OFFSET_END(buffer) = index + 1;
}

Owned<GstBuffer> random_buffer(std::mt19937& random, const GstVideoInfo& info, int pts) {
  Owned<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), random_memory(random, GST_VIDEO_INFO_SIZE(&info)));
  {
    const Mapped frame(buffer.get(), info, GST_MAP_READWRITE);
    for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c) {
      const int bits = bits_of(info, c), mask = (1 << (bits + shift_of(info, c))) - 1;
      for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(&info, c); ++y)
        for (int x = 0; x < GST_VIDEO_INFO_COMP_WIDTH(&info, c); ++x) {
          std::uint8_t* at = frame.at(c, x, y);
          write_word(at, bits, read_word(at, bits) & mask);
        }
    }
  }
  stamp(buffer.get(), pts);
  return buffer;
}

Owned<GstBuffer> buffer_of(const GstVideoInfo& info, const std::vector<int>& samples, int pts) {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_memset(buffer.get(), 0, 0, GST_VIDEO_INFO_SIZE(&info));
  {
    const Mapped frame(buffer.get(), info, GST_MAP_READWRITE);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const int x = static_cast<int>(i) % GST_VIDEO_INFO_WIDTH(&info),
                y = static_cast<int>(i) / GST_VIDEO_INFO_WIDTH(&info);
      write_word(frame.at(0, x, y), bits_of(info, 0), samples[i] << shift_of(info, 0));
    }
  }
  stamp(buffer.get(), pts);
  return buffer;
}

void make_flat(GstBuffer* buffer, const GstVideoInfo& info, const std::vector<int>& levels) {
  const Mapped frame(buffer, info, GST_MAP_READWRITE);
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c)
    for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(&info, c); ++y)
      for (int x = 0; x < GST_VIDEO_INFO_COMP_WIDTH(&info, c); ++x)
        write_word(frame.at(c, x, y), bits_of(info, c), levels[c] << shift_of(info, c));
}

std::vector<Owned<GstBuffer>> random_stream(std::mt19937& random, const GstVideoInfo& info, int count) {
  std::vector<Owned<GstBuffer>> buffers;
  for (int i = 0; i < count; ++i) buffers.push_back(random_buffer(random, info, i));
  return buffers;
}

Owned<GstBuffer> relaid(std::mt19937& random, GstBuffer* buffer, const GstVideoInfo& info, const Layout& layout) {
  Owned<GstBuffer> out(gst_buffer_new());
  const Mapped from(buffer, info, GST_MAP_READ);
  const int planes = GST_VIDEO_INFO_N_PLANES(&info);
  if (layout.split_at > 0) {
    const gsize size = gst_buffer_get_size(buffer), cut = std::min<gsize>(layout.split_at, size - 1);
    gst_buffer_append_memory(out.get(), random_memory(random, cut));
    gst_buffer_append_memory(out.get(), random_memory(random, size - cut));
    std::vector<guint8> bytes(size);
    gst_buffer_extract(buffer, 0, bytes.data(), size);
    gsize done = 0;
    for (guint i = 0; i < 2; ++i) {
      GstMapInfo map;
      GstMemory* memory = gst_buffer_peek_memory(out.get(), i);
      CHECK(gst_memory_map(memory, &map, GST_MAP_WRITE), "cannot map");
      std::memcpy(map.data, bytes.data() + done, map.size);
      done += map.size;
      gst_memory_unmap(memory, &map);
    }
  } else {
    gsize offset[GST_VIDEO_MAX_PLANES] = {}, total = 0;
    gint stride[GST_VIDEO_MAX_PLANES] = {};
    std::vector<GstMemory*> memories;
    for (int p = 0; p < planes; ++p) {
      const int bytes = row_bytes(info, p), rows = rows_of(info, p), step = bytes + layout.stride_extra;
      const gsize start = total + layout.offset_extra;
      offset[p] = start + (layout.bottom_up ? static_cast<gsize>(step) * (rows - 1) : 0);
      stride[p] = layout.bottom_up ? -step : step;
      const gsize end = start + static_cast<gsize>(step) * rows;
      if (layout.memory_a_plane) memories.push_back(random_memory(random, end - total));
      total = end;
    }
    if (!layout.memory_a_plane) memories.push_back(random_memory(random, total + layout.offset_extra));
    for (int p = 0; p < planes; ++p) {
      GstMemory* memory = memories[layout.memory_a_plane ? p : 0];
      gsize base = 0;
      for (int q = 0; layout.memory_a_plane && q < p; ++q) base += memories[q]->size;
      GstMapInfo map;
      CHECK(gst_memory_map(memory, &map, GST_MAP_WRITE), "cannot map");
      for (int y = 0; y < rows_of(info, p); ++y)
        std::memcpy(map.data + (offset[p] - base) + static_cast<std::ptrdiff_t>(y) * stride[p],
                    static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(from.get(), p)) +
                        static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(from.get(), p),
                    row_bytes(info, p));
      gst_memory_unmap(memory, &map);
    }
    for (GstMemory* memory : memories) gst_buffer_append_memory(out.get(), memory);
    gst_buffer_add_video_meta_full(out.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                   GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), planes, offset, stride);
  }
  if (layout.read_only)
    for (guint i = 0; i < gst_buffer_n_memory(out.get()); ++i)
      GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(out.get(), i), GST_MEMORY_FLAG_READONLY);
  gst_buffer_copy_into(out.get(), buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return out;
}

std::vector<int> unpacked(GstBuffer* buffer, const GstVideoInfo& info, int component, int y) {
  const Mapped mapped(buffer, info, GST_MAP_READ);
  const GstVideoFormatInfo* finfo = info.finfo;
  const GstVideoFormatInfo* to = gst_video_format_get_info(finfo->unpack_format);
  const int width = GST_VIDEO_INFO_WIDTH(&info), bytes = GST_VIDEO_FORMAT_INFO_DEPTH(to, 0) / 8;
  std::vector<std::uint8_t> line(static_cast<std::size_t>(width + 16) * 4 * bytes);
  finfo->unpack_func(finfo, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, line.data(), mapped.get()->data,
                     mapped.get()->info.stride, 0, y, width);
  // Unpacked rows are ARGB or AYUV, in the machine's byte order.
  const bool grey = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(finfo) == 1;
  const int at = component == 3 ? 0 : (grey && component != 0 ? 0 : component) + 1;
  const int sub = GST_VIDEO_FORMAT_INFO_W_SUB(finfo, component);
  std::vector<int> samples;
  for (int x = 0; x < GST_VIDEO_INFO_COMP_WIDTH(&info, component); ++x)
    samples.push_back(read_word(line.data() + (static_cast<std::size_t>(x << sub) * 4 + at) * bytes, 8 * bytes) >>
                      (8 * bytes - bits_of(info, component)));
  return samples;
}

Frame frame_of(GstBuffer* buffer, const GstVideoInfo& info) {
  const Mapped mapped(buffer, info, GST_MAP_READ);
  Frame frame;
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c) {
    oracle::Plane plane;
    plane.width = GST_VIDEO_INFO_COMP_WIDTH(&info, c);
    plane.height = GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane.samples.push_back(read_word(mapped.at(c, x, y), bits_of(info, c)) >> shift_of(info, c));
    frame.component.push_back(std::move(plane));
  }
  return frame;
}

std::vector<Frame> frames_of(const std::vector<Owned<GstBuffer>>& buffers, const GstVideoInfo& info) {
  std::vector<Frame> frames;
  for (const Owned<GstBuffer>& buffer : buffers) frames.push_back(frame_of(buffer.get(), info));
  return frames;
}

}  // namespace element_test

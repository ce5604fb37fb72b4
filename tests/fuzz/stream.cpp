// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element between two pads, driven by a string of bytes: caps, buffers in odd layouts, metas, events, queries and
// properties, in any order that a well-behaved upstream could give them. It has to survive that, under sanitizers;
// post an error only where a buffer, or a setting at a start or with new caps, was bad; and filter a good frame as ever
// after a flush or a restart. Built for libFuzzer by streams.sh; CONVOLVE_PLUGIN names the plugin,
// STREAMS_BACKEND the backend where it is not the CPU's.
#include "stream.hpp"

#include <cstdlib>
#include <vector>

#include "odd_buffer.hpp"
#include "odd_properties.hpp"

namespace fuzz {
namespace {

constexpr int most_steps = 48;

const std::vector<GstVideoFormat>& formats() {
  static const std::vector<GstVideoFormat> all = [] {
    std::vector<GstVideoFormat> found;
    GstElementFactory* factory = gst_element_factory_find("videoconvolve");
    const auto* pads = gst_element_factory_get_static_pad_templates(factory);
    GstCaps* caps = gst_static_pad_template_get_caps(static_cast<GstStaticPadTemplate*>(pads->data));
    const GValue* list = gst_structure_get_value(gst_caps_get_structure(caps, gst_caps_get_size(caps) - 1), "format");
    for (guint i = 0; i < gst_value_list_get_size(list); ++i)
      found.push_back(gst_video_format_from_string(g_value_get_string(gst_value_list_get_value(list, i))));
    gst_caps_unref(caps);
    gst_object_unref(factory);
    return found;
  }();
  return all;
}

}  // namespace

Stream::Stream(Bytes& bytes)
    : bytes_(bytes),
      element_(gst_element_factory_make("videoconvolve", nullptr)),
      up_(gst_pad_new("up", GST_PAD_SRC)),
      down_(gst_pad_new("down", GST_PAD_SINK)),
      bus_(gst_bus_new()) {
  if (!element_) fail("there is no videoconvolve");
  gst_object_ref_sink(element_);
  gst_object_ref_sink(up_);
  gst_object_ref_sink(down_);
  gst_element_set_bus(element_, bus_);
  const char* backend = std::getenv("STREAMS_BACKEND");
  gst_util_set_object_arg(G_OBJECT(element_), "backend", backend ? backend : "cpu");
  g_object_set(element_, "n-threads", 1 + bytes_.below(2), nullptr);
  gst_pad_set_chain_function_full(down_, chain, this, nullptr);
  gst_pad_set_query_function(down_, answer);
  GstPad *sink = gst_element_get_static_pad(element_, "sink"), *src = gst_element_get_static_pad(element_, "src");
  if (gst_pad_link(up_, sink) != GST_PAD_LINK_OK || gst_pad_link(src, down_) != GST_PAD_LINK_OK) fail("pads unlinked");
  gst_object_unref(sink);
  gst_object_unref(src);
  gst_pad_set_active(down_, TRUE);
  if (gst_element_set_state(element_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) fail("it does not start");
  gst_pad_set_active(up_, TRUE);
  gst_pad_push_event(up_, gst_event_new_stream_start("fuzz"));
  change_caps();
}

Stream::~Stream() {
  drop_pool();
  gst_pad_set_active(up_, FALSE);
  gst_element_set_state(element_, GST_STATE_NULL);
  gst_pad_set_active(down_, FALSE);
  gst_element_set_bus(element_, nullptr);
  gst_object_unref(bus_);
  gst_object_unref(element_);
  gst_object_unref(up_);
  gst_object_unref(down_);
}

void Stream::drop_pool() {
  if (!pool_) return;
  gst_buffer_pool_set_active(pool_, FALSE);
  gst_object_unref(pool_);
  pool_ = nullptr;
}

void Stream::take_messages(bool may_fail) {
  while (GstMessage* message = gst_bus_pop(bus_)) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      const bool of_settings = g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
      if (!may_fail && !failed_ && !(of_settings && settings_may_fail_))
        fail(std::string("an error: ") + error->message);
      if (!g_utf8_validate(error->message, -1, nullptr)) fail("a message that is not UTF-8");
      g_error_free(error);
      failed_ = true;
    }
    gst_message_unref(message);
  }
}

void Stream::change_caps() {
  GstVideoInfo info;
  gst_video_info_init(&info);
  const GstVideoFormat format = formats()[bytes_.below(formats().size())];
  const guint width = 1 + bytes_.below(64), height = 1 + bytes_.below(64);
  constexpr GstVideoInterlaceMode modes[] = {GST_VIDEO_INTERLACE_MODE_PROGRESSIVE, GST_VIDEO_INTERLACE_MODE_PROGRESSIVE,
                                             GST_VIDEO_INTERLACE_MODE_INTERLEAVED, GST_VIDEO_INTERLACE_MODE_MIXED};
  if (!gst_video_info_set_interlaced_format(&info, format, bytes_.pick(modes), width, height)) return;
  constexpr int rates[][2] = {{25, 1}, {0, 1}, {30000, 1001}, {G_MAXINT, 1}, {1, G_MAXINT}};
  const auto& rate = bytes_.pick(rates);
  info.fps_n = rate[0];
  info.fps_d = rate[1];
  send_caps(info);
  send_segment(true);
}

void Stream::send_caps(const GstVideoInfo& info) {
  drop_pool();  // its buffers are of the old caps
  GstVideoInfo described = info;
  GstCaps* caps = gst_video_info_to_caps(&described);
  settings_may_fail_ = true;
  // The layout is what the caps alone say.
  const bool good = gst_video_info_from_caps(&info_, caps) && gst_pad_push_event(up_, gst_event_new_caps(caps));
  gst_caps_unref(caps);
  take_messages(false);
  if (!good && !failed_ && !eos_) fail("good caps are refused");
  caps_arrived_ = good;
  has_caps_ = true;
}

void Stream::send_segment(bool plain) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  if (!plain) {
    constexpr double rates[] = {1, -1, 2, 0.5, -3};
    segment.rate = bytes_.pick(rates);
    segment.start = bytes_.byte() * GST_MSECOND;
    segment.time = segment.start;
    segment.position = segment.start;
    // Backwards it has to begin somewhere: GStreamer asserts that there is a stop.
    if (bytes_.below(2) || segment.rate < 0) segment.stop = segment.start + bytes_.odd_number() % (1000 * GST_SECOND);
    if (bytes_.one_in(8)) gst_segment_init(&segment, GST_FORMAT_BYTES);
  }
  gst_pad_push_event(up_, gst_event_new_segment(&segment));
}

void Stream::send_event() {
  switch (bytes_.below(6)) {
    case 0:
      gst_pad_push_event(up_,
                         gst_event_new_gap(bytes_.byte() * GST_MSECOND, bytes_.below(2) ? GST_CLOCK_TIME_NONE : 1));
      break;
    case 1:
      gst_pad_push_event(up_, gst_event_new_eos());
      eos_ = true;
      break;
    case 2:
      gst_pad_push_event(up_, gst_event_new_tag(gst_tag_list_new_empty()));
      break;
    case 3:
      gst_pad_push_event(up_,
                         gst_event_new_segment_done(GST_FORMAT_TIME, static_cast<gint64>(bytes_.odd_number() >> 1)));
      break;
    case 4:
      gst_pad_push_event(up_, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("fuzz")));
      break;
    case 5:
      gst_pad_push_event(up_, gst_event_new_stream_start("another"));
      send_caps(info_);
      send_segment(true);
      eos_ = false;
      break;
  }
}

void Stream::send_event_upstream() {
  switch (bytes_.below(3)) {
    case 0:
      takes_video_meta_ = bytes_.below(2);
      gst_pad_push_event(down_, gst_event_new_reconfigure());
      break;
    case 1: {
      constexpr GstQOSType types[] = {GST_QOS_TYPE_OVERFLOW, GST_QOS_TYPE_UNDERFLOW, GST_QOS_TYPE_THROTTLE};
      const auto late =
          static_cast<GstClockTimeDiff>(bytes_.number(1) * GST_MSECOND) - 100 * static_cast<gint64>(GST_MSECOND);
      const GstClockTime time = 500 * GST_MSECOND + bytes_.byte();
      gst_pad_push_event(down_, gst_event_new_qos(bytes_.pick(types), 1.5, late, time));
      break;
    }
    case 2:
      gst_pad_push_event(down_, gst_event_new_seek(1, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET, 0,
                                                   GST_SEEK_TYPE_NONE, 0));
      break;
  }
}

void Stream::send_query() {
  GstQuery* query = nullptr;
  switch (bytes_.below(4)) {
    case 0:
      query = gst_query_new_latency();
      break;
    case 1:
      query = gst_query_new_position(GST_FORMAT_TIME);
      break;
    case 2:
      query = gst_query_new_drain();
      break;
    case 3: {
      if (!caps_arrived_) return;  // a pool for the old caps is of no use
      GstCaps* caps = gst_pad_get_current_caps(up_);
      query = gst_query_new_allocation(caps, TRUE);
      if (caps) gst_caps_unref(caps);
      break;
    }
  }
  const bool from_below = GST_QUERY_TYPE(query) == GST_QUERY_LATENCY || GST_QUERY_TYPE(query) == GST_QUERY_POSITION;
  const bool good = gst_pad_peer_query(from_below ? down_ : up_, query);
  if (good && GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION && gst_query_get_n_allocation_pools(query) > 0) {
    GstBufferPool* pool = nullptr;
    guint size = 0, min = 0, max = 0;
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    if (pool && !pool_ && gst_buffer_pool_set_active(pool, TRUE))
      pool_ = pool;
    else if (pool)
      gst_object_unref(pool);
  }
  gst_query_unref(query);
}

void Stream::flush(bool stops_only) {
  if (!stops_only) gst_pad_push_event(up_, gst_event_new_flush_start());
  gst_pad_push_event(up_, gst_event_new_flush_stop(TRUE));
  take_messages(false);
  begin_anew();
  if (has_caps_ && !caps_arrived_) send_caps(info_);
  send_segment(true);
}

// A start with settings that cannot be is refused, with an error; then those that always can.
void Stream::restart() {
  constexpr GstState states[] = {GST_STATE_NULL, GST_STATE_READY};
  gst_pad_set_active(up_, FALSE);
  gst_element_set_state(element_, bytes_.pick(states));
  settings_may_fail_ = true;
  if (gst_element_set_state(element_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    take_messages(false);
    if (!failed_) fail("a start fails without an error");
    set_default_properties(element_);
    gst_element_set_state(element_, GST_STATE_NULL);
    failed_ = false;
    if (gst_element_set_state(element_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) fail("it does not start again");
  }
  take_messages(false);
  begin_anew();
  gst_pad_set_active(up_, TRUE);
  gst_pad_push_event(up_, gst_event_new_stream_start("again"));
  if (has_caps_) send_caps(info_);
  send_segment(true);
}

void Stream::push_odd_buffer() {
  if (pool_ && bytes_.one_in(3)) {
    if (GstBuffer* buffer = odd_buffer_of_pool(bytes_, pool_)) push(buffer, true);
    return;
  }
  const OddBuffer made = make_odd_buffer(bytes_, info_);
  push(made.buffer, made.is_good);
}

void Stream::push(GstBuffer* buffer, bool is_good) {
  mark_as_input(buffer);
  const GstFlowReturn flow = gst_pad_push(up_, buffer);
  take_messages(!is_good);
  const bool excused = !is_good || failed_ || eos_ || downstream_ != GST_FLOW_OK;
  if (flow != GST_FLOW_OK && !excused) fail(std::string("a good frame is refused: ") + gst_flow_get_name(flow));
  if (flow == GST_FLOW_OK) settings_may_fail_ = false;
  if (flow == GST_FLOW_ERROR && downstream_ != GST_FLOW_ERROR && !failed_) fail("an error without a message");
}

void Stream::step() {
  const unsigned kind = bytes_.below(32);
  if (kind < 12)
    push_odd_buffer();
  else if (kind < 20)
    set_odd_property(bytes_, element_);
  else if (kind < 22)
    change_caps();
  else if (kind < 24)
    send_segment(false);
  else if (kind < 26)
    send_event();
  else if (kind < 27)
    send_event_upstream();
  else if (kind < 28)
    send_query();
  else if (kind < 30)
    flush(kind == 29);
  else if (kind < 31)
    restart();
  else
    downstream_ = bytes_.below(2)
                      ? GST_FLOW_OK
                      : bytes_.pick((const GstFlowReturn[]){GST_FLOW_EOS, GST_FLOW_FLUSHING, GST_FLOW_NOT_LINKED,
                                                            GST_FLOW_NOT_NEGOTIATED, GST_FLOW_ERROR});
  take_messages(false);
}

// Grey is grey after a blur, whatever came before it.
void Stream::end_with_a_good_frame() {
  downstream_ = GST_FLOW_OK;
  set_default_properties(element_);
  if (bytes_.below(2))
    restart();
  else
    flush(false);
  gst_util_set_object_arg(G_OBJECT(element_), "preset", "box-blur");
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, 20, 10);
  send_caps(info);
  send_segment(true);
  take_messages(false);
  outputs_ = 0;
  value_ = 100;
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, exact_memory(info_.size, 100));
  push(buffer, true);
  if (outputs_ != 1) fail(std::to_string(outputs_) + " outputs of a good frame after a flush or a restart");
  value_ = -1;
}

static void run(Bytes bytes) {
  Stream stream(bytes);
  for (int i = 0; i < most_steps && !bytes.empty(); ++i) stream.step();
  stream.end_with_a_good_frame();
}

}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  gst_init(nullptr, nullptr);
  // What GLib and GStreamer say of a caller's mistake is a fault.
  g_log_set_always_fatal(static_cast<GLogLevelFlags>(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
  const char* path = std::getenv("CONVOLVE_PLUGIN");
  GError* error = nullptr;
  if (!path || !gst_plugin_load_file(path, &error))
    fuzz::fail(error ? error->message : "CONVOLVE_PLUGIN names no plugin");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(fuzz::Bytes(data, size));
  return 0;
}

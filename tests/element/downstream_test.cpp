// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Downstream refuses: every flow return, from every output of a stream. The element hands it on to upstream, posts no
// error of its own (that is for whoever stops the stream), lets go of all frames, and after a flush goes on right.
#include <atomic>
#include <string>

#include "linked_pad.hpp"

namespace element_test {
namespace {

constexpr GstFlowReturn refusals[] = {GST_FLOW_NOT_LINKED,     GST_FLOW_FLUSHING,      GST_FLOW_EOS,
                                      GST_FLOW_NOT_NEGOTIATED, GST_FLOW_ERROR,         GST_FLOW_NOT_SUPPORTED,
                                      GST_FLOW_CUSTOM_ERROR,   GST_FLOW_CUSTOM_SUCCESS};
constexpr int frames = 6;

/// A sink pad that answers one of the buffers with a flow return of the test's choice, and keeps the others.
class Sink {
 public:
  Sink(GstElement* element, int refused, GstFlowReturn answer)
      : refused_(refused), answer_(answer), pad_(element, GST_PAD_SINK, this, {chain, event}) {}

  int seen = 0;
  std::vector<Owned<GstBuffer>> taken;

 private:
  static GstFlowReturn chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
    auto* sink = static_cast<Sink*>(gst_pad_get_element_private(pad));
    Owned<GstBuffer> owned(buffer);
    if (sink->seen++ == sink->refused_) return sink->answer_;
    sink->taken.push_back(std::move(owned));
    return GST_FLOW_OK;
  }
  static gboolean event(GstPad*, GstObject*, GstEvent* event) {
    gst_event_unref(event);
    return TRUE;
  }

  const int refused_;
  const GstFlowReturn answer_;
  const LinkedPad pad_;
};

struct Harnessed {
  explicit Harnessed(GstElement* element)
      : bus(element), harness(gst_harness_new_with_element(element, "sink", nullptr)) {}
  ~Harnessed() { gst_harness_teardown(harness); }
  ElementBus bus;
  GstHarness* harness;
};

void count_down(gpointer count, GstMiniObject*) {
  --*static_cast<std::atomic<int>*>(count);
}

void check_refusal(const std::string& properties, const Filtering& f, GstFlowReturn answer, int refused) {
  const std::string label = properties + ": " + gst_flow_get_name(answer) + " for output " + std::to_string(refused);
  std::mt19937 random(21);
  const GstVideoInfo info = small();
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, frames);
  std::atomic<int> alive = 0;
  {
    const Owned<GstElement> element = make_element(properties);
    Sink sink(element.get(), refused, answer);
    Harnessed run(element.get());
    gst_harness_set_src_caps(run.harness, gst_video_info_to_caps(&info));
    GstFlowReturn flow = GST_FLOW_OK;
    for (const Owned<GstBuffer>& buffer : input) {
      GstBuffer* one = gst_buffer_copy_deep(buffer.get());
      ++alive;
      gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(one), count_down, &alive);
      flow = gst_harness_push(run.harness, one);
      if (flow != GST_FLOW_OK) break;
    }
    // The last outputs leave with the end of the stream, which has nobody to hand a flow return to.
    if (flow == GST_FLOW_OK) gst_harness_push_event(run.harness, gst_event_new_eos());
    if (sink.seen > refused && flow != GST_FLOW_OK)
      CHECK(flow == answer, "%s: upstream gets %s", label.c_str(), gst_flow_get_name(flow));
    CHECK(sink.seen > refused, "%s: only %d outputs came", label.c_str(), sink.seen);
    const std::vector<Report> errors = run.bus.errors();
    CHECK(errors.empty(), "%s: an error of the element's own: %s", label.c_str(), errors[0].text.c_str());

    gst_harness_push_event(run.harness, gst_event_new_flush_start());
    gst_harness_push_event(run.harness, gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(run.harness, gst_event_new_segment(&segment));
    sink.taken.clear();
    for (const Owned<GstBuffer>& buffer : input)
      CHECK(gst_harness_push(run.harness, gst_buffer_copy_deep(buffer.get())) == GST_FLOW_OK,
            "%s: a frame after the flush is refused", label.c_str());
    gst_harness_push_event(run.harness, gst_event_new_eos());
    const std::vector<Frame> wanted = expected(f, frames_of(input, info), info);
    CHECK(sink.taken.size() == wanted.size(), "%s: %zu outputs after the flush", label.c_str(), sink.taken.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      check_buffer(wanted[i], sink.taken[i].get(), info, 0, label + ", after the flush");
  }
  CHECK(alive == 0, "%s: %d frames are left", label.c_str(), alive.load());
}

ELEMENT_TEST_ROWS(whatever_downstream_answers_goes_upstream_and_a_flush_mends_it, std::size(refusals)) {
  std::mt19937 random(20);
  const Filtering plain{random_kernel(random, 1, 3, 3, 4, 8)}, deep{three()};
  for (int refused = 0; refused < frames; ++refused) {
    check_refusal(kernel_is(plain.kernel), plain, refusals[row], refused);
    check_refusal(kernel_is(deep.kernel), deep, refusals[row], refused);
  }
}

// Another thread stops the element while it is busy with a frame, which the message of the new latency tells: the
// frame's change of filter then finds the source pad inactive, without caps, in the midst of settling caps and memory.
GstBusSyncReply stop_at_new_latency(GstBus*, GstMessage* message, gpointer source) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_LATENCY) gst_pad_set_active(static_cast<GstPad*>(source), FALSE);
  return GST_BUS_PASS;
}

ELEMENT_TEST(a_stop_amid_a_change_of_filter_is_no_error) {
  std::mt19937 random(5);
  const GstVideoInfo info = small();
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, frames);
  Harness harness("preset=identity", info);
  push_all(harness, input, 0, 2);
  const Owned<GstPad> source(gst_element_get_static_pad(harness.element(), "src"));
  gst_bus_set_sync_handler(harness.bus(), stop_at_new_latency, source.get(), nullptr);
  harness.set("preset", "temporal-mean");
  const GstFlowReturn flow = harness.push(gst_buffer_copy_deep(input[2].get()));
  CHECK(flow == GST_FLOW_FLUSHING, "upstream gets %s", gst_flow_get_name(flow));
  gst_bus_set_sync_handler(harness.bus(), nullptr, nullptr, nullptr);
  const std::vector<Report> errors = harness.errors();
  CHECK(errors.empty(), "the stop is reported as \"%s\"", errors[0].text.c_str());

  gst_element_set_state(harness.element(), GST_STATE_READY);
  gst_element_set_state(harness.element(), GST_STATE_PLAYING);
  harness.push_event(gst_event_new_stream_start("again"));
  harness.set_caps(info);
  harness.push_segment();
  harness.tape().clear();
  push_all(harness, input, 3);
  harness.push_event(gst_event_new_eos());
  CHECK(harness.tape().buffer_count() == frames - 3, "%zu frames came after it", harness.tape().buffer_count());
}

ELEMENT_TEST(a_stop_amid_a_change_of_caps_is_no_refusal) {
  Harness harness("preset=temporal-mean", small());
  GstVideoInfo slower = small();
  slower.fps_n = 1;
  slower.fps_d = 1;
  const Owned<GstPad> source(gst_element_get_static_pad(harness.element(), "src"));
  gst_bus_set_sync_handler(harness.bus(), stop_at_new_latency, source.get(), nullptr);
  // As a peer gets it: a push of a sticky event says nothing.
  const Owned<GstPad> sink(gst_element_get_static_pad(harness.element(), "sink"));
  CHECK(gst_pad_send_event(sink.get(), gst_event_new_caps(Owned<GstCaps>(gst_video_info_to_caps(&slower)).get())),
        "caps that are served are refused");
  gst_bus_set_sync_handler(harness.bus(), nullptr, nullptr, nullptr);
  CHECK(GST_PAD_IS_FLUSHING(source.get()), "nothing was stopped");
}

// --- What downstream offers ----------------------------------------------------------------------------------------

GstBufferPool* pool_that_refuses() {
  struct Pool {
    static void class_init(gpointer klass, gpointer) {
      GST_BUFFER_POOL_CLASS(klass)->set_config = [](GstBufferPool*, GstStructure*) -> gboolean { return FALSE; };
    }
  };
  static const GType type =
      g_type_register_static_simple(GST_TYPE_BUFFER_POOL, "TestPoolThatRefuses", sizeof(GstBufferPoolClass),
                                    Pool::class_init, sizeof(GstBufferPool), nullptr, static_cast<GTypeFlags>(0));
  return GST_BUFFER_POOL(g_object_new(type, nullptr));
}

// Its buffers have GStreamer's own layout, cut into a memory for each plane.
GstBufferPool* pool_of_a_memory_a_plane() {
  struct Pool {
    static void class_init(gpointer klass, gpointer) {
      GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = [](GstBufferPool* pool, GstBuffer** out,
                                                      GstBufferPoolAcquireParams*) {
        GstStructure* config = gst_buffer_pool_get_config(pool);
        GstCaps* caps = nullptr;
        gst_buffer_pool_config_get_params(config, &caps, nullptr, nullptr, nullptr);
        GstVideoInfo info;
        gst_video_info_from_caps(&info, caps);
        gst_structure_free(config);
        *out = gst_buffer_new();
        const guint planes = GST_VIDEO_INFO_N_PLANES(&info);
        for (guint p = 0; p < planes; ++p)
          gst_buffer_append_memory(
              *out, gst_allocator_alloc(nullptr, (p + 1 < planes ? info.offset[p + 1] : info.size) - info.offset[p],
                                        nullptr));
        return GST_FLOW_OK;
      };
    }
  };
  static const GType type =
      g_type_register_static_simple(GST_TYPE_BUFFER_POOL, "TestPoolOfAMemoryAPlane", sizeof(GstBufferPoolClass),
                                    Pool::class_init, sizeof(GstBufferPool), nullptr, static_cast<GTypeFlags>(0));
  return GST_BUFFER_POOL(g_object_new(type, nullptr));
}

enum Offer { one_buffer, two_buffers, refuses, too_small, no_pool, memories, odd_alignment, no_alignment, offers };

// Of the frames that an allocation query is about.
guint frame_bytes(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo video;
  gst_video_info_from_caps(&video, caps);
  return static_cast<guint>(GST_VIDEO_INFO_SIZE(&video));
}

// `answer` sees the queries that reach what is downstream of the element, and `choice`.
void answer_queries(Harness& harness, GstPadProbeCallback answer, int choice) {
  const Owned<GstPad> source(gst_element_get_static_pad(harness.element(), "src"));
  const Owned<GstPad> sink(gst_pad_get_peer(source.get()));
  gst_pad_add_probe(sink.get(),
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PULL), answer,
                    GINT_TO_POINTER(choice), nullptr);
}

GstPadProbeReturn make_offer(GstPad*, GstPadProbeInfo* info, gpointer data) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  const guint size = frame_bytes(query);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  const int offer = GPOINTER_TO_INT(data);
  switch (offer) {
    case one_buffer:
    case two_buffers: {
      const Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
      gst_query_add_allocation_pool(query, pool.get(), size, 0, offer == one_buffer ? 1 : 2);
      break;
    }
    case refuses: {
      const Owned<GstBufferPool> pool(pool_that_refuses());
      gst_query_add_allocation_pool(query, pool.get(), size, 0, 2);  // two: of that pool, which is not taken
      break;
    }
    case too_small: {
      const Owned<GstBufferPool> pool(gst_buffer_pool_new());
      gst_query_add_allocation_pool(query, pool.get(), 1, 0, 0);
      break;
    }
    case memories: {
      const Owned<GstBufferPool> pool(pool_of_a_memory_a_plane());
      gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
      break;
    }
    case no_pool:
      gst_query_add_allocation_pool(query, nullptr, 1, 0, 0);
      break;
    default:
      params.align = offer == odd_alignment ? 4095 : 0;
      params.prefix = 3, params.padding = 7;
      gst_query_add_allocation_param(query, nullptr, &params);
  }
  return GST_PAD_PROBE_OK;
}

ELEMENT_TEST_ROWS(whatever_pool_or_memory_downstream_offers_the_frames_are_right, offers) {
  std::mt19937 random(70 + row);
  for (const char* format : {"I420", "RGB", "P010_10LE"})
    for (const int depth : {1, 3}) {
      const GstVideoInfo info = video_info(format, 33, 17);
      const Filtering f{random_kernel(random, depth, 3, 3, 3, 8)};
      const auto input = random_stream(random, info, 12);
      const std::vector<Frame> wanted = expected(f, frames_of(input, info), info);
      Harness harness("kernel=\"" + text_of(f.kernel) + "\"");
      answer_queries(harness, make_offer, row);
      harness.set_caps(info);
      std::size_t seen = 0;
      std::vector<Owned<GstBuffer>> kept;  // downstream may keep all of a pool that has no end
      for (const Owned<GstBuffer>& buffer : input) {
        CHECK(harness.push(gst_buffer_ref(buffer.get())) == GST_FLOW_OK, "%s: push failed", format);
        harness.tape().clear();  // it holds references
        while (Owned<GstBuffer> out = harness.try_pull()) {
          check_buffer(wanted[seen++], out.get(), info, 0, format);
          if (row != one_buffer && row != two_buffers) kept.push_back(std::move(out));
        }
      }
      CHECK(seen == input.size() - static_cast<std::size_t>(depth / 2), "%s: %zu outputs", format, seen);
      CHECK(harness.reports().empty(), "%s: there was a report", format);
    }
}

// --- How many buffers ------------------------------------------------------------------------------------------------

constexpr guint extra_bytes = 96, least = 2, most = 5;

// Asks for buffers of more bytes than the frame has; at least and at most as many as above. Its own pool comes with it,
// or none: the element makes one then.
GstPadProbeReturn ask_for_numbers(GstPad*, GstPadProbeInfo* info, gpointer with_pool) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  const Owned<GstBufferPool> pool(with_pool ? gst_buffer_pool_new() : nullptr);
  gst_query_add_allocation_pool(query, pool.get(), frame_bytes(query) + extra_bytes, least, most);
  return GST_PAD_PROBE_OK;
}

ELEMENT_TEST_ROWS(the_pool_of_outputs_has_as_many_buffers_as_downstream_asked_for, 2) {
  std::mt19937 random(80);
  const GstVideoInfo info = video_info("I420", 32, 16);
  Harness harness("preset=box-blur");
  answer_queries(harness, ask_for_numbers, row);
  harness.set_caps(info);
  CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out && out->pool, "the output is of no pool");
  GstStructure* config = gst_buffer_pool_get_config(out->pool);
  guint size = 0, min = 0, max = 0;
  gst_buffer_pool_config_get_params(config, nullptr, &size, &min, &max);
  gst_structure_free(config);
  CHECK(size == GST_VIDEO_INFO_SIZE(&info) + extra_bytes, "buffers of %u bytes", size);
  // On a GPU the pool is one of pinned memory, which downstream does not know of and sets no limit to.
  const guint limit = std::string(test_backend()) == "cuda" ? 0 : most;
  CHECK(min == least && max == limit, "%u to %u buffers, not %u to %u", min, max, least, limit);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("downstream");
}

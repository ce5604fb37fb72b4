// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element.hpp"

#include <gst/base/gstbasetransform.h>

#include <array>
#include <mutex>
#include <utility>

#include "allocation.hpp"
#include "crop.hpp"
#include "formats.hpp"
#include "instance.hpp"
#include "log.hpp"
#include "preset_text.hpp"

GstDebugCategory* video_convolve_debug = nullptr;

struct GstVideoConvolveClass {
  GstBaseTransformClass parent_class;
};

// GstPreset stores and loads sets of property values; presets/GstVideoConvolve.prs has some.
G_DEFINE_TYPE_WITH_CODE(GstVideoConvolve, gst_video_convolve, GST_TYPE_BASE_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, convolve::init_preset_interface))

namespace convolve {
namespace {

// --- States ----------------------------------------------------------------------------------------------------

GstPadActivateModeFunction base_activate_mode = nullptr;  ///< of the base class's source pad

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !guarded(element, false, [&] {
        open(element);
        return true;
      })) {
    close(element);
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_video_convolve_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    close(element);
  return result;
}

void set_context(GstElement* element, GstContext* context) {
  Element& self = element_of(element);
  std::unique_lock lock(self.mutex);
  const int device_id = self.settings.cuda_device_id;
  lock.unlock();
  self.gpu->set_context(element, context, device_id);
  GST_ELEMENT_CLASS(gst_video_convolve_parent_class)->set_context(element, context);
}

// An output may have to wait for frames after it, so that no frame can be pulled. The base class offers to be pulled
// wherever upstream does.
gboolean activate_source_pad(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  if (mode == GST_PAD_MODE_PULL && active) return FALSE;
  return base_activate_mode(pad, parent, mode, active);
}

// While this lock is held, upstream's thread waits at the sink pad. The base class calls start() and stop() without
// this lock: start() when the pad takes frames already, stop() when serialized queries still arrive.
class StreamLock {
 public:
  explicit StreamLock(GstPad* pad) : pad_(pad) { GST_PAD_STREAM_LOCK(pad_); }
  ~StreamLock() { GST_PAD_STREAM_UNLOCK(pad_); }
  StreamLock(const StreamLock&) = delete;
  StreamLock& operator=(const StreamLock&) = delete;

 private:
  GstPad* pad_;
};

gboolean start(GstBaseTransform* trans) {
  const StreamLock stream_lock(trans->sinkpad);
  return guarded(trans, FALSE, [&]() -> gboolean {
    Element& self = element_of(trans);
    self.failure = Element::Failure::none;
    std::unique_lock lock(self.mutex);
    const bool reopen = !self.stream.process().is_open() || self.device_lost ||
                        self.settings.backend != self.opened_with.backend ||
                        self.settings.cuda_device_id != self.opened_with.cuda_device_id ||
                        self.settings.n_threads != self.opened_with.n_threads;
    lock.unlock();
    if (reopen) {
      self.gpu->clear();
      open_backend(GST_ELEMENT(trans));
    }
    return TRUE;
  });
}

gboolean stop(GstBaseTransform* trans) {
  const StreamLock stream_lock(trans->sinkpad);
  element_of(trans).stream.reset();
  return TRUE;
}

// --- Negotiation -------------------------------------------------------------------------------------------------

gboolean set_caps(GstBaseTransform* trans, GstCaps* in, GstCaps*) {
  return guarded(trans, FALSE, [&]() -> gboolean {
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, in)) return FALSE;
    const bool on_device = gst_caps_features_contains(gst_caps_get_features(in, 0), cuda_memory_feature);
    element_of(trans).stream.set_format(info, !on_device);
    return TRUE;
  });
}

gboolean propose(GstBaseTransform* trans, GstQuery* decided, GstQuery* query) {
  return guarded(trans, FALSE, [&]() -> gboolean {
    auto* parent = GST_BASE_TRANSFORM_CLASS(gst_video_convolve_parent_class);
    Stream& stream = element_of(trans).stream;
    const bool good = parent->propose_allocation(trans, decided, query);
    if (decided) {
      stream.note_proposal(nullptr);
      return good && propose_allocation(stream.process(), query);
    }
    // In passthrough downstream answered. A crop by meta would go on when a filter begins, which may be at any frame.
    guint index = 0;
    while (gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, &index))
      gst_query_remove_nth_allocation_meta(query, index);
    stream.note_proposal(query);
    return good;
  });
}

gboolean decide(GstBaseTransform* trans, GstQuery* query) {
  return guarded(trans, FALSE, [&]() -> gboolean {
    Element& self = element_of(trans);
    std::unique_lock lock(self.mutex);
    const int device_id = self.settings.cuda_device_id;
    lock.unlock();
    self.stream.note_decision(query);
    return decide_allocation(self.stream.process(), *self.gpu, device_id, GST_ELEMENT(trans), query) &&
           GST_BASE_TRANSFORM_CLASS(gst_video_convolve_parent_class)->decide_allocation(trans, query);
  });
}

gboolean filter_meta(GstBaseTransform*, GstQuery*, GType api, const GstStructure*) {
  return api != GST_VIDEO_CROP_META_API_TYPE;  // what is outside of the crop would be filtered in
}

gboolean transform_meta(GstBaseTransform* trans, GstBuffer* out, GstMeta* meta, GstBuffer* in) {
  // The output is what such a crop left of the input.
  const Process& process = element_of(trans).stream.process();
  if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE && process.has_format() &&
      crops_to_caps(*reinterpret_cast<GstVideoCropMeta*>(meta), process.info()))
    return FALSE;
  // The picture's geometry and colours stay, so what describes them does too.
  static constexpr std::array still_true{GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                         GST_META_TAG_VIDEO_ORIENTATION_STR, GST_META_TAG_VIDEO_COLORSPACE_STR};
  bool all_still_true = true;
  for (const gchar* const* tag = gst_meta_api_type_get_tags(meta->info->api); tag && *tag; ++tag) {
    bool known = false;
    for (const char* name : still_true) known |= g_str_equal(*tag, name);
    all_still_true &= known;
  }
  return all_still_true ||
         GST_BASE_TRANSFORM_CLASS(gst_video_convolve_parent_class)->transform_meta(trans, out, meta, in);
}

// --- Data flow ---------------------------------------------------------------------------------------------------

GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean, GstBuffer* buffer) {
  BufferPtr owned(buffer);
  Element& self = element_of(trans);
  if (self.failed()) return GST_FLOW_ERROR;
  return guarded(trans, GST_FLOW_ERROR, [&] { return self.stream.submit(std::move(owned)); });
}

// Outputs are pushed in one place, whether a frame, an event or a query makes them leave; none is left to the base
// class.
GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  *out = nullptr;
  return guarded(trans, GST_FLOW_ERROR, [&] { return element_of(trans).stream.push_outputs(); });
}

// The base class takes an element without this for one that works in place, and asks for no pool.
GstFlowReturn transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_NOT_SUPPORTED;
}

bool same_caps(GstPad* pad, GstEvent* event) {
  GstCaps *caps = nullptr, *before = gst_pad_get_current_caps(pad);
  gst_event_parse_caps(event, &caps);
  const bool same = before && gst_caps_is_equal(caps, before);
  if (before) gst_caps_unref(before);
  return same;
}

// Whether the timestamps of a new segment go on where those of the last one ended.
bool times_go_on(const GstSegment& before, GstEvent* event) {
  const GstSegment* now = nullptr;
  gst_event_parse_segment(event, &now);
  return now->format == before.format && now->rate == before.rate && now->start == before.start &&
         now->base == before.base && now->offset == before.offset;
}

gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  Element& self = element_of(trans);
  const bool held = guarded(trans, false, [&] {
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_FLUSH_STOP:
        self.stream.restart();
        self.stream.forget_regions();
        self.failure = Element::Failure::none;
        return false;
      case GST_EVENT_CAPS:
        if (same_caps(trans->sinkpad, event)) return false;
        [[fallthrough]];
      case GST_EVENT_STREAM_START:
      case GST_EVENT_SEGMENT:
      case GST_EVENT_SEGMENT_DONE:
      case GST_EVENT_STREAM_GROUP_DONE:
      case GST_EVENT_GAP:  // downstream may be waiting for it, to go on without frames
      case GST_EVENT_EOS:
        if (!self.failed()) self.stream.drain();
        if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT && !times_go_on(trans->segment, event))
          self.stream.hold_regions_anew();
        return false;
      default:
        return (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) &&
               self.stream.hold_event(event);
    }
  });
  if (held) return TRUE;
  const bool is_caps = GST_EVENT_TYPE(event) == GST_EVENT_CAPS;
  const gboolean good = GST_BASE_TRANSFORM_CLASS(gst_video_convolve_parent_class)->sink_event(trans, event);
  if (good && is_caps) self.stream.note_caps();
  if (good || !is_caps) return good;
  // FALSE would reach the application as the error "not negotiated". These caps are not refused: the source pad was
  // stopped while they were settled, or downstream changed its mind while the window drained, which upstream hears of
  // as well. The next frame, or one that comes after a flush, settles them.
  if (!GST_PAD_IS_FLUSHING(trans->srcpad) && (self.failed() || !self.stream.excuse_new_caps())) return FALSE;
  gst_base_transform_reconfigure_src(trans);
  return TRUE;
}

// Downstream hears of the drain after the outputs of all frames held, and all of upstream's buffers are back by then.
void drain_for_query(GstBaseTransform* trans) {
  Element& self = element_of(trans);
  guarded(trans, false, [&] {
    if (!self.failed()) self.stream.drain();
    return true;
  });
}

// The base class would answer with what it pushed itself.
bool answer_position(Stream& stream, GstQuery* query) {
  GstFormat format = GST_FORMAT_UNDEFINED;
  gst_query_parse_position(query, &format, nullptr);
  const GstClockTime position = stream.position();
  if (format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID(position)) return false;
  gst_query_set_position(query, format, static_cast<gint64>(position));
  return true;
}

void add_latency(const Stream& stream, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
  gst_query_parse_latency(query, &live, &min, &max);
  const GstClockTime added = stream.latency();
  gst_query_set_latency(query, live, min + added, GST_CLOCK_TIME_IS_VALID(max) ? max + added : max);
}

gboolean src_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) element_of(trans).stream.update_qos(event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE) element_of(trans).stream.note_downstream_asks();
  return GST_BASE_TRANSFORM_CLASS(gst_video_convolve_parent_class)->src_event(trans, event);
}

// Whether frames in CUDA memory would only cross to the CPU and back.
bool prefers_system_memory(Element& self) {
  const char* runs = self.stream.active_backend();
  const std::lock_guard lock(self.mutex);
  return runs ? g_str_equal(runs, "cpu") : self.settings.backend == BackendChoice::cpu;
}

gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  Element& self = element_of(trans);
  const bool from_downstream = direction == GST_PAD_SRC;
  const GstQueryType type = GST_QUERY_TYPE(query);
  // GstPad lets serialized queries through to an element that is stopped, where there is nothing to answer with. It
  // holds the stream's lock for them, as start() and stop() do.
  const bool serialized = type == GST_QUERY_ALLOCATION || type == GST_QUERY_DRAIN;
  if (!from_downstream && serialized && !GST_PAD_IS_ACTIVE(trans->sinkpad)) return FALSE;
  // The base class would warn of it on the bus.
  if (type == GST_QUERY_ALLOCATION && !from_downstream && self.stream.downstream_left_caps() &&
      self.stream.excuse_left_caps())
    return FALSE;
  if (type == GST_QUERY_CONTEXT && self.gpu->answer(GST_ELEMENT(trans), query)) return TRUE;
  if (type == GST_QUERY_SCHEDULING && from_downstream) {
    gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0);
    gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH);
    return TRUE;
  }
  if (type == GST_QUERY_POSITION && from_downstream && answer_position(self.stream, query)) return TRUE;
  if (type == GST_QUERY_DRAIN && !from_downstream) drain_for_query(trans);
  if (type == GST_QUERY_ACCEPT_CAPS) {
    GstCaps* caps = nullptr;
    gst_query_parse_accept_caps(query, &caps);
    if (const char* why = why_unserved(caps)) {
      GST_WARNING_OBJECT(trans, "%s", why);
      gst_query_set_accept_caps_result(query, FALSE);
      return TRUE;
    }
  }
  const bool good = GST_BASE_TRANSFORM_CLASS(gst_video_convolve_parent_class)->query(trans, direction, query);
  if (good && type == GST_QUERY_CAPS) {
    GstCaps* caps = nullptr;
    gst_query_parse_caps_result(query, &caps);
    GstCaps* served = served_part(gst_caps_copy(caps));
    if (prefers_system_memory(self)) served = system_memory_first(served);
    gst_query_set_caps_result(query, served);
    gst_caps_unref(served);
  }
  if (good && type == GST_QUERY_LATENCY && from_downstream) add_latency(self.stream, query);
  return good;
}

}  // namespace
}  // namespace convolve

// --- The class ---------------------------------------------------------------------------------------------------

static void gst_video_convolve_init(GstVideoConvolve* instance) {
  instance->self = new convolve::Element(&instance->parent);
  gst_base_transform_set_qos_enabled(&instance->parent, TRUE);
  GstPad* source = instance->parent.srcpad;
  convolve::base_activate_mode = GST_PAD_ACTIVATEMODEFUNC(source);
  gst_pad_set_activatemode_function(source, convolve::activate_source_pad);
}

static void gst_video_convolve_finalize(GObject* object) {
  delete reinterpret_cast<GstVideoConvolve*>(object)->self;
  G_OBJECT_CLASS(gst_video_convolve_parent_class)->finalize(object);
}

static void gst_video_convolve_class_init(GstVideoConvolveClass* klass) {
  GST_DEBUG_CATEGORY_INIT(video_convolve_debug, "videoconvolve", 0, "2D and 3D convolution of video");

  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = convolve::set_property;
  object_class->get_property = convolve::get_property;
  object_class->finalize = gst_video_convolve_finalize;
  convolve::install_properties(object_class);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = convolve::change_state;
  element_class->set_context = convolve::set_context;
  GstCaps* caps = convolve::make_template_caps(convolve::make_gpu()->formats());
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
  gst_element_class_set_static_metadata(
      element_class, "Video convolution", "Filter/Effect/Video",
      "Convolves video with any 2D filter, or with a 3D filter over a window of frames, on the GPU or the CPU",
      "The videoconvolve developers");

  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->passthrough_on_same_caps = FALSE;
  transform_class->start = convolve::start;
  transform_class->stop = convolve::stop;
  transform_class->set_caps = convolve::set_caps;
  transform_class->propose_allocation = convolve::propose;
  transform_class->decide_allocation = convolve::decide;
  transform_class->filter_meta = convolve::filter_meta;
  transform_class->transform_meta = convolve::transform_meta;
  transform_class->submit_input_buffer = convolve::submit_input_buffer;
  transform_class->generate_output = convolve::generate_output;
  transform_class->transform = convolve::transform;
  transform_class->sink_event = convolve::sink_event;
  transform_class->src_event = convolve::src_event;
  transform_class->query = convolve::query;
}

// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stream, how settings take hold: in latch(), for a new format, and with the passthrough, the allocation and the CUDA
// context that follow from them.
#include <memory>
#include <string>

#include "log.hpp"
#include "report.hpp"
#include "stream.hpp"

namespace convolve {
namespace {

// The recipe with the regions of these settings, whose filter is not to be had; as it is where they are alike or at
// fault.
std::shared_ptr<const Recipe> with_regions_of(const Settings& wanted, std::shared_ptr<const Recipe> recipe) {
  if (wanted.regions == recipe->settings.regions || !wanted.regions.boxes_fault.empty()) return recipe;
  Settings settings = recipe->settings;
  settings.regions = wanted.regions;
  return make_recipe(settings);
}

}  // namespace

void Stream::set_format(const GstVideoInfo& info, bool in_system_memory) {
  const bool is_new = !process_.has_format() || !gst_video_info_is_equal(&info, &process_.info());
  process_.set_format(info, in_system_memory);
  caps_are_agreed_ = false;
  if (is_new && refused_ && refused_->fault.empty()) refused_.reset();  // another format may be one that it serves
  latch();
  const bool passthrough = process_.changes_nothing() && window_.pending() == 0;
  if (is_new)
    passthrough_began_while_playing_ = asked_for_downstream_layout_ = false;
  else if (passthrough && !gst_base_transform_is_passthrough(trans_))
    passthrough_began_while_playing_ = true;
  gst_base_transform_set_passthrough(trans_, passthrough);
  allocation_is_stale_ = false;  // it is decided right after this
  announce();
}

void Stream::latch() {
  if (latching_) return;
  latching_ = true;
  const auto done = [](bool* flag) { *flag = false; };
  const std::unique_ptr<bool, decltype(done)> guard(&latching_, done);

  const std::shared_ptr<const Recipe> wanted = published();
  const bool reversed = trans_->segment.rate < 0;
  if (wanted != refused_) {
    try {
      use(wanted, reversed);
      in_force_ = wanted;
      refused_.reset();
      refusal_.clear();
      return;
    } catch (const PlanError& error) {
      // A fall back to the CPU would close the memory of a frame in hand. The next frame asks again.
      if (has_frame_in_hand_) return use(in_force_, reversed);
      if (fall_back_to_cpu(wanted, reversed, error)) {
        use(wanted, reversed);
        in_force_ = wanted;
        return;
      }
      // A fault that came between the start and the first caps, or before the element was stopped and started.
      if (!in_force_) in_force_ = wanted->last_good;
      if (!in_force_ || in_force_ == wanted) throw;
      // Regions are hidden by the new settings even where their filter is at fault: hiding must not wait for it.
      // The old filter may never have been asked for while regions were hidden: where it cannot be, hiding goes on.
      const std::shared_ptr<const Recipe> before = in_force_;
      if (!wanted->fault.empty()) in_force_ = with_regions_of(wanted->settings, in_force_);
      try {
        use(in_force_, reversed);
      } catch (const PlanError&) {
        if (in_force_ == before) throw;
        in_force_ = before;
        use(in_force_, reversed);
      }
      refuse(wanted, error);
    }
  } else {
    use(in_force_, reversed);
  }
}

void Stream::use(const std::shared_ptr<const Recipe>& recipe, bool reversed) {
  if (!recipe->fault.empty()) throw PlanError(recipe->fault);
  const int depth_before = process_.recipe() ? process_.filter().depth() : 0;
  if (!process_.set_recipe(recipe, reversed)) return;
  const Filter& filter = process_.filter();
  window_.set_shape(filter.depth(), filter.centre_t(), recipe->settings.border);
  if (depth_before > 0 && filter.depth() > depth_before) depth_grew_ = true;
  update_latency();
}

void Stream::refuse(const std::shared_ptr<const Recipe>& recipe, const PlanError& why) {
  refused_ = recipe;
  const std::string text = std::string(why.what()) + "; the filter stays as it was";
  // A controller sets its values anew for each frame.
  if (recipe->controlled ? !refusal_.empty() : recipe->fault.empty() && text == refusal_) return;
  refusal_ = text;
  warn_of_settings(GST_ELEMENT(trans_), text);
}

bool Stream::fall_back_to_cpu(const std::shared_ptr<const Recipe>& recipe, bool reversed, const PlanError& why) {
  const Settings& settings = recipe->settings;
  if (!recipe->fault.empty() || process_.backend().memory() == MemoryKind::host ||
      settings.backend != BackendChoice::automatic || !is_free_choice(settings.algorithm))
    return false;
  std::unique_ptr<FrameMemory> host = make_host_memory(settings.n_threads);
  if (!process_.can_be_served_by(host->backend(), recipe, reversed)) return false;
  drain();  // with the plans that are still there, before the memory that holds the frames goes
  process_.open(std::move(host));
  fell_back_ = true;
  allocation_is_stale_ = true;
  gst_base_transform_reconfigure_sink(trans_);
  report(GST_ELEMENT(trans_), GST_MESSAGE_WARNING, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
         std::string("the CUDA backend cannot serve this filter: ") + why.what() + "; it runs on the CPU from now on");
  return true;
}

void Stream::settle_passthrough() {
  // Frames held from before may be copies on the device: they leave through a plan.
  const bool passthrough = process_.changes_nothing() && window_.pending() == 0;
  if (passthrough == static_cast<bool>(gst_base_transform_is_passthrough(trans_))) return;
  gst_base_transform_set_passthrough(trans_, passthrough);
  passthrough_began_while_playing_ = passthrough;
  asked_for_downstream_layout_ = false;
  allocation_is_stale_ = true;
  // Frames that upstream laid out for downstream may be cropped by meta, or come from a pool too small for a window.
  // The other way round they are ours to copy, where downstream does not understand them.
  if (!passthrough && downstream_answered_upstream_) gst_base_transform_reconfigure_sink(trans_);
}

GstFlowReturn Stream::reconfigure() {
  // The base class's refusal is a warning on the bus, so that downstream is asked before. It may change again
  // meanwhile: a queue downstream has each ALLOCATION query wait until it is empty.
  bool left = false, settled = true;
  for (int times = 0; times < 2 && settled; ++times) {
    const unsigned asked = times_asked_;  // what is asked from here on is still to be followed
    if (!gst_pad_needs_reconfigure(trans_->srcpad) && process_.has_format()) {
      caps_are_agreed_ = true;
      frames_in_left_caps_ = 0;
      times_followed_ = asked;
      return GST_FLOW_OK;
    }
    left = downstream_left_caps() && excuse_left_caps();
    settled = !left && gst_base_transform_reconfigure(trans_) && process_.has_format();
    if (settled) note_caps();
  }
  if (GST_PAD_IS_FLUSHING(trans_->srcpad)) return GST_FLOW_FLUSHING;
  if (left || (downstream_left_caps() && excuse_left_caps()))
    return goes_on_in_left_caps() ? GST_FLOW_OK : GST_BASE_TRANSFORM_FLOW_DROPPED;
  return settled ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

bool Stream::downstream_left_caps() const {
  return gst_pad_needs_reconfigure(trans_->srcpad) && downstream_refuses(trans_->sinkpad);
}

// The ALLOCATION query that came after the caps is answered once they have left the queues downstream. In passthrough
// there is none.
void Stream::note_caps() {
  if (downstream_refuses(trans_->srcpad))
    gst_base_transform_reconfigure_src(trans_);  // its own event may still be on the way: the next frame asks again
  else
    caps_are_agreed_ |= !gst_base_transform_is_passthrough(trans_);
}

bool Stream::downstream_refuses(GstPad* caps_of) const {
  GstCaps* caps = gst_pad_get_current_caps(caps_of);
  if (!caps) return false;
  const bool refuses = !gst_pad_peer_query_accept_caps(trans_->srcpad, caps);
  gst_caps_unref(caps);
  return refuses;
}

bool Stream::upstream_can_follow() const {
  // A capsfilter whose caps change while it is asked may answer that nothing passes it.
  for (int times = 0; times < 2; ++times) {
    GstCaps* both = gst_pad_get_allowed_caps(trans_->sinkpad);
    const bool can_follow = both && !gst_caps_is_empty(both);
    if (both) gst_caps_unref(both);
    if (can_follow) return true;
  }
  return false;
}

bool Stream::excuse_left_caps() {
  return (caps_are_agreed_ || downstream_asks()) && count_left_caps();
}

// Caps that were settled before say nothing of these.
bool Stream::excuse_new_caps() {
  return downstream_asks() && count_left_caps();
}

bool Stream::count_left_caps() {
  if (frames_in_left_caps_ >= most_frames_in_left_caps || !upstream_can_follow()) return false;
  ++frames_in_left_caps_;
  return true;
}

// What was agreed on serves until it changes, as it does where nothing between the two negotiates. Caps that downstream
// left at once may never have reached it: a queue ends with the first frame whose caps are refused.
bool Stream::goes_on_in_left_caps() const {
  if (!caps_are_agreed_ || allocation_is_stale_) return false;
  GstCaps *in = gst_pad_get_current_caps(trans_->sinkpad), *out = gst_pad_get_current_caps(trans_->srcpad);
  const bool same = in && out && gst_caps_is_equal(in, out);
  if (in) gst_caps_unref(in);
  if (out) gst_caps_unref(out);
  return same;
}

GstFlowReturn Stream::renegotiate() {
  if (!allocation_is_stale_) return GST_FLOW_OK;
  gst_base_transform_reconfigure_src(trans_);
  const GstFlowReturn flow = reconfigure();
  allocation_is_stale_ = flow != GST_FLOW_OK;
  return flow;
}

void Stream::note_proposal(GstQuery* answer_of_downstream) {
  downstream_answered_upstream_ = answer_of_downstream != nullptr;
  if (answer_of_downstream) note_decision(answer_of_downstream);
}

void Stream::note_decision(GstQuery* query) {
  downstream_takes_video_meta_ = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
}

GstFlowReturn Stream::move_to_memory_of(GstBuffer* buffer) {
  GST_INFO_OBJECT(trans_, "taking over the CUDA context of the buffers that arrive");
  drain();
  process_.open(gpu_.open_where(buffer));
  allocation_is_stale_ = true;
  return renegotiate();
}

}  // namespace convolve

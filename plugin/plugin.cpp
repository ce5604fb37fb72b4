// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-videoconvolve
 * @title: videoconvolve
 *
 * Convolves video with any 2D filter of up to 31 x 31 taps (255 an axis where it factors), or with a 3D filter over a
 * window of up to 15 frames. The filter is a preset, an array of taps, or a text file. It runs on an NVIDIA GPU where
 * there is one, on frames in system or CUDA memory, else on the CPU; #GstVideoConvolve:active-backend tells which.
 *
 * Taps act on the distance from a component's zero level: black for luma and colours, neutral for chroma. Results are
 * rounded to nearest, ties to even. All properties but #GstVideoConvolve:backend, #GstVideoConvolve:cuda-device-id and
 * #GstVideoConvolve:n-threads may change while the element plays, and a change takes hold whole, at the next frame.
 *
 * A filter over several frames adds the latency of the frames after the one that leaves, unless
 * #GstVideoConvolve:window is causal.
 *
 * With #GstVideoConvolve:regions the filter, or an effect that hides, is confined to boxes of the frame: fixed ones, or
 * those that detectors attach to frames as #GstVideoRegionOfInterestMeta or GstAnalyticsRelationMeta.
 *
 * The element implements #GstPreset, which loads sets of values by name. The property #GstVideoConvolve:preset is
 * another thing: it names a kernel.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! videoconvolve preset=sharpen ! videoconvert ! autovideosink
 * ]| Sharpens a camera's picture.
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! decodebin ! videoconvert ! \
 *     videoconvolve kernel="<<-1,0,1>,<-2,0,2>,<-1,0,1>>" bias=0.5 ! videoconvert ! autovideosink
 * ]| Shows vertical edges on mid grey, with taps of one's own.
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! decodebin ! videoconvert ! \
 *     videoconvolve preset=temporal-denoise temporal-radius=2 ! videoconvert ! autovideosink
 * ]| Denoises with two frames before and two after each frame, which adds two frames of latency.
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! qtdemux ! h264parse ! nvh264dec ! \
 *     videoconvolve preset=gaussian-blur radius=3 ! cudadownload ! videoconvert ! autovideosink
 * ]| Decodes and blurs in GPU memory.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! \
 *     videoconvolve regions=inside region-boxes="<<100,80,200,120>>" region-effect=pixelate ! \
 *     videoconvert ! autovideosink
 * ]| Hides a fixed box of the picture.
 *
 * Since: 0.1
 */

#include <gst/gst.h>

#include "element.hpp"

static gboolean plugin_init(GstPlugin* plugin) {
  return gst_element_register(plugin, "videoconvolve", GST_RANK_NONE, gst_video_convolve_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, convolve, "2D and 3D convolution of video", plugin_init,
                  PACKAGE_VERSION, "LGPL", "videoconvolve", PACKAGE_ORIGIN)

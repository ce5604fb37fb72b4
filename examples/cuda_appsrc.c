/* SPDX-FileCopyrightText: 2026 The videoconvolve developers
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames of an application's own that live in CUDA memory: appsrc ! videoconvolve ! appsink, all of it with
 * memory:CUDAMemory. Each frame comes from a pool of GStreamer's, and one bright sample is written into it; a kernel of the
 * application's own would map it with GST_MAP_WRITE | GST_MAP_CUDA and write to map.data instead. Prints what the filter
 * makes of that sample. Exits with 77 where there is no NVIDIA GPU.
 */
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API /* GStreamer's CUDA library is not declared stable yet */
#endif
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 48, FRAMES = 5, BLACK = 16, WHITE = 235 };

static GstBufferPool *make_pool(GstCudaContext *context, GstCaps *caps, const GstVideoInfo *info) {
  GstBufferPool *pool = gst_cuda_buffer_pool_new(context);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, info->size, FRAMES, 0);
  if (gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE)) return pool;
  gst_object_unref(pool);
  return NULL;
}

/* Writes black, with one white sample of luma. A map without GST_MAP_CUDA is of host memory, which goes to the GPU when
 * the next one with it reads the frame. */
static gboolean draw(GstBuffer *buffer, const GstVideoInfo *info, int number) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE)) return FALSE;
  for (int plane = 0; plane < 3; ++plane) {
    guint8 *data = GST_VIDEO_FRAME_PLANE_DATA(&frame, plane);
    const int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, plane); ++y)
      memset(data + y * stride, plane == 0 ? BLACK : 128, GST_VIDEO_FRAME_COMP_WIDTH(&frame, plane));
    if (plane == 0) data[(10 + number) * stride + 20] = WHITE;
  }
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(number, GST_SECOND, 25);
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 25;
  return TRUE;
}

/* The sample where draw() put the white one, after the filter; -1 where the frame is not in CUDA memory. */
static int filtered_sample(GstSample *sample, int number) {
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  if (!gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0)) ||
      !gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ))
    return -1;
  const guint8 *luma = GST_VIDEO_FRAME_PLANE_DATA(&frame, 0);
  const int value = luma[(10 + number) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 20];
  gst_video_frame_unmap(&frame);
  return value;
}

/* Says what the pipeline ended with; TRUE where that was an error. */
static gboolean report_error(GstElement *pipeline) {
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  gst_object_unref(bus);
  if (!message) return FALSE;
  GError *error = NULL;
  gst_message_parse_error(message, &error, NULL);
  g_printerr("%s\n", error->message);
  g_error_free(error);
  gst_message_unref(message);
  return TRUE;
}

/* A ninth of the white sample is left of it. Returns how many frames were as expected. */
static int pull_frames(GstAppSink *out) {
  int frames = 0, right = 0;
  GstSample *sample;
  while ((sample = gst_app_sink_pull_sample(out)) != NULL) {
    const int value = filtered_sample(sample, frames);
    g_print("frame %d: %d\n", frames++, value);
    if (value == BLACK + (WHITE - BLACK + 4) / 9) ++right;
    gst_sample_unref(sample);
  }
  return frames == right ? right : -1;
}

static gboolean push_frames(GstAppSrc *in, GstBufferPool *pool, const GstVideoInfo *info) {
  for (int i = 0; i < FRAMES; ++i) {
    GstBuffer *buffer = NULL;
    if (gst_buffer_pool_acquire_buffer(pool, &buffer, NULL) != GST_FLOW_OK) return FALSE;
    if (!draw(buffer, info, i)) {
      gst_buffer_unref(buffer);
      return FALSE;
    }
    gst_app_src_push_buffer(in, buffer);
  }
  gst_app_src_end_of_stream(in);
  return TRUE;
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GstCudaContext *context = gst_cuda_load_library() ? gst_cuda_context_new(0) : NULL;
  if (!context) {
    g_print("there is no NVIDIA GPU here\n");
    return 77;
  }
  gst_cuda_memory_init_once();
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(
      "appsrc name=in format=time ! videoconvolve preset=box-blur radius=1 backend=cuda ! appsink name=out sync=false", &error);
  /* With an error beside it, what was made is only a part of the pipeline. */
  if (!pipeline || error) {
    g_printerr("%s\n", error->message);
    return 1;
  }
  /* All elements work in the application's own context. */
  GstContext *shared = gst_context_new_cuda_context(context);
  gst_element_set_context(pipeline, shared);
  gst_context_unref(shared);

  GstCaps *caps = gst_caps_from_string("video/x-raw(memory:CUDAMemory),format=I420,width=64,height=48,framerate=25/1");
  GstVideoInfo info;
  gst_video_info_from_caps(&info, caps);
  GstAppSrc *in = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "in"));
  GstAppSink *out = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), "out"));
  gst_app_src_set_caps(in, caps);
  GstBufferPool *pool = make_pool(context, caps, &info);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const gboolean right = pool && push_frames(in, pool, &info) && pull_frames(out) == FRAMES;
  const gboolean failed = report_error(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  if (pool) gst_buffer_pool_set_active(pool, FALSE);
  gst_clear_object(&pool);
  gst_caps_unref(caps);
  gst_object_unref(in);
  gst_object_unref(out);
  gst_object_unref(pipeline);
  gst_object_unref(context);
  return failed || !right;
}

/* SPDX-FileCopyrightText: 2026 The videoconvolve developers
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames of an application's own, filtered: appsrc ! videoconvolve ! appsink. Pushes frames with one bright sample each
 * and prints what the filter makes of it. cuda_appsrc.c does so in CUDA memory.
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

enum { WIDTH = 64, HEIGHT = 48, FRAMES = 5 };

/* A grey frame with one white sample; the buffer takes the memory. */
static GstBuffer *make_frame(int number) {
  guint8 *samples = g_malloc0(WIDTH * HEIGHT);
  samples[(10 + number) * WIDTH + 20] = 255;
  GstBuffer *buffer = gst_buffer_new_wrapped(samples, WIDTH * HEIGHT);
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(number, GST_SECOND, 25);
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 25;
  return buffer;
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

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GError *error = NULL;
  GstElement *pipeline =
      gst_parse_launch("appsrc name=in ! videoconvolve preset=box-blur radius=1 ! appsink name=out", &error);
  /* With an error beside it, what was made is only a part of the pipeline. */
  if (!pipeline || error) {
    g_printerr("%s\n", error->message);
    return 1;
  }
  GstAppSrc *in = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "in"));
  GstAppSink *out = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), "out"));
  GstCaps *caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT, WIDTH, "height",
                                      G_TYPE_INT, HEIGHT, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  gst_app_src_set_caps(in, caps);
  gst_caps_unref(caps);
  g_object_set(in, "format", GST_FORMAT_TIME, NULL);
  g_object_set(out, "sync", FALSE, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);

  for (int i = 0; i < FRAMES; ++i) gst_app_src_push_buffer(in, make_frame(i));
  gst_app_src_end_of_stream(in);

  int frames = 0;
  GstSample *sample;
  while ((sample = gst_app_sink_pull_sample(out)) != NULL) {
    GstMapInfo map;
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
      /* The white sample and its eight neighbours are each a ninth of it. */
      g_print("frame %d: %d\n", frames, map.data[(10 + frames) * WIDTH + 20]);
      gst_buffer_unmap(buffer, &map);
    }
    gst_sample_unref(sample);
    ++frames;
  }
  const gboolean failed = report_error(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(in);
  gst_object_unref(out);
  gst_object_unref(pipeline);
  return failed || frames != FRAMES;
}

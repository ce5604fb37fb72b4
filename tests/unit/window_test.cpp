// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which frames each output of a stream sees, against a stream that is written out and walked step by step.
#include "window.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace {

using namespace convolve;

/// Samples that are never read: a frame is known by their address.
std::array<char, 64> samples;

int alive = 0;

HeldFrame frame_of(int number, GstBufferFlags flags = GstBufferFlags(0)) {
  HeldFrame frame;
  frame.buffer.reset(gst_buffer_new());
  GST_BUFFER_FLAG_SET(frame.buffer.get(), flags);
  ++alive;
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT_CAST(frame.buffer.get()), [](gpointer, GstMiniObject*) { --alive; }, nullptr);
  frame.image.plane[0].data = &samples[number];
  return frame;
}

int number_of(const Image* image) {
  return image ? static_cast<int>(static_cast<char*>(image->plane[0].data) - samples.data()) : -1;
}

std::vector<int> seen(const FrameWindow& window) {
  std::vector<int> numbers;
  const Window images = window.images();
  for (int t = 0; t < images.depth; ++t) numbers.push_back(number_of(images.image[t]));
  return numbers;
}

/// The frame at position `at` of a stream whose frames 0 to n - 1 have come, walking one step at a time.
int walk(Border border, int at, int n) {
  if (at >= 0 && at < n) return at;
  if (border == Border::constant) return -1;
  if (border == Border::replicate || border == Border::wrap) return at < 0 ? 0 : n - 1;
  EXPECT_TRUE(border == Border::reflect || border == Border::reflect_101) << "a mode that this walk does not know";
  int position = 0, step = 1;
  // Both reflections are symmetric, about the middle of frame 0 or about the gap before it.
  int left = at >= 0 ? at : border == Border::reflect ? -at - 1 : -at;
  for (; left > 0; --left) {
    const bool turns = position + step < 0 || position + step >= n;
    if (turns) step = -step;
    if (!turns || (border == Border::reflect_101 && n > 1)) position += step;
  }
  return position;
}

struct Shape {
  int depth, centre;
};

TEST(FrameWindow, ShowsEachOutputTheFramesAroundItFoldedAmongThoseThatHaveCome) {
  for (const Shape shape : {Shape{1, 0}, {3, 1}, {4, 2}, {5, 2}, {15, 7}, {5, 4}, {5, 0}})
    for (const BorderRow& border : borders)
      for (int length = 1; length <= 20; ++length) {
        SCOPED_TRACE(std::string(border.nick) + ", depth " + std::to_string(shape.depth) + ", centre " +
                     std::to_string(shape.centre) + ", " + std::to_string(length) + " frames");
        const int ahead = shape.depth - 1 - shape.centre;
        FrameWindow window;
        window.set_shape(shape.depth, shape.centre, border.value);
        int outputs = 0;
        const auto make_outputs = [&](int arrived, bool draining) {
          while (window.ready(draining)) {
            EXPECT_EQ(number_of(&window.centre().image), outputs);
            std::vector<int> expected;
            for (int t = 0; t < shape.depth; ++t)
              expected.push_back(walk(border.value, outputs - shape.centre + t, arrived));
            EXPECT_EQ(seen(window), expected) << "output " << outputs;
            window.advance();
            ++outputs;
          }
        };
        for (int i = 0; i < length; ++i) {
          window.push(frame_of(i));
          make_outputs(i + 1, false);
          EXPECT_EQ(outputs, std::max(0, i + 1 - ahead));  // none earlier, none later
          EXPECT_LE(alive, std::max(shape.centre, ahead) + ahead);
        }
        make_outputs(length, true);
        EXPECT_EQ(outputs, length);
        window.clear();
        EXPECT_EQ(alive, 0);
      }
}

TEST(FrameWindow, GivesOneOutputForEachFrameWhateverItsShapeBecomesMeanwhile) {
  const Shape shapes[] = {{3, 1}, {9, 4}, {1, 0}, {7, 6}, {5, 2}, {15, 7}, {1, 0}};
  FrameWindow window;
  int outputs = 0;
  const auto make_outputs = [&](bool draining) {
    for (; window.ready(draining); ++outputs) {
      EXPECT_EQ(number_of(&window.centre().image), outputs);
      for (const int number : seen(window)) EXPECT_GE(number, 0);
      window.advance();
    }
  };
  for (int i = 0; i < 60; ++i) {
    if (i % 7 == 0) {
      const Shape shape = shapes[i / 7 % std::size(shapes)];
      window.set_shape(shape.depth, shape.centre, Border::reflect);
    }
    window.push(frame_of(i));
    make_outputs(false);
  }
  make_outputs(true);
  EXPECT_EQ(outputs, 60);
}

TEST(FrameWindow, KeepsEventsBehindTheFrameAfterWhichTheyCame) {
  const auto event = [](const char* name) {
    return EventPtr(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty(name)));
  };
  const auto names = [](const std::vector<EventPtr>& events) {
    std::string all;
    for (const EventPtr& held : events) all += gst_structure_get_name(gst_event_get_structure(held.get()));
    return all;
  };
  FrameWindow window;
  window.set_shape(3, 1, Border::replicate);
  window.push(frame_of(0));
  window.push_event(event("a"));
  window.push_event(event("b"));
  window.push(frame_of(1));
  window.push_event(event("c"));
  window.push(frame_of(2));
  window.push_event(event("d"));
  EXPECT_EQ(names(window.advance()), "ab");
  EXPECT_EQ(names(window.clear()), "cd");
  EXPECT_EQ(window.pending(), 0);
}

TEST(FrameWindow, SeesTheFlagsOfItsFramesAndOfNoOthers) {
  FrameWindow window;
  window.set_shape(3, 1, Border::constant);
  for (int i = 0; i < 6; ++i) window.push(frame_of(i, i == 3 ? GST_BUFFER_FLAG_CORRUPTED : GstBufferFlags(0)));
  for (int output = 0; output < 6; ++output) {
    EXPECT_EQ(window.sees_flag(GST_BUFFER_FLAG_CORRUPTED), output >= 2 && output <= 4) << output;
    EXPECT_FALSE(window.sees_flag(GST_BUFFER_FLAG_DROPPABLE));
    window.advance();
  }
}

}  // namespace

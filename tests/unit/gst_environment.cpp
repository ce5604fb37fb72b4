// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer is initialised before the tests of this program run.
#include <gst/gst.h>
#include <gtest/gtest.h>

namespace {

struct GstEnvironment : testing::Environment {
  void SetUp() override { gst_init(nullptr, nullptr); }
};

[[maybe_unused]] const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new GstEnvironment);

}  // namespace

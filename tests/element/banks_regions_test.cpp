// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Random banks in random regions: between frames of one stream the bank, its combination, the regions and their shape
// all change, and every frame is held against the oracles of banks and of regions.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "../oracle_bank.hpp"
#include "../oracle_regions.hpp"
#include "expected.hpp"

namespace element_test {
namespace {

using oracle::Combination;

constexpr struct {
  const char* nick;
  Combination value;
} combinations[] = {{"magnitude", Combination::magnitude},
                    {"sum-abs", Combination::sum_abs},
                    {"max-abs", Combination::max_abs},
                    {"max", Combination::max}};

int pick(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::vector<oracle::Kernel> random_bank(std::mt19937& random) {
  std::vector<oracle::Kernel> bank;
  const int count = pick(random, 1, 6), most = pick(random, 1, 15);
  for (int i = 0; i < count; ++i)
    bank.push_back(random_kernel(random, 1, pick(random, 1, most), pick(random, 1, most), 3, 16));
  return bank;
}

// "<a,b,c>", as arrays are written.
std::string array_of(const std::vector<std::string>& parts) {
  std::ostringstream text;
  for (const std::string& part : parts) text << (&part == parts.data() ? '<' : ',') << part;
  text << '>';
  return text.str();
}

std::string text_of(const std::vector<oracle::Kernel>& bank) {
  std::vector<std::string> kernels;
  for (const oracle::Kernel& kernel : bank) kernels.push_back(element_test::text_of(kernel));
  return array_of(kernels);
}

// Whole pixels, some of them beyond the frame.
std::vector<oracle::Box> random_boxes(std::mt19937& random, const GstVideoInfo& info, bool ellipse) {
  std::vector<oracle::Box> boxes(pick(random, 1, 3));
  for (oracle::Box& box : boxes) {
    box.x = pick(random, -8, info.width + 4);
    box.y = pick(random, -8, info.height + 4);
    box.w = pick(random, 1, 24);
    box.h = pick(random, 1, 24);
    box.ellipse = ellipse;
  }
  return boxes;
}

std::string text_of(const std::vector<oracle::Box>& boxes) {
  std::vector<std::string> texts;
  for (const oracle::Box& box : boxes) {
    std::ostringstream text;
    text << '<' << box.x << ',' << box.y << ',' << box.w << ',' << box.h << '>';
    texts.push_back(text.str());
  }
  return array_of(texts);
}

// Limited-range luma lies about 16, chroma about 128, red, green and blue about 0; alpha stays.
Frame expected_of(const std::vector<oracle::Kernel>& bank, Combination combination, const Frame& in,
                  const GstVideoInfo& info, const std::vector<oracle::Box>& boxes, const oracle::Treatment& treatment) {
  const int bits = GST_VIDEO_INFO_COMP_DEPTH(&info, 0);
  Frame out = in;
  for (unsigned c = 0; c < in.component.size() && c < 3; ++c) {
    oracle::Levels levels{bits};
    if (GST_VIDEO_INFO_IS_YUV(&info)) levels.zero = std::ldexp(c == 0 ? 16 : 128, bits - 8);
    const auto filtered = oracle::filter_bank(bank, combination, in.component[c], oracle::Edge::replicate, levels);
    const oracle::Sampling sampling{info.width, info.height, 1 << GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, c),
                                    1 << GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, c)};
    out.component[c] = oracle::treat(boxes, treatment, sampling, in.component[c], &filtered, 0);
  }
  return out;
}

constexpr const char* formats[] = {"GRAY8", "NV12", "RGBA", "P010_10LE"};

ELEMENT_TEST_ROWS(random_banks_in_random_regions_match_the_oracles_while_both_change, std::size(formats)) {
  std::mt19937 random(static_cast<unsigned>(700 + row));
  const GstVideoInfo info = video_info(formats[row], 41, 27);
  Harness harness("combine=max regions=inside", info);
  for (int frame = 0; frame < 40; ++frame) {
    const auto bank = random_bank(random);
    const auto& combination = combinations[pick(random, 0, 3)];
    const bool ellipse = pick(random, 0, 1) == 1;
    const auto boxes = random_boxes(random, info, ellipse);
    const oracle::Treatment treatment{oracle::Effect::filter, pick(random, 0, 1) == 1, 0, pick(random, 0, 5), 6};
    harness.set("bank", text_of(bank).c_str());
    harness.set("combine", combination.nick);
    harness.set("region-boxes", text_of(boxes).c_str());
    harness.set("region-shape", ellipse ? "ellipse" : "rectangle");
    harness.set("regions", treatment.outside ? "outside" : "inside");
    harness.set("region-feather", std::to_string(treatment.feather).c_str());
    const std::string label = std::string(formats[row]) + " frame " + std::to_string(frame) + ": " + combination.nick +
                              " of " + text_of(bank) + " in " + text_of(boxes);
    const Owned<GstBuffer> input = random_buffer(random, info, frame);
    const Frame in = frame_of(input.get(), info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: push failed", label.c_str());
    check_buffer(expected_of(bank, combination.value, in, info, boxes, treatment), harness.try_pull().get(), info,
                 combination.value == Combination::magnitude ? 1 : 0, label);
  }
  CHECK(harness.errors().empty(), "an error message");
}

ELEMENT_TEST(what_is_hidden_does_not_wait_for_a_bank_whose_combination_is_missing) {
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness("preset=box-blur", info);
  std::mt19937 random(5);
  const auto filtered = [&] {
    CHECK(harness.push(random_buffer(random, info, 0).release()) == GST_FLOW_OK, "push failed");
    return frame_of(harness.try_pull().get(), info).component[0].samples;
  };
  filtered();
  harness.set("bank", "<<<1>>,<<2>>>");
  filtered();
  CHECK(harness.warnings().size() == 1, "the bank without a combination is warned of once");
  harness.set("region-boxes", "<<0,0,4,4>>");
  harness.set("region-effect", "fill");
  harness.set("regions", "inside");
  const auto hidden = filtered();
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) CHECK(hidden[y * 16 + x] == 0, "sample %d,%d is not hidden", x, y);
  CHECK(!harness.warnings().empty(), "what is still waiting is told again");
  harness.set("region-boxes", "<<8,0,4,4>>");
  CHECK(filtered()[8] == 0, "a region that moves is not followed");
  CHECK(harness.errors().empty(), "an error message");
}

// While regions are hidden nobody asks for a plan of the filter: that its algorithm cannot serve it comes out when they
// are switched off. Where the filter that is to come then is at fault, there is none to go on with.
ELEMENT_TEST(hiding_goes_on_where_it_is_switched_off_and_neither_filter_can_be_had) {
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  const char* const cannot_serve = std::string(test_backend()) == "cpu" ? "register" : "direct";
  Harness harness(std::string("kernel=<<1,2,1>> normalize=true algorithm=") + cannot_serve +
                      " regions=inside region-effect=fill region-boxes=<<0,0,4,4>>",
                  info);
  std::mt19937 random(6);
  const auto check = [&](bool hides, const char* when) {
    const Owned<GstBuffer> input = random_buffer(random, info);
    const Frame before = frame_of(input.get(), info);
    Frame wanted = before;
    if (hides)
      for (int i = 0; i < 16; ++i) wanted.component[0].samples[i / 4 * 16 + i % 4] = 0;
    else
      wanted = expected(Filtering{make_kernel(1, 1, 3, {1, 2, 1}, 4)}, before, info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: the stream ends", when);
    check_buffer(wanted, harness.try_pull().get(), info, 0, when);
    return harness.reports();
  };
  CHECK(check(true, "hidden").empty(), "a filter that nobody asks for is reported");
  harness.set("bank", "<<<1>>,<<2>>>");  // without a combination
  harness.set("regions", "off");
  const std::vector<Report> reports = check(true, "switched off beside a fault");
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%zu reports", reports.size());
  CHECK(check(true, "the fault goes on").empty(), "the fault is told again");
  harness.set("bank", "<  >");
  harness.set("algorithm", "auto");
  CHECK(check(false, "all is mended").empty(), "a report of what is mended");
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("banks_regions");
}

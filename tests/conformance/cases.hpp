// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Case: one filter over one layout, and all that decides its input and where in memory it lies. The same seed gives
// the same case everywhere.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convolve/plan.hpp"
#include "filters.hpp"
#include "layouts.hpp"
#include "oracle_bank.hpp"

namespace conformance {

/// `matched`: the signs of the filter's taps, as full and zero samples, side by side and every other time the other way
/// round, so that some sums are the largest and the smallest that there can be.
enum class Content { noise, near_zero, near_full, extremes, ramp, matched };
inline constexpr const char* content_names[] = {"noise", "near-zero", "near-full", "extremes", "ramp", "matched"};

/// How a plane lies in memory; each ends with its last sample.
enum class Placement { tight, aligned, odd_stride, shifted, bottom_up, bottom_up_shifted };
inline constexpr const char* placement_names[] = {"tight",   "aligned",   "odd-stride",
                                                  "shifted", "bottom-up", "bottom-up-shifted"};

struct Case {
  std::string name;  ///< all parameters, for --filter and for messages
  std::uint64_t seed = 0;
  convolve::PlanDesc desc;           ///< algorithm: automatic
  oracle::Kernel kernel;             ///< of a bank, one of its extent, whose taps bound its sums
  std::vector<oracle::Kernel> bank;  ///< empty: `kernel` alone
  oracle::Combination combination = oracle::Combination::magnitude;
  oracle::Edge edge = oracle::Edge::replicate;
  bool exact = false;  ///< every component is exact and no ghost level is a fraction
  Content content = Content::noise;
  Placement in = Placement::tight, out = Placement::tight;
  unsigned ghosts = 0;  ///< bit t: image t of the window is null
};

struct CaseOptions {
  const LayoutRow* layout;  ///< null: `free_layout`
  convolve::FrameLayout free_layout;
  const KindRow* kind;
  Shape shape;
  convolve::Border border;
  int width, height;
  Content content;
  LevelChoice levels;
  Placement in, out;
};

/// The numeric contract for one component, whatever stands beside it: the correctly rounded exact value at every sample
/// that sees no fractional ghost level.
bool is_exact(const Case& c, const convolve::Component& component);

/// Every component is exact everywhere: the stricter class that the frame as a whole falls into.
bool is_exact(const Case& c);

/// Whether the filter at sample (x, y) of a component reaches a ghost level that is no whole number.
bool sees_fractional_ghost(const Case& c, const convolve::Component& component, int x, int y);

struct Size {
  int width, height;
};

/// Frames, and filters of one frame up to 15x15, that draw_options() draws from.
inline constexpr std::array sizes{Size{33, 31},  Size{1, 1},   Size{640, 37}, Size{7, 5},  Size{130, 70},
                                  Size{1921, 3}, Size{2, 3},   Size{65, 19},  Size{1, 40}, Size{258, 9},
                                  Size{16, 16},  Size{300, 1}, Size{64, 33}};
inline constexpr std::array shapes{Shape{1, 3, 3},  Shape{1, 5, 5},   Shape{1, 1, 1},  Shape{1, 15, 15},
                                   Shape{1, 7, 7},  Shape{1, 2, 2},   Shape{1, 1, 15}, Shape{1, 15, 1},
                                   Shape{1, 3, 5},  Shape{1, 4, 6},   Shape{1, 9, 9},  Shape{1, 11, 11},
                                   Shape{1, 14, 3}, Shape{1, 13, 13}, Shape{1, 1, 3},  Shape{1, 3, 1},
                                   Shape{1, 8, 15}, Shape{1, 6, 12},  Shape{1, 1, 2},  Shape{1, 12, 10}};

/// The values one after the other, over and over again.
template <class T, std::size_t n>
const T& rotate(const std::array<T, n>& values, std::size_t i) {
  return values[i % n];
}

const LayoutRow* layout_named(std::string_view name);

/// Every option, drawn.
CaseOptions draw_options(Random& random);

Case make_case(const CaseOptions& options, std::uint64_t seed);

/// The kinds of filters, one after the other.
const KindRow* kind_in_turn(std::size_t turn);

/// Cases made one after the other. `turn` counts them, for what goes round and round beside what is drawn.
struct CaseList {
  Random& random;
  std::vector<Case> cases{};

  std::size_t turn() const { return cases.size(); }
  /// Options that are drawn, but for the layout.
  CaseOptions draw(std::string_view layout);
  void add(const CaseOptions& options) { cases.push_back(make_case(options, random.next())); }
  /// One for each of these layouts, borders and filter shapes: set(options, turn) chooses what is not to stay as drawn.
  template <class Shapes, class Set>
  void add_each(std::span<const char* const> layouts, const Shapes& filter_shapes, const Set& set) {
    for (const char* layout : layouts)
      for (const convolve::BorderRow& border : convolve::borders)
        for (const Shape& shape : filter_shapes) {
          const std::size_t now = turn();
          CaseOptions options = draw(layout);
          options.border = border.value;
          options.shape = shape;
          options.kind = kind_in_turn(now);
          set(options, now);
          add(options);
        }
  }
  void append(const std::vector<Case>& more) { cases.insert(cases.end(), more.begin(), more.end()); }
};

/// Every parameter drawn at random; one layout in four is any that PlanDesc can say, whether or not video has it.
Case random_case(std::uint64_t seed);

/// The systematic set: every layout x border x filter shape, every kind x shape, every size x border, and every depth
/// x border, with all else rotating and drawn.
std::vector<Case> systematic_cases(std::uint64_t seed);
/// Those of them with more than 15 taps on an axis.
std::vector<Case> cases_of_large_filters(Random& random);

}  // namespace conformance

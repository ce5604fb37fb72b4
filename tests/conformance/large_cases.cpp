// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <string_view>

#include "cases.hpp"

namespace conformance {
namespace {

const KindRow* kind_named(std::string_view name) {
  const auto all = kinds();
  return &*std::find_if(all.begin(), all.end(), [name](const KindRow& kind) { return kind.name == name; });
}

// Full rank; odd and even, of one row and of one column. Planes of several tiles each way and of less than one, rows of
// whole words or not, and less than the filter.
void add_full_rank(CaseList& list) {
  constexpr std::array dense{Shape{1, 31, 31}, Shape{1, 30, 17}, Shape{1, 16, 31}, Shape{2, 31, 16},
                             Shape{1, 31, 5},  Shape{1, 3, 29},  Shape{1, 16, 16}, Shape{1, 18, 24},
                             Shape{1, 23, 31}, Shape{1, 28, 17}, Shape{1, 9, 16}};
  constexpr std::array planes{Size{392, 133}, Size{97, 23}, Size{256, 64}, Size{20, 40},
                              Size{301, 70},  Size{35, 37}, Size{131, 9}};
  constexpr std::array names{"gray8", "nv12", "rgba8", "rgb8", "rgbx8", "i420", "gray-alpha8", "p010"};
  list.add_each(names, dense, [&](CaseOptions& o, std::size_t turn) {
    o.width = rotate(planes, turn / 3).width;
    o.height = rotate(planes, turn / 3).height;
    if (turn % 4 != 3) o.in = o.out = turn % 4 == 2 ? Placement::bottom_up : Placement::aligned;
    o.kind = kind_in_turn(turn / 2);
  });
}

// One for each of these layouts, filter shapes and kinds that factor; set(options, turn) chooses the size.
template <class Shapes, class Set>
void add_each_factored(CaseList& list, std::span<const char* const> layouts, const Shapes& filter_shapes,
                       const Set& set) {
  for (const char* layout : layouts)
    for (const Shape& shape : filter_shapes)
      for (const KindRow& kind : kinds()) {
        if (!kind.factors) continue;
        const std::size_t turn = list.turn();
        CaseOptions o = list.draw(layout);
        o.border = rotate(convolve::borders, turn).value;
        o.kind = &kind;
        o.shape = shape;
        set(o, turn);
        list.add(o);
      }
}

// The largest filters that factor.
void add_factored(CaseList& list) {
  constexpr std::array factored{Shape{1, 1, 255},  Shape{1, 255, 1}, Shape{1, 255, 255}, Shape{1, 63, 40},
                                Shape{1, 32, 127}, Shape{1, 101, 3}, Shape{1, 4, 254},   Shape{3, 33, 35},
                                Shape{2, 3, 255},  Shape{4, 47, 1}};
  constexpr std::array names{"gray8", "nv12", "rgba8", "p010", "yuy2", "rgb8"};
  add_each_factored(list, names, factored, [](CaseOptions& o, std::size_t turn) {
    const bool small = o.shape.height * o.shape.width > 20000;
    o.width = small ? rotate(std::array{37, 300, 1}, turn / 2) : rotate(std::array{60, 523, 131, 7}, turn / 2);
    o.height = small ? rotate(std::array{19, 2, 70}, turn / 2) : rotate(std::array{41, 12, 33, 5}, turn / 2);
  });
}

// Filters that factor on frames of several tiles either way, about sizes where one kernel follows on another.
void add_tiles_of_factored(CaseList& list) {
  constexpr std::array shapes_of_them{Shape{1, 31, 17}, Shape{1, 65, 65}, Shape{1, 66, 18}, Shape{1, 17, 66}};
  constexpr std::array names{"gray8", "nv12", "rgba8", "rgb8", "yuy2", "uyvy", "y210", "gray16", "rgb16", "argb64"};
  add_each_factored(list, names, shapes_of_them, [](CaseOptions& o, std::size_t turn) {
    o.width = rotate(std::array{290, 147, 204}, turn);
    o.height = rotate(std::array{140, 75}, turn / 2);
  });
}

// Boxes, which have running sums on the CPU, those of 16 bits on a GPU too: of each number of components, on both sides
// of where the sums of a row need more than 16 bits (64 taps of 10 bits, one of 16) and those of the box more than 31
// (181x181 taps of 16 bits).
void add_boxes(CaseList& list) {
  constexpr std::array shapes_of_them{Shape{1, 31, 31}, Shape{1, 1, 64},  Shape{1, 65, 2},
                                      Shape{1, 9, 65},  Shape{3, 17, 21}, Shape{1, 16, 18}};
  constexpr std::array largest{Shape{1, 181, 181}, Shape{1, 182, 181}, Shape{1, 255, 255}};
  const auto add = [&](const char* name, const KindRow& kind, const Shape& shape, int width, int height) {
    CaseOptions o = list.draw(name);
    o.border = rotate(convolve::borders, list.turn()).value;
    o.kind = &kind;
    o.shape = shape;
    o.width = width;
    o.height = height;
    list.add(o);
  };
  for (const KindRow& kind : kinds()) {
    if (const std::string_view kind_name = kind.name; kind_name != "box" && kind_name != "real-box") continue;
    for (const char* name : {"gray8", "gray-alpha8", "rgb8", "rgbx8", "ayuv8", "yuy2", "uyvy", "gray6", "gray16",
                             "gray-alpha16", "rgb16", "argb64", "ayuv64", "p010", "y210", "gray9-shifted"})
      for (const Shape& shape : shapes_of_them)
        add(name, kind, shape, rotate(std::array{60, 523, 131, 7}, list.turn() / 2),
            rotate(std::array{41, 12, 33, 5}, list.turn() / 2));
    for (const char* name : {"gray8", "rgb8", "yuy2", "gray16", "ayuv64"})
      for (const Shape& shape : largest) add(name, kind, shape, 37, 19);
  }
}

// Boxes of 16 bits on frames so wide that some tiles reach neither side, in rows that are no whole vectors.
void add_wide_boxes(CaseList& list) {
  struct Wide {
    const char* layout;
    int width;
  };
  constexpr std::array cases{Wide{"gray16", 4101}, Wide{"gray-alpha16", 2051}, Wide{"rgb16", 1403},
                             Wide{"argb64", 1027}, Wide{"p010", 4102}};
  for (const KindRow& kind : kinds()) {
    if (!std::string_view(kind.name).ends_with("box")) continue;
    for (const Wide& each : cases)
      for (const int taps : {17, 36}) {
        CaseOptions o = list.draw(each.layout);
        o.border = rotate(convolve::borders, list.turn()).value;
        o.kind = &kind;
        o.shape = {1, taps, taps};
        o.width = each.width, o.height = 7;
        o.in = rotate(std::array{Placement::shifted, Placement::odd_stride, Placement::aligned}, list.turn());
        list.add(o);
      }
  }
}

// Boxes of bytes on frames of several tiles either way, on both sides of where sums down the columns need 16 bits.
void add_boxes_of_bytes(CaseList& list) {
  constexpr std::array shapes_of_them{Shape{1, 48, 49}, Shape{1, 63, 63}, Shape{1, 128, 64}, Shape{1, 129, 127}};
  constexpr std::array names{"gray8", "nv12", "gray-alpha8", "rgba8", "rgbx8", "ayuv8", "rgb8", "yuy2", "uyvy", "i420"};
  for (const KindRow& kind : kinds()) {
    if (const std::string_view kind_name = kind.name; kind_name != "box" && kind_name != "real-box") continue;
    for (const char* name : names)
      for (const Shape& shape : shapes_of_them) {
        const std::size_t turn = list.turn();
        CaseOptions o = list.draw(name);
        o.border = rotate(convolve::borders, turn).value;
        o.kind = &kind;
        o.shape = shape;
        o.width = rotate(std::array{560, 1043, 208}, turn);
        o.height = rotate(std::array{150, 197}, turn / 2);
        if (turn % 4 != 3) o.in = o.out = turn % 4 == 2 ? Placement::bottom_up : Placement::aligned;
        list.add(o);
      }
  }
}

// Boxes of even sizes that `convolve` flips, on frames of whose last tile some kernels make one pixel. Whether a filter
// is flipped is drawn, so that cases are drawn until one is.
void add_flipped_boxes(CaseList& list) {
  struct Flipped {
    const char* layout;
    Size frame;
    int taps;
  };
  constexpr std::array cases{Flipped{"gray8", {433, 240}, 66}, Flipped{"gray-alpha8", {185, 240}, 66},
                             Flipped{"rgb8", {433, 240}, 66}, Flipped{"rgba8", {77, 240}, 50},
                             Flipped{"yuy2", {154, 240}, 50}};
  for (const KindRow& kind : kinds()) {
    if (!std::string_view(kind.name).ends_with("box")) continue;
    for (const Flipped& each : cases) {
      CaseOptions o = list.draw(each.layout);
      o.border = convolve::Border::reflect_101;
      o.kind = &kind;
      o.shape = {1, each.taps, each.taps};
      o.width = each.frame.width, o.height = each.frame.height;
      o.in = o.out = Placement::aligned;
      list.add(o);
      while (list.cases.back().name.find(" convolve") == std::string::npos) {
        list.cases.pop_back();
        list.add(o);
      }
    }
  }
}

// Frames hardly wider than the filter, mirrored: what lies beside them stands for samples on the other side.
void add_narrow(CaseList& list) {
  struct Narrow {
    Size frame;
    Shape filter;
  };
  constexpr std::array cases{Narrow{{12, 40}, {1, 17, 17}}, Narrow{{16, 40}, {1, 31, 31}},
                             Narrow{{28, 70}, {1, 35, 35}}, Narrow{{32, 70}, {1, 63, 63}}, Narrow{{8, 40}, {1, 31, 3}}};
  constexpr std::array names{"rgba8", "rgbx8", "rgb8", "nv12", "yuy2"};
  for (const convolve::Border border : {convolve::Border::reflect, convolve::Border::reflect_101})
    for (const Narrow& narrow : cases)
      add_each_factored(list, names, std::array{narrow.filter}, [&](CaseOptions& o, std::size_t) {
        o.border = border;
        o.width = narrow.frame.width, o.height = narrow.frame.height;
        o.in = o.out = Placement::aligned;
      });
}

// Three components in strips of two parts a step, whose rows go to the frame through shared memory.
void add_strips_of_three(CaseList& list) {
  constexpr std::array shapes{Shape{1, 35, 35}, Shape{1, 40, 47}, Shape{1, 63, 40}};
  constexpr std::array names{"rgb8"};
  add_each_factored(list, names, shapes, [](CaseOptions& o, std::size_t at) {
    o.width = rotate(std::array{64, 131, 300}, at);
    o.height = rotate(std::array{70, 97, 160}, at);
    o.in = o.out = Placement::aligned;
  });
}

// From 96 taps an axis on, of frames that are as large as what the taps reach, and of several strips.
void add_wide(CaseList& list) {
  constexpr std::array wide{Shape{1, 97, 97}, Shape{1, 96, 127}, Shape{1, 128, 101}};
  constexpr std::array names{"gray8"};
  for (int turn = 0; turn < 2; ++turn)
    add_each_factored(list, names, wide, [](CaseOptions& o, std::size_t at) {
      o.width = rotate(std::array{208, 133, 300}, at / 2);
      o.height = rotate(std::array{75, 131}, at / 2);
    });
}

// Rows that end within a vector of 16 bytes, and rows that begin within one: by warpgroups, whose last piece of a row
// is not whole.
void add_odd_widths(CaseList& list) {
  constexpr std::array shapes{Shape{1, 63, 63}, Shape{1, 65, 65}, Shape{1, 50, 127}};
  constexpr std::array kind_names{"real-separable", "real-centred", "box", "real-mirrored"};
  for (const char* layout : {"gray8", "nv12", "rgb8", "rgba8", "rgbx8", "yuy2", "uyvy"})
    for (const convolve::BorderRow& border : convolve::borders)
      for (const Shape& shape : shapes) {
        const std::size_t turn = list.turn();
        CaseOptions o = list.draw(layout);
        o.border = border.value;
        o.shape = shape;
        o.kind = kind_named(rotate(kind_names, turn));
        o.width = rotate(std::array{134, 150, 171, 191, 214, 257}, turn);
        o.height = rotate(std::array{75, 131, 93}, turn / 2);
        o.in = turn % 5 == 4 ? Placement::shifted : turn % 5 == 3 ? Placement::bottom_up : Placement::aligned;
        o.out = turn % 7 == 6 ? Placement::odd_stride : Placement::aligned;
        list.add(o);
      }
}

// From 195 taps a row or a column on, of frames that are as large as what the taps reach and whose border repeats the
// edge: rows come to a ring that warpgroups share, and strips may all touch the frame's edge.
void add_rings(CaseList& list) {
  constexpr std::array shapes{Shape{1, 60, 250}, Shape{1, 196, 200}, Shape{1, 240, 50}, Shape{1, 255, 255}};
  constexpr std::array kind_names{"real-mirrored", "real-centred", "box", "real-separable", "real-mirrored"};
  for (const char* layout : {"rgb8", "rgba8", "rgbx8", "yuy2", "uyvy"})
    for (const Shape& shape : shapes) {
      const std::size_t turn = list.turn();
      CaseOptions o = list.draw(layout);
      o.border = convolve::Border::replicate;
      o.shape = shape;
      o.kind = kind_named(rotate(kind_names, turn));
      o.width = rotate(std::array{132, 324, 134}, turn);
      o.height = rotate(std::array{131, 150}, turn);
      o.in = turn % 7 == 6 ? Placement::bottom_up : Placement::aligned;
      o.out = turn % 7 == 5 ? Placement::odd_stride : Placement::aligned;
      list.add(o);
    }
}

// Exact taps over even divisors: a quotient in some ten thousand is a tie, so that frames are large.
void add_ties(CaseList& list) {
  for (const KindRow& kind : kinds()) {
    if (std::string_view(kind.name) != "integer-separable") continue;
    for (const char* layout : {"gray8", "rgb8", "yuy2"})
      for (const int taps : {31, 64, 97, 107}) {
        if (taps > 64 && std::string_view(layout) != "gray8") continue;
        CaseOptions o = list.draw(layout);
        o.border = convolve::Border::replicate;
        o.levels = {0, 0};
        o.kind = &kind;
        o.shape = {1, taps, taps};
        o.width = 480, o.height = 300;
        o.in = o.out = Placement::aligned;
        o.content = Content::noise;
        list.add(o);
        while (list.cases.back().kernel.divisor < 1000) {  // the one tap over time is not 1
          list.cases.pop_back();
          list.add(o);
        }
      }
  }
}

}  // namespace

std::vector<Case> cases_of_large_filters(Random& random) {
  CaseList list{random};
  add_full_rank(list);
  add_factored(list);
  add_tiles_of_factored(list);
  add_boxes(list);
  add_boxes_of_bytes(list);
  add_wide(list);
  add_flipped_boxes(list);
  add_narrow(list);
  add_wide_boxes(list);
  add_strips_of_three(list);
  add_ties(list);
  add_odd_widths(list);
  add_rings(list);
  return list.cases;
}

}  // namespace conformance

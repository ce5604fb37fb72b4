// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance_luma [--backend=cpu|cuda] [--cases=N] [--seed=N]: how much two frames differ, over random sizes, sample
// types, shifts, weights, places of the components, strides of either sign and addresses, to the bit. Each pair of a
// case is compared by the same LumaDifference: nothing is left of the pair before.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "open_backend.hpp"
#include "options.hpp"
#include "oracle_luma.hpp"
#include "random.hpp"

namespace {

using namespace conformance;
using convolve::LumaDesc;
using convolve::LumaTerm;

// One plane of one frame: a block of bytes, where its row 0 lies in it, and how far the next row is.
struct PlaneBytes {
  std::vector<std::uint8_t> bytes;
  std::ptrdiff_t first = 0, stride = 0;
};

struct Frame {
  std::vector<PlaneBytes> plane;
  std::vector<oracle::Plane> values;  // a component each
};

LumaDesc random_desc(Random& random) {
  LumaDesc desc;
  const bool wide = random.chance(0.5);
  desc.type = wide ? convolve::SampleType::u16 : convolve::SampleType::u8;
  if (random.chance(0.4)) desc.shift = random.integer(1, wide ? 7 : 2);
  desc.width = random.chance(0.2) ? random.integer(1, 8) : random.chance(0.1) ? 5000 : random.integer(9, 300);
  desc.height = random.chance(0.2) ? random.integer(1, 3) : random.integer(4, 40);
  desc.terms = random.chance(0.5) ? 1 : 3;
  const bool planar = random.chance(0.5);
  const int step = planar ? 1 : desc.terms == 1 ? random.integer(1, 4) : random.integer(3, 4);
  const int first = random.integer(0, planar ? 1 : step - desc.terms);
  for (int i = 0; i < desc.terms; ++i) {
    LumaTerm& term = desc.term[static_cast<std::size_t>(i)];
    term.plane = planar ? i : 0;
    term.offset = planar ? first : first + i;
    term.step = step;
  }
  if (random.chance(0.5)) std::swap(desc.term[0], desc.term[static_cast<std::size_t>(desc.terms - 1)]);
  constexpr int bt709[] = {2126, 7152, 722};
  if (desc.terms == 3)
    for (std::size_t i = 0; i < 3; ++i) desc.term[i].weight = bt709[i];
  return desc;
}

Frame random_frame(const LumaDesc& desc, Random& random) {
  const int bytes = bytes_per_sample(desc.type);
  Frame frame;
  int planes = 0;
  for (int i = 0; i < desc.terms; ++i) planes = std::max(planes, desc.term[static_cast<std::size_t>(i)].plane + 1);
  const int reach = desc.term[0].step * (desc.width - 1) + 4 + 1;  // past the last component of a row
  const bool noise = random.chance(0.7), aligned = random.chance(0.5);
  for (int p = 0; p < planes; ++p) {
    PlaneBytes plane;
    std::ptrdiff_t row = static_cast<std::ptrdiff_t>(reach + random.integer(0, 9)) * bytes;
    if (aligned) row = (row + 15) / 16 * 16;
    const std::ptrdiff_t before = aligned ? 0 : static_cast<std::ptrdiff_t>(random.integer(0, 3)) * bytes;
    plane.bytes.resize(static_cast<std::size_t>(before + row * desc.height));
    for (std::uint8_t& byte : plane.bytes) byte = noise ? static_cast<std::uint8_t>(random.next()) : 255;
    if (!noise && random.chance(0.5)) std::fill(plane.bytes.begin(), plane.bytes.end(), std::uint8_t{0});
    const bool upside_down = random.chance(0.2);
    plane.first = before + (upside_down ? row * (desc.height - 1) : 0);
    plane.stride = upside_down ? -row : row;
    frame.plane.push_back(std::move(plane));
  }
  for (int i = 0; i < desc.terms; ++i) {
    const LumaTerm& term = desc.term[static_cast<std::size_t>(i)];
    const PlaneBytes& plane = frame.plane[static_cast<std::size_t>(term.plane)];
    oracle::Plane values{desc.width, desc.height, {}};
    for (int y = 0; y < desc.height; ++y)
      for (int x = 0; x < desc.width; ++x) {
        const auto at =
            static_cast<std::size_t>(plane.first + y * plane.stride + (term.offset + x * term.step) * bytes);
        const int word = bytes == 1 ? plane.bytes[at] : plane.bytes[at] | plane.bytes[at + 1] << 8;
        values.samples.push_back(word >> desc.shift);
      }
    frame.values.push_back(std::move(values));
  }
  return frame;
}

// A frame in the backend's memory.
struct Placed {
  std::vector<Block> blocks;
  convolve::Image image;

  Placed(Memory& memory, const Frame& frame) {
    for (std::size_t p = 0; p < frame.plane.size(); ++p) {
      const PlaneBytes& plane = frame.plane[p];
      blocks.emplace_back(memory, plane.bytes.size());
      memory.upload(blocks[p].data(), std::as_bytes(std::span(plane.bytes)));
      image.plane[p] = {static_cast<std::byte*>(blocks[p].data()) + plane.first, plane.stride};
    }
  }
};

std::string run(std::uint64_t seed, Memory& memory, convolve::Backend& backend) {
  Random random(seed);
  const LumaDesc desc = random_desc(random);
  const std::unique_ptr<convolve::LumaDifference> difference = backend.make_luma_difference(desc);
  std::vector<int> weights;
  for (int i = 0; i < desc.terms; ++i) weights.push_back(desc.term[static_cast<std::size_t>(i)].weight);
  std::vector<Frame> frames;
  for (int i = 0; i < 3; ++i) frames.push_back(random_frame(desc, random));
  frames.push_back(frames.back());  // the same picture: a sum of 0
  std::vector<Placed> placed;
  for (const Frame& frame : frames) placed.emplace_back(memory, frame);
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const char* fault = difference->enqueue(placed[i - 1].image, placed[i].image, memory.stream(0));
    std::string error = fault ? fault : memory.synchronize();
    if (!error.empty()) return error;
    const std::uint64_t wanted = oracle::luma_difference(frames[i - 1].values, frames[i].values, weights);
    if (difference->sum() == wanted) continue;
    char text[200];
    std::snprintf(text, sizeof text, "%dx%d, %d bytes a sample, shift %d, %d terms, step %d, pair %zu: %llu, not %llu",
                  desc.width, desc.height, bytes_per_sample(desc.type), desc.shift, desc.terms, desc.term[0].step, i,
                  static_cast<unsigned long long>(difference->sum()), static_cast<unsigned long long>(wanted));
    return text;
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = random_options(argc, argv, {.backend = "cpu", .cases = 2000, .seed = 20260101}, has_cuda);
  if (!options) return 2;
  OpenBackend opened = open_cpu(1);
  if (options->backend == "cuda") try {
      opened = open_cuda();
    } catch (const std::exception& error) {
      std::printf("skipped: %s\n", error.what());
      return 77;
    }
  int failures = 0;
  for (int i = 0; i < options->cases; ++i) {
    const std::uint64_t seed = options->case_seed(i);
    const std::string wrong = run(seed, *opened.memory, *opened.backend);
    if (!wrong.empty() && ++failures <= 10)
      std::printf("FAILED: seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
  }
  std::printf("%s: %d cases, %d failed\n", options->backend.c_str(), options->cases, failures);
  return failures == 0 ? 0 : 1;
}

// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Resident: an image of a trial in the memory of the backend that it is run on.
#pragma once

#include <cstddef>
#include <vector>

#include "convolve/plane.hpp"
#include "initialized.hpp"
#include "memory.hpp"
#include "trial.hpp"

namespace conformance {

struct Resident {
  std::vector<Block> blocks;
  convolve::Image image;

  Resident(Memory& memory, const ImageBytes& bytes) {
    for (std::size_t p = 0; p < bytes.size(); ++p) {
      blocks.emplace_back(memory, bytes[p].bytes.size(), (bytes[p].first | bytes[p].stride) % vector_bytes == 0);
      image.plane[p] = {static_cast<std::byte*>(blocks[p].data()) + bytes[p].first, bytes[p].stride};
    }
    upload(memory, bytes);
  }
  void upload(Memory& memory, const ImageBytes& bytes) const {
    for (std::size_t p = 0; p < bytes.size(); ++p) memory.upload(blocks[p].data(), bytes[p].bytes);
  }
  ImageBytes download(Memory& memory, const ImageBytes& like) const {
    ImageBytes found = like;
    for (std::size_t p = 0; p < found.size(); ++p) {
      memory.download(found[p].bytes, blocks[p].data());
      remember(found[p].bytes.data(), found[p].bytes.size());
    }
    return found;
  }
  // For MemorySanitizer: of an input the samples alone are known, of an output nothing until it is made.
  void forget_all(const ImageBytes& like) const {
    for (std::size_t p = 0; p < like.size(); ++p) forget(blocks[p].data(), like[p].bytes.size());
  }
  void remember_samples(const convolve::FrameLayout& layout) const {
    for_each_sample(layout, [](const std::byte* sample, int size) {
      remember(sample, static_cast<std::size_t>(size));
      return true;
    });
  }
  bool all_samples_known(const convolve::FrameLayout& layout) const {
    return for_each_sample(
        layout, [](const std::byte* sample, int size) { return is_known(sample, static_cast<std::size_t>(size)); });
  }

 private:
  // Goes on while `each` returns true; whether it always did.
  template <class Each>
  bool for_each_sample(const convolve::FrameLayout& layout, Each each) const {
    const int size = convolve::bytes_per_sample(layout.type);
    for (int p = 0; p < layout.planes; ++p)
      for (int i = 0; i < layout.plane[p].components; ++i) {
        const convolve::Component& k = layout.plane[p].component[i];
        for (int y = 0; y < k.height; ++y)
          for (int x = 0; x < k.width; ++x)
            if (!each(static_cast<const std::byte*>(image.plane[p].data) + y * image.plane[p].stride +
                          (k.offset + static_cast<std::ptrdiff_t>(x) * k.step) * size,
                      size))
              return false;
      }
    return true;
  }
};

}  // namespace conformance

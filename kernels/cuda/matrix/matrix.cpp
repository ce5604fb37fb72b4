// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `matrix`: which of its kernels serves a case, and with which taps. Each kernel's plan stands beside it;
// kernels/README.md draws the products.
#include "cuda/matrix/matrix.hpp"

#include <memory>

#include "cuda/matrix/dense_args.hpp"
#include "cuda/matrix/packed_422.hpp"
#include "cuda/matrix/tiles.hpp"
#include "cuda/matrix/triples.hpp"
#include "cuda/matrix/wgmma.hpp"

namespace convolve::cuda {
namespace {

/// A kernel and the taps that it is made with.
struct MatrixCase {
  enum Kernel { none, dense, sparse, temporal, temporal_u16, triples, packed_422, warpgroups, warpgroups_u16 };
  Kernel kernel = none;
  MatrixTaps taps;
  U16Taps u16_taps;  ///< of warpgroups_u16, in place of `taps`
};

/// True where the GPU and the samples are such as any of the kernels knows; else `why` says what is in the way.
bool serves_samples(const Device& device, const FrameLayout& layout, std::string& why) {
  if (device.capability < 80)
    why = "GPUs of compute capability below 8.0";
  else if (layout.type == SampleType::f32 || (layout.type == SampleType::u8 && layout.shift != 0))
    why = "samples other than plain 8-bit ones, and 16-bit ones";
  else
    return true;
  return false;
}

/// The kernel for planes of 8-bit samples; none, and `why`, where there is none.
MatrixCase find_u8_case(const Device& device, const PlanDesc& desc, std::string& why) {
  MatrixCase found;
  const bool several_frames = desc.filter.depth() > 1, fits = fits_dense(desc.filter);
  const bool three = max_components_of(desc.layout) == 3;
  if (three && several_frames && !serves_matrix_temporal(desc, why)) {
    if (serves_matrix_triples(device, desc, found.taps, why)) found.kernel = MatrixCase::triples;
    return found;
  }
  if (!fits) {
    if (serves_matrix_wgmma(device, desc, found.taps, why)) {
      found.kernel = MatrixCase::warpgroups;
      return found;
    }
    if ((three && !several_frames) || is_over_max_taps(desc.filter)) return found;  // no other kernel takes these
  }
  LimbSums sums = LimbSums::joined;
  if (several_frames) {
    if (!serves_matrix_temporal(desc, why)) return found;
  } else if (fits) {
    sums = dense_limb_sums(dense_radius(desc.filter), max_components_of(desc.layout));
  } else {
    sums = LimbSums::separate;
    if (!serves_matrix_sparse(desc, why)) return found;
  }
  if (make_matrix_taps(desc, sums, found.taps, why))
    found.kernel = several_frames ? MatrixCase::temporal : fits ? MatrixCase::dense : MatrixCase::sparse;
  else if (three && !several_frames && serves_matrix_wgmma(device, desc, found.taps, why))
    found.kernel = MatrixCase::warpgroups;  // which may have a third limb
  return found;
}

/// The kernel that serves a case; none, and `why`, where there is none.
MatrixCase find_case(const Device& device, const PlanDesc& desc, std::string& why) {
  MatrixCase found;
  if (!serves_samples(device, desc.layout, why)) return found;
  if (is_packed_422_u8(desc.layout)) {
    if (serves_matrix_packed_422(device, desc, found.taps, why)) found.kernel = MatrixCase::packed_422;
  } else if (!serves_planes(desc, why)) {
    return found;
  } else if (desc.layout.type == SampleType::u8) {
    return find_u8_case(device, desc, why);
  } else if (desc.filter.depth() > 1) {
    if (serves_matrix_temporal_u16(desc, found.taps, why)) found.kernel = MatrixCase::temporal_u16;
  } else if (serves_matrix_u16(device, desc, found.u16_taps, why)) {
    found.kernel = MatrixCase::warpgroups_u16;
  }
  return found;
}

bool serves(const Device& device, const PlanDesc& desc, std::string& why) {
  return find_case(device, desc, why).kernel != MatrixCase::none;
}

std::unique_ptr<Plan> make(const Device& device, const PlanDesc& desc) {
  std::string why;
  if (auto plan = make_matrix_if_served(device, desc, why)) return plan;
  throw PlanError("matrix: " + why);
}

}  // namespace

std::unique_ptr<Plan> make_matrix_if_served(const Device& device, const PlanDesc& desc, std::string& why) {
  const MatrixCase found = find_case(device, desc, why);
  switch (found.kernel) {
    case MatrixCase::none:
      break;
    case MatrixCase::dense:
      return make_matrix_dense(device, desc, found.taps);
    case MatrixCase::sparse:
      return make_matrix_sparse(device, desc, found.taps);
    case MatrixCase::temporal:
      return make_matrix_temporal(device, desc, found.taps);
    case MatrixCase::temporal_u16:
      return make_matrix_temporal_u16(device, desc, found.taps);
    case MatrixCase::triples:
      return make_matrix_triples(device, desc, found.taps);
    case MatrixCase::packed_422:
      return make_matrix_packed_422(device, desc, found.taps);
    case MatrixCase::warpgroups:
      return make_matrix_wgmma(device, desc, found.taps);
    case MatrixCase::warpgroups_u16:
      return make_matrix_u16(device, desc, found.u16_taps);
  }
  return nullptr;
}

const Entry matrix{Algorithm::matrix, serves, make, max_dense_taps};

}  // namespace convolve::cuda

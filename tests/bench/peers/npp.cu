// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NPP as a peer: FilterBorder, the separable Gaussian, a row filter and then a column filter (FilterRowColumn, which
// rounds to bytes in between), the box, and Sobel's gradient, whose magnitudes have 16 bits; on the frames and by the
// method of bench_cuda.cpp (graph replay, rotating buffers, random samples, medians, a copy beside), as JSON rows of
// the same form.
//
//   nvcc -O3 -std=c++17 -arch=native npp.cu -lnppif -lnppc -o npp && ./npp > npp.json
//
// A program of its own, built on the GPU host: NPP is large, and bench should build where it is absent.
#include <npp.h>
#include <nppi_filtering_functions.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#define CHECK(call)                                                             \
  do {                                                                          \
    const cudaError_t status = (call);                                          \
    if (status != cudaSuccess) {                                                \
      std::fprintf(stderr, "npp: %s: %s\n", #call, cudaGetErrorString(status)); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (0)

namespace {

constexpr int width = 3840, height = 2160;

struct Format {
  const char* name;
  int components, sample_bytes;
};
constexpr Format formats[] = {{"GRAY8", 1, 1}, {"RGB", 3, 1}, {"RGBA", 4, 1}, {"GRAY16", 1, 2}, {"F32", 1, 4}};

/// Median time of `work()` in microseconds over so many runs, after two that do not count.
double median_us(cudaStream_t stream, int runs, const std::function<void()>& work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < runs + 2; ++i) {
    float ms = 0;
    CHECK(cudaEventRecord(start, stream));
    work();
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (i > 1) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[runs / 2] * 1000.0;
}

struct Timing {
  double us;    ///< of one call; not positive: NPP's status
  bool replay;  ///< false: the call cannot be captured, and was launched
};

/// Of some two milliseconds of calls, replayed as a graph where NPP allows it. Calls of over 10 ms are launched.
Timing measure(cudaStream_t stream, const std::function<int(int)>& call) {
  if (const int status = call(0); status != 0) return {-std::abs(static_cast<double>(status)), false};
  CHECK(cudaStreamSynchronize(stream));
  const double rough_us = median_us(stream, 1, [&] { call(1); });
  if (rough_us > 10e3) return {rough_us, false};
  const int frames = static_cast<int>(std::clamp(2000 / rough_us, 1.0, 96.0));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  int status = 0;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < frames && status == 0; ++i) status = call(i);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || status != 0) {
    cudaGetLastError();
    const auto launch = [&] {
      for (int i = 0; i < frames; ++i) call(i);
    };
    return {median_us(stream, 15, launch) / frames, false};
  }
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  const double us = median_us(stream, 15, [&] { CHECK(cudaGraphLaunch(executable, stream)); }) / frames;
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  return {us, true};
}

/// A filter of side x side real taps in single precision.
int full_rank(const Format& format, void* from, void* to, int side, const float* taps,
              const NppStreamContext& context) {
  const NppiSize size{width, height}, mask{side, side};
  const NppiPoint origin{0, 0}, anchor{side / 2, side / 2};
  const int step = width * format.components * format.sample_bytes;
  switch (format.components * 10 + format.sample_bytes) {
    case 11:
      return nppiFilterBorder32f_8u_C1R_Ctx(static_cast<Npp8u*>(from), step, size, origin, static_cast<Npp8u*>(to),
                                            step, size, taps, mask, anchor, NPP_BORDER_REPLICATE, context);
    case 31:
      return nppiFilterBorder32f_8u_C3R_Ctx(static_cast<Npp8u*>(from), step, size, origin, static_cast<Npp8u*>(to),
                                            step, size, taps, mask, anchor, NPP_BORDER_REPLICATE, context);
    case 41:
      return nppiFilterBorder32f_8u_C4R_Ctx(static_cast<Npp8u*>(from), step, size, origin, static_cast<Npp8u*>(to),
                                            step, size, taps, mask, anchor, NPP_BORDER_REPLICATE, context);
    case 12:
      return nppiFilterBorder32f_16u_C1R_Ctx(static_cast<Npp16u*>(from), step, size, origin, static_cast<Npp16u*>(to),
                                             step, size, taps, mask, anchor, NPP_BORDER_REPLICATE, context);
    default:
      return nppiFilterBorder_32f_C1R_Ctx(static_cast<Npp32f*>(from), step, size, origin, static_cast<Npp32f*>(to),
                                          step, size, taps, mask, anchor, NPP_BORDER_REPLICATE, context);
  }
}

/// The separable Gaussian of bytes of one or three components.
int gauss(const Format& format, void* from, void* to, int side, const float* taps, const NppStreamContext& context) {
  const auto filter =
      format.components == 1 ? nppiFilterGaussAdvancedBorder_8u_C1R_Ctx : nppiFilterGaussAdvancedBorder_8u_C3R_Ctx;
  const int step = width * format.components;
  return filter(static_cast<Npp8u*>(from), step, {width, height}, {0, 0}, static_cast<Npp8u*>(to), step,
                {width, height}, side, const_cast<float*>(taps), NPP_BORDER_REPLICATE, context);
}

/// A row filter, then a column filter, on bytes of one, three or four components; `between` holds bytes too.
int row_column(const Format& format, void* from, void* between, void* to, int side, const float* taps,
               const NppStreamContext& context) {
  const auto row = format.components == 1   ? nppiFilterRowBorder32f_8u_C1R_Ctx
                   : format.components == 3 ? nppiFilterRowBorder32f_8u_C3R_Ctx
                                            : nppiFilterRowBorder32f_8u_C4R_Ctx;
  const auto column = format.components == 1   ? nppiFilterColumnBorder32f_8u_C1R_Ctx
                      : format.components == 3 ? nppiFilterColumnBorder32f_8u_C3R_Ctx
                                               : nppiFilterColumnBorder32f_8u_C4R_Ctx;
  const int step = width * format.components;
  const NppiSize size{width, height};
  const int status = row(static_cast<Npp8u*>(from), step, size, {0, 0}, static_cast<Npp8u*>(between), step, size, taps,
                         side, side / 2, NPP_BORDER_REPLICATE, context);
  if (status != 0) return status;
  return column(static_cast<Npp8u*>(between), step, size, {0, 0}, static_cast<Npp8u*>(to), step, size, taps, side,
                side / 2, NPP_BORDER_REPLICATE, context);
}

/// The box of bytes of one, three or four components.
int box(const Format& format, void* from, void* to, int side, const NppStreamContext& context) {
  const auto filter = format.components == 1   ? nppiFilterBoxBorder_8u_C1R_Ctx
                      : format.components == 3 ? nppiFilterBoxBorder_8u_C3R_Ctx
                                               : nppiFilterBoxBorder_8u_C4R_Ctx;
  const int step = width * format.components;
  return filter(static_cast<Npp8u*>(from), step, {width, height}, {0, 0}, static_cast<Npp8u*>(to), step,
                {width, height}, {side, side}, {side / 2, side / 2}, NPP_BORDER_REPLICATE, context);
}

/// The magnitudes of both derivatives of GRAY8, in 16 bits.
int sobel(void* from, void* to, const NppStreamContext& context) {
  return nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(
      static_cast<Npp8u*>(from), width, {width, height}, {0, 0}, nullptr, 0, nullptr, 0, static_cast<Npp16s*>(to),
      2 * width, nullptr, 0, {width, height}, NPP_MASK_SIZE_3_X_3, nppiNormL2, NPP_BORDER_REPLICATE, context);
}

/// Taps of sum 1 on the device: side x side random ones, or the side of a Gaussian as wide as the preset's.
float* device_taps(int side, bool factor) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-0.3f, 0.9f);
  std::vector<float> taps(factor ? side : side * side);
  for (int i = 0; i < static_cast<int>(taps.size()); ++i) {
    const double distance = (i - side / 2) / (side / 6.0);
    taps[i] = factor ? static_cast<float>(std::exp(-0.5 * distance * distance)) : value(random);
  }
  const float sum = std::accumulate(taps.begin(), taps.end(), 0.0f);
  for (float& tap : taps) tap /= sum;
  float* device = nullptr;
  CHECK(cudaMalloc(&device, sizeof(float) * taps.size()));
  CHECK(cudaMemcpy(device, taps.data(), sizeof(float) * taps.size(), cudaMemcpyHostToDevice));
  return device;
}

NppStreamContext context_of(cudaStream_t stream) {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  NppStreamContext context{};
  context.hStream = stream;
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  return context;
}

/// Frames of one format that rotate over four times the L2, and room for magnitudes and for what lies between two
/// passes.
class Frames {
 public:
  Frames(const Format& format, int l2_bytes)
      : bytes_(std::size_t{width} * height * format.components * format.sample_bytes),
        pairs_(std::max(6, static_cast<int>((4 * std::size_t(l2_bytes) + 2 * bytes_ - 1) / (2 * bytes_)))) {
    std::mt19937 random(1);
    std::vector<unsigned char> samples(bytes_);
    if (format.sample_bytes == 4)
      for (std::size_t i = 0; i < bytes_ / 4; ++i)
        reinterpret_cast<float*>(samples.data())[i] = static_cast<float>(random() >> 24);
    else
      for (unsigned char& sample : samples) sample = static_cast<unsigned char>(random());
    for (int i = 0; i < pairs_; ++i) {
      memory_.push_back(nullptr);
      CHECK(cudaMalloc(&memory_.back(), bytes_));
      CHECK(cudaMemcpy(memory_.back(), samples.data(), bytes_, cudaMemcpyHostToDevice));
    }
    for (int i = 0; i < pairs_ + 1; ++i) {
      memory_.push_back(nullptr);
      CHECK(cudaMalloc(&memory_.back(), 2 * bytes_));
    }
  }
  ~Frames() {
    for (void* p : memory_) cudaFree(p);
  }
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  void* in(int i) const { return memory_[i % pairs_]; }
  void* out(int i) const { return memory_[pairs_ + i % pairs_]; }
  void* between() const { return memory_.back(); }
  int copy(int i, cudaStream_t stream) const {
    return static_cast<int>(cudaMemcpyAsync(out(i), in(i), bytes_, cudaMemcpyDeviceToDevice, stream));
  }

 private:
  std::size_t bytes_;
  int pairs_;
  std::vector<void*> memory_;
};

/// Prints the rows of one format, each after a comma but the first.
class Rows {
 public:
  explicit Rows(cudaStream_t stream, int l2_bytes)
      : stream_(stream), l2_bytes_(l2_bytes), context_(context_of(stream)) {}

  void print(const Format& format) {
    const Frames frames(format, l2_bytes_);
    const double copy_us = measure(stream_, [&](int i) { return frames.copy(i, stream_); }).us;
    for (const int side : {3, 5, 7, 9, 11, 15, 31, 63, 127, 255}) {
      const auto row = [&](const char* what, const char* tap_class, const std::function<int(int)>& call) {
        print(what, format.name, side, tap_class, measure(stream_, call), copy_us);
      };
      float* const taps = side <= 31 ? device_taps(side, false) : nullptr;
      float* const factor = device_taps(side, true);
      if (side <= 31)
        row("FilterBorder", "real",
            [&](int i) { return full_rank(format, frames.in(i), frames.out(i), side, taps, context_); });
      if (format.sample_bytes == 1) bytes(format, frames, side, factor, row);
      CHECK(cudaStreamSynchronize(stream_));
      CHECK(cudaFree(taps));
      CHECK(cudaFree(factor));
    }
  }

 private:
  template <class Row>
  void bytes(const Format& format, const Frames& frames, int side, const float* factor, const Row& row) {
    if (format.components != 3 || side <= 31)
      row("FilterBoxBorder", "box", [&](int i) { return box(format, frames.in(i), frames.out(i), side, context_); });
    if (format.components == 1 || (format.components == 3 && side <= 31))
      row("FilterGauss", "separable-real",
          [&](int i) { return gauss(format, frames.in(i), frames.out(i), side, factor, context_); });
    row("FilterRowColumn", "separable-real", [&](int i) {
      return row_column(format, frames.in(i), frames.between(), frames.out(i), side, factor, context_);
    });
    if (side == 3 && format.components == 1)
      row("GradientVectorSobel", "sobel-magnitude",
          [&](int i) { return sobel(frames.in(i), frames.out(i), context_); });
  }
  void print(const char* what, const char* format, int side, const char* tap_class, Timing time, double copy_us) {
    if (time.us <= 0) {
      std::fprintf(stderr, "npp: %s %s %dx%d: status %.0f\n", what, format, side, side, time.us);
      return;
    }
    std::printf(
        "%s{\"name\": \"npp/%s/%s/%dx%d/%s\", \"us\": %.3f, \"copy_us\": %.3f, \"times_copy\": %.3f, \"replay\": %s}",
        first_ ? "" : ",\n", what, format, side, side, tap_class, time.us, copy_us, time.us / copy_us,
        time.replay ? "true" : "false");
    first_ = false;
  }

  cudaStream_t stream_;
  int l2_bytes_;
  NppStreamContext context_;
  bool first_ = true;
};

}  // namespace

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  const NppLibraryVersion* version = nppGetLibVersion();
  std::printf("{\"context\": {\"gpu\": \"%s\", \"frame\": \"%dx%d\", \"npp\": \"%d.%d.%d\"}, \"benchmarks\": [\n",
              properties.name, width, height, version->major, version->minor, version->build);
  Rows rows(stream, properties.l2CacheSize);
  for (const Format& format : formats) rows.print(format);
  std::printf("\n]}\n");
}

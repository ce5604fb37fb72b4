// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NPP as a peer: FilterBorder, the separable Gaussian, the box, and Sobel's gradient, whose magnitudes have 16 bits; on
// the frames and by the method of bench_cuda.cpp (graph replay, rotating buffers, random samples, medians, a copy
// beside), as JSON rows of the same form.
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
#include <random>
#include <string>
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

/// Median time of `work()` in microseconds.
double median_us(cudaStream_t stream, const std::function<void()>& work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < 17; ++i) {
    float ms = 0;
    CHECK(cudaEventRecord(start, stream));
    work();
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (i > 1) times.push_back(ms);
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7] * 1000.0;
}

struct Timing {
  double us;    ///< of one call; not positive: NPP's status
  bool replay;  ///< false: the call cannot be captured, and was launched
};

/// Of `frames` calls, replayed as a graph where NPP allows it.
Timing measure(cudaStream_t stream, int frames, const std::function<int(int)>& call) {
  if (const int status = call(0); status != 0) return {-std::abs(static_cast<double>(status)), false};
  CHECK(cudaStreamSynchronize(stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  int status = 0;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < frames && status == 0; ++i) status = call(i);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || status != 0) {
    cudaGetLastError();
    return {median_us(stream,
                      [&] {
                        for (int i = 0; i < frames; ++i) call(i);
                      }) /
                frames,
            false};
  }
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  const double us = median_us(stream, [&] { CHECK(cudaGraphLaunch(executable, stream)); }) / frames;
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

/// The separable Gaussian of GRAY8.
int gauss(void* from, void* to, int side, const float* taps, const NppStreamContext& context) {
  return nppiFilterGaussAdvancedBorder_8u_C1R_Ctx(static_cast<Npp8u*>(from), width, {width, height}, {0, 0},
                                                  static_cast<Npp8u*>(to), width, {width, height}, side, taps,
                                                  NPP_BORDER_REPLICATE, context);
}

/// The box of bytes of one, three or four components.
int box(void* from, void* to, int components, int side, const NppStreamContext& context) {
  const auto filter = components == 1   ? nppiFilterBoxBorder_8u_C1R_Ctx
                      : components == 3 ? nppiFilterBoxBorder_8u_C3R_Ctx
                                        : nppiFilterBoxBorder_8u_C4R_Ctx;
  return filter(static_cast<Npp8u*>(from), width * components, {width, height}, {0, 0}, static_cast<Npp8u*>(to),
                width * components, {width, height}, {side, side}, {side / 2, side / 2}, NPP_BORDER_REPLICATE, context);
}

/// The magnitudes of both derivatives of GRAY8, in 16 bits.
int sobel(void* from, void* to, const NppStreamContext& context) {
  return nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(
      static_cast<Npp8u*>(from), width, {width, height}, {0, 0}, nullptr, 0, nullptr, 0, static_cast<Npp16s*>(to),
      2 * width, nullptr, 0, {width, height}, NPP_MASK_SIZE_3_X_3, nppiNormL2, NPP_BORDER_REPLICATE, context);
}

}  // namespace

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
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

  float* taps = nullptr;
  std::mt19937 random(1);
  std::vector<float> host_taps(225);
  for (float& tap : host_taps) tap = std::uniform_real_distribution<float>(-0.3f, 0.9f)(random) / 70;
  CHECK(cudaMalloc(&taps, sizeof(float) * 225));
  CHECK(cudaMemcpy(taps, host_taps.data(), sizeof(float) * 225, cudaMemcpyHostToDevice));

  bool first = true;
  std::printf("{\"context\": {\"gpu\": \"%s\", \"frame\": \"%dx%d\"}, \"benchmarks\": [\n", properties.name, width,
              height);
  for (const Format& format : formats) {
    const std::size_t bytes = std::size_t{width} * height * format.components * format.sample_bytes;
    const int pairs = std::max<int>(6, static_cast<int>((4 * properties.l2CacheSize + 2 * bytes - 1) / (2 * bytes)));
    std::vector<unsigned char> samples(bytes);
    if (format.sample_bytes == 4)
      for (std::size_t i = 0; i < bytes / 4; ++i)
        reinterpret_cast<float*>(samples.data())[i] = static_cast<float>(random() >> 24);
    else
      for (unsigned char& sample : samples) sample = static_cast<unsigned char>(random());
    std::vector<void*> in(pairs), out(pairs);
    for (int i = 0; i < pairs; ++i) {
      CHECK(cudaMalloc(&in[i], bytes));
      CHECK(cudaMalloc(&out[i], 2 * bytes));  // magnitudes
      CHECK(cudaMemcpy(in[i], samples.data(), bytes, cudaMemcpyHostToDevice));
    }
    const double copy_us = measure(stream, 96, [&](int i) {
                             return static_cast<int>(cudaMemcpyAsync(out[i % pairs], in[i % pairs], bytes,
                                                                     cudaMemcpyDeviceToDevice, stream));
                           }).us;
    for (int side : {3, 5, 7, 9, 11, 15, 31, 63}) {
      const int frames = side <= 15 ? 16 : 4;
      if (side > 15 && format.sample_bytes > 1) continue;
      const auto row = [&](const char* what, const char* tap_class, Timing time) {
        if (time.us <= 0) {
          std::fprintf(stderr, "npp: %s %s %dx%d: status %.0f\n", what, format.name, side, side, time.us);
          return;
        }
        std::printf(
            "%s{\"name\": \"npp/%s/%s/%dx%d/%s\", \"us\": %.3f, \"copy_us\": %.3f, \"times_copy\": %.3f, \"replay\": "
            "%s}",
            first ? "" : ",\n", what, format.name, side, side, tap_class, time.us, copy_us, time.us / copy_us,
            time.replay ? "true" : "false");
        first = false;
      };
      if (side <= 15)
        row("FilterBorder", "real", measure(stream, frames, [&](int i) {
              return full_rank(format, in[i % pairs], out[i % pairs], side, taps, context);
            }));
      if (format.sample_bytes == 1 && side > 7)
        row("FilterBoxBorder", "box", measure(stream, frames, [&](int i) {
              return box(in[i % pairs], out[i % pairs], format.components, side, context);
            }));
      if (format.components == 1 && format.sample_bytes == 1)
        row("FilterGauss", "separable-real",
            measure(stream, frames, [&](int i) { return gauss(in[i % pairs], out[i % pairs], side, taps, context); }));
      if (side == 3 && format.components == 1 && format.sample_bytes == 1)
        row("GradientVectorSobel", "sobel-magnitude",
            measure(stream, frames, [&](int i) { return sobel(in[i % pairs], out[i % pairs], context); }));
    }
    for (int i = 0; i < pairs; ++i) {
      CHECK(cudaFree(in[i]));
      CHECK(cudaFree(out[i]));
    }
  }
  std::printf("\n]}\n");
}

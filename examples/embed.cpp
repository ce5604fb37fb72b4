// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels without GStreamer: blurs a grey picture, read and written as binary PGM.
//
//   embed IN.pgm OUT.pgm
//
// A filter and a layout make a plan once; the plan then runs for every frame. With CUDA the same code takes
// make_cuda_backend(), device memory, and a stream.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "convolve/backend.hpp"
#include "convolve/preset.hpp"

namespace {

struct Picture {
  int width = 0, height = 0;
  std::vector<unsigned char> samples;
};

Picture read(const char* path) {
  Picture picture;
  std::FILE* file = std::fopen(path, "rb");
  if (!file || std::fscanf(file, "P5 %d %d 255", &picture.width, &picture.height) != 2 || std::fgetc(file) == EOF) {
    std::fprintf(stderr, "%s: no 8-bit PGM\n", path);
    std::exit(1);
  }
  picture.samples.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height));
  if (std::fread(picture.samples.data(), 1, picture.samples.size(), file) != picture.samples.size()) {
    std::fprintf(stderr, "%s: it ends too early\n", path);
    std::exit(1);
  }
  std::fclose(file);
  return picture;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "embed IN.pgm OUT.pgm\n");
    return 2;
  }
  Picture in = read(argv[1]);
  std::vector<unsigned char> out(in.samples.size());

  convolve::PlanDesc desc;
  desc.filter = convolve::Filter(convolve::make_preset(convolve::Preset::gaussian_blur, {.radius = 4}));
  desc.border = convolve::Border::reflect_101;
  desc.layout.planes = 1;
  desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0].width = in.width;
  desc.layout.plane[0].component[0].height = in.height;

  const std::unique_ptr<convolve::Backend> backend = convolve::make_cpu_backend();
  const std::unique_ptr<convolve::Plan> plan = backend->make_plan(desc);
  std::printf("%s\n", plan->describe().c_str());

  convolve::Image from, to;
  from.plane[0] = {in.samples.data(), in.width};
  to.plane[0] = {out.data(), in.width};
  convolve::Window window;
  window.depth = 1;
  window.image[0] = &from;
  if (const char* error = plan->enqueue(window, to, nullptr)) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }

  std::FILE* file = std::fopen(argv[2], "wb");
  if (!file) {
    std::perror(argv[2]);
    return 1;
  }
  std::fprintf(file, "P5 %d %d 255\n", in.width, in.height);
  const bool written = std::fwrite(out.data(), 1, out.size(), file) == out.size();
  return std::fclose(file) == 0 && written ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

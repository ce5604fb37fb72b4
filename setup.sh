#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# setup.sh [--plugin | --demo] [MESON-ARGUMENT...]: installs what is missing (Debian 12, Ubuntu 24.04 and later), builds.
# Without --plugin everything is built into build/: the plugin for the usual GPUs, tests and benchmarks.
# With --plugin the plugin alone is built into build-plugin/, for this machine: for its GPUs, if it has any, and for the
# instructions of its processor (on one that lacks them it runs, too, but slowly). A build/ that is already there is
# brought up to date and used instead. The last line printed is the folder of the plugin, to be set as GST_PLUGIN_PATH.
# The meson arguments are those of a first build.
# --demo is --plugin for who is in a hurry: where that would build for a GPU and has not yet, build-demo/ gets a plugin
# with the basic kernels alone, which compile in a sixth of the time and are slower on the GPU.
# Called by pipelines/demo.sh (--demo) and tests/run.sh.
set -euo pipefail
cd "$(dirname "$0")"

plugin_packages=(
  g++ meson ninja-build pkg-config
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev libhwy-dev
)
run_packages=(
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
  gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-opencv opencv-data
  python3 python3-gi python3-numpy gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
  ffmpeg imagemagick mate-backgrounds fonts-dejavu-core
)
test_packages=(libgtest-dev libbenchmark-dev)

what=all
if [ "${1:-}" = --plugin ] || [ "${1:-}" = --demo ]; then
  what=${1#--}
  shift
fi
packages=("${plugin_packages[@]}" "${run_packages[@]}")
[ "$what" != all ] || packages+=("${test_packages[@]}")

install_packages() {
  local missing=()
  for package in "${packages[@]}" "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "Installing: ${missing[*]}"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Run as root, or install by hand: ${missing[*]}" >&2; exit 1; }
    root=(sudo)
  fi
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

if command -v apt-get >/dev/null; then
  # shellcheck disable=SC2086  # a list of names
  install_packages ${EXTRA_PACKAGES:-}
else
  echo "No apt-get here: going on with what is installed. Needed (Debian's names): ${packages[*]}"
fi

export NINJA_STATUS="[%f of %t, %es] "
if [ "$what" = all ]; then
  [ -f build/build.ninja ] || meson setup build "$@"
  ninja -C build
  exit
fi

build=build
if [ ! -f build/build.ninja ]; then
  build="build-plugin"
  # The machine code of one GPU takes a seventh of the time that the usual seven take, and none takes none.
  chips=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -u | paste -sd, || true)
  if [[ ! $chips =~ ^[0-9,]+$ ]]; then
    cuda=(-Dcuda=disabled)
    echo "No NVIDIA GPU was found (nvidia-smi): building the plugin for the CPU alone."
  elif ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    cuda=(-Dcuda=disabled)
    echo "There is an NVIDIA GPU but no nvcc (CUDA toolkit 12.0 or later): building the plugin for the CPU alone."
  else
    cuda=("-Dcuda-arch=$chips")
    kernels="all kernels"
    if [ "$what" = demo ] && [ ! -f $build/build.ninja ]; then
      build="build-demo"
      cuda+=(-Dcuda-kernels=basic)
      kernels="the basic kernels alone (./setup.sh --plugin builds the fast ones too)"
    fi
    echo "Building the plugin for the CPU and for compute capability $chips of this machine's GPU, with $kernels."
  fi
  [ -f $build/build.ninja ] ||
    meson setup $build -Dtests=disabled -Dbenchmarks=disabled -Dsimd-targets=native "${cuda[@]}" "$@" >$build.log || { cat $build.log; exit 1; }
  rm -f $build.log
fi
ninja -C $build plugin/libgstconvolve.so
echo "$PWD/$build/plugin"

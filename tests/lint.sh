#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# lint.sh [BUILD]: what can be said of the code without running it.
# - All of it is formatted as .clang-format says. "lint.sh --format" stops here.
# - No file is over 400 lines and no function over 60, but for those that lint_sizes.py names.
# - Each header opens with its role, in a comment behind the SPDX lines.
# - Of the CUDA backend, only the files ptx.cuh of kernels/cuda/common have asm statements.
# - Each header of the plugin and the kernels compiles alone. Those that need CUDA's headers are left out without them.
# - With LINT_TIDY=1, clang-tidy, with the compile commands of BUILD (build), finds nothing that .clang-tidy asks for in the
#   plugin and the kernels; with LINT_TIDY=analyzer its static analyzer neither. This takes minutes. LINT_TIDY=few looks
#   at what both backends share alone, with the headers that it includes: that takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
# find_tool NAME: version 14 by its own name, or under the plain one.
find_tool() {
  command -v "$1-14" || command -v "$1" || { echo "lint.sh needs $1, version 14" >&2; exit 2; }
}
format=$(find_tool clang-format)
git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs "$format" --dry-run -Werror
[ "${1:-}" = --format ] && exit
git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs python3 tests/lint_sizes.py
for header in $(git ls-files 'kernels/*.hpp' 'kernels/*.cuh' 'plugin/*.hpp'); do
  case $(sed -n 3,4p "$header" | tr -d '\n') in
    "//// "*) ;;
    *) echo "lint.sh: $header does not open with its role" >&2 && exit 1 ;;
  esac
done
if git ls-files kernels/cuda | grep -v /ptx.cuh | xargs grep -nE '\basm( volatile)? *\('; then
  echo "lint.sh: asm statements belong into a file ptx.cuh of kernels/cuda/common" >&2
  exit 1
fi

cuda=$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")/../include
read -r -a flags <<<"$(pkg-config --cflags gstreamer-1.0 gstreamer-base-1.0 gstreamer-video-1.0 libhwy)"
flags+=(-std=c++20 -Wall -Wextra -Werror -Ikernels -Iplugin -DHWY_COMPILE_ONLY_STATIC)
have_cuda=no
if [ -f "$cuda/cuda_runtime.h" ]; then
  flags+=(-isystem "$cuda")
  if pkg-config --exists gstreamer-cuda-1.0; then
    have_cuda=yes
    read -r -a more <<<"$(pkg-config --cflags gstreamer-cuda-1.0)"
    flags+=("${more[@]}")
  fi
fi
# *-inl.hpp are compiled once for each SIMD target, inside of a file that says so.
git ls-files 'plugin/*.hpp' 'kernels/*.hpp' | grep -v -e '-inl\.hpp$' | while read -r header; do
  if [ $have_cuda = yes ] || ! grep -qE 'include ["<](cuda|gst/cuda)' "$header"; then echo "$header"; fi
done | xargs -P "$(nproc)" -I {} "${CXX:-c++}" "${flags[@]}" -fsyntax-only -include {} -x c++ /dev/null

[ -n "${LINT_TIDY:-}" ] || exit 0
build=${1:-build}
tidy=$(find_tool clang-tidy)
if [ ! -f "$build/compile_commands.json" ]; then
  echo "lint.sh: $build is no build folder: meson setup $build" >&2
  exit 2
fi
files=('plugin/*.cpp' 'kernels/convolve/*.cpp' 'kernels/regions/*.cpp' 'kernels/threads/*.cpp' 'kernels/cpu/*.cpp' 'kernels/cuda/*.cpp')
[ "$LINT_TIDY" = few ] && files=('kernels/convolve/*.cpp' 'kernels/regions/*.cpp' 'kernels/threads/*.cpp')
checks='-clang-analyzer-*'
[ "$LINT_TIDY" = analyzer ] && checks=
# Files that this build leaves out (CUDA's, where it is disabled) have no compile command. Of Highway's targets one is
# enough: they are the same text, in which some constants are then for none.
git ls-files "${files[@]}" | while read -r file; do
  if grep -q "\"file\": \"[^\"]*$file\"" "$build/compile_commands.json"; then echo "$file"; fi
done | xargs -P "$(nproc)" -n 1 "$tidy" -p "$build" --quiet --warnings-as-errors='*' --checks="$checks" \
  --extra-arg=-DHWY_COMPILE_ONLY_STATIC --extra-arg=-Wno-unused-const-variable

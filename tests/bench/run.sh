#!/bin/bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Takes the measurements of tests/bench, with every peer that this machine has. Raw JSON a part, for collect.py.
#
#   run.sh [-b build-dir | bundle] [-o out-dir] [part...]      parts: cuda peers cpu ffmpeg vapoursynth python element; default: all
#
# BENCH_FLAGS goes to bench (such as --benchmark_filter=...), ELEMENT_FLAGS to bench-element. SIMD=avx2 holds the CPU's rows and
# VapourSynth to that. VAPOURSYNTH_PYTHON names a Python that has VapourSynth; python3 is asked for torch, CuPy and CV-CUDA.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
home='' out=$PWD/bench-results
while getopts b:o: option; do
  case $option in
    b) home=$(realpath "$OPTARG") ;;
    o) out=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
parts=("$@")
[ $# -gt 0 ] || parts=(cuda peers cpu ffmpeg vapoursynth python element)
mkdir -p "$out"
if [ -z "$home" ]; then
  home=$(cd "$here/.." && pwd)  # a bundle
  [ -x "$home/bin/bench" ] || home=$(cd "$here/../.." && pwd)/build
fi
if [ -x "$home/bin/bench" ]; then
  bin=$home/bin
  export LD_LIBRARY_PATH=$home/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export GST_PLUGIN_SYSTEM_PATH_1_0=$home/gstreamer-1.0 GST_PLUGIN_SCANNER_1_0=$home/bin/gst-plugin-scanner
  commit=$(sed -n 's/^commit: //p' "$home/info.txt")
else
  bin=$home/tests/bench
  export GST_PLUGIN_PATH_1_0=$home/plugin
  commit=$(git -C "$here" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
fi
export GST_REGISTRY_1_0=$out/registry.bin
[ -x "$bin/bench" ] || { echo "run.sh: no bench in $bin" >&2; exit 1; }

processor=$(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo | tr -d ',=')
context="commit=$commit,processor=$processor,cores=$(nproc)"
if driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null); then
  context+=",driver=$(echo "$driver" | head -1)"
fi

[ -z "${SIMD:-}" ] || context+=",simd=$SIMD"
wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }
# peer NAME COMMAND...: what it prints goes to NAME.json, if it ends well.
peer() {
  local name=$1
  shift
  env -u LD_LIBRARY_PATH "$@" >"$out/$name.json" 2>"$out/$name.log" || { rm -f "$out/$name.json"; echo "run.sh: no $name: $(tail -n 1 "$out/$name.log")" >&2; }
}
# measure NAME COMMAND...: what it prints on stdout goes to the screen, its JSON to NAME.json.
measure() {
  local name=$1
  shift
  "$@" --benchmark_out="$out/$name.json" --benchmark_out_format=json --benchmark_context="$context" || echo "run.sh: $name: status $?" >&2
}
if wanted cuda; then
  # shellcheck disable=SC2086
  measure cuda "$bin/bench" --backend=cuda ${BENCH_FLAGS:-}
fi
if wanted peers; then
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
  if [ -n "$nvcc" ] && "$nvcc" -O3 -std=c++17 -arch=native "$here/peers/npp.cu" -lnppif -lnppc -o "$out/npp" 2>"$out/npp.log"; then
    peer npp "$out/npp"
    rm -f "$out/npp"
  else
    echo "run.sh: NPP is left out: no nvcc, or it does not build" >&2
  fi
  peer cvcuda python3 "$here/peers/cvcuda_peer.py"
  peer torch_cupy python3 "$here/peers/torch_cupy.py"
fi
if wanted cpu; then
  # shellcheck disable=SC2086
  measure cpu "$bin/bench" --backend=cpu --iterations=7 ${SIMD:+--simd=$SIMD} ${BENCH_FLAGS:-}
fi
if wanted ffmpeg && command -v ffmpeg >/dev/null; then
  peer ffmpeg "$here/peers/ffmpeg.py"
fi
if wanted vapoursynth && [ -n "${VAPOURSYNTH_PYTHON:-}" ]; then
  peer vapoursynth "$VAPOURSYNTH_PYTHON" "$here/peers/vapoursynth_peer.py" "$bin/bench" ${SIMD:+"$SIMD"}
fi
if wanted python && [ -x "$here/../../build-wheel/venv/bin/python" ]; then  # python/test.sh makes it
  "$here/../../build-wheel/venv/bin/python" "$here/python_call.py" >"$out/python.json" || rm -f "$out/python.json"
fi
if wanted element && [ -x "$bin/bench-element" ]; then
  # shellcheck disable=SC2086
  measure element "$bin/bench-element" ${ELEMENT_FLAGS:-}
fi
rm -f "$out/registry.bin"
ls "$out"

#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fuzzing by coverage of the whole element, with clang's libFuzzer under ASan and UBSan: caps, buffers in odd layouts,
# metas, events, queries and properties as a string of bytes (stream.cpp). First the corpus that is kept in
# tests/fuzz/corpus/stream, then as many new strings as the time allows; some hundred a second. The plugin is built for it.
#
#   tests/fuzz/streams.sh [SECONDS, default 300 [BUILD-FOLDER, default build-streams]]
#
# STREAMS_BACKEND=cuda fuzzes the plugin's CUDA paths, on the stand-in for the driver (../driver), and builds in
# build-streams-cuda by default: by hand, a few executions a second.
#
# The last line counts the executions. Strings that reach something new are kept in the build folder for the next run,
# and so is one that fails; once the fault is mended it joins the corpus. STREAMS_MERGE=1 takes into the corpus, of what
# the build folder has, the shortest strings that reach all that it reaches, and runs nothing else.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-300}
backend=${STREAMS_BACKEND:-cpu}
build=${2:-build-streams$([ "$backend" = cpu ] || echo "-$backend")}
folder=plugin tests=disabled targets=()
if [ "$backend" = cuda ]; then
  folder=tests/driver/plugin tests=enabled
  targets=(tests/driver/lib{cuda.so.1,cuda-standin.so,nvcuvid.so.1})
fi
log=$build/streams.log
if [ ! -f "$build/plugin/build.ninja" ]; then
  mkdir -p "$build"
  # The optimiser takes minutes over instrumented SIMD code, and next to nothing over all other files.
  cat >"$build/clang++" <<EOF
#!/bin/bash
level=-O1
for argument; do
  case \$argument in *.cpp) if grep -qs foreach_target "\$argument"; then level=-O0; fi ;; esac
done
exec ${CLANGXX:-clang++} "\$@" \$level
EOF
  chmod +x "$build/clang++"
  # Comparisons are not watched: bytes become choices by division, which no operand of a comparison tells anything of.
  flags="-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp"
  # One SIMD target: the fuzzer looks at the plugin. Highway takes AVX2 only beside AES and PCLMUL, and emulates else.
  if grep -qs 'aes.*avx2' /proc/cpuinfo; then flags+=" -DHWY_COMPILE_ONLY_STATIC -march=x86-64-v3 -maes -mpclmul"; fi
  CC=${CLANG:-clang} CXX=$(realpath "$build/clang++") meson setup "$build/plugin" -Dcuda=disabled -Dbenchmarks=disabled \
    -Dtests="$tests" -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debug -Dcpp_args="$flags"
fi
ninja -C "$build/plugin" "$folder/libgstconvolve.so" "${targets[@]}"
# shellcheck disable=SC2046  # a list of flags
${CLANGXX:-clang++} -std=c++20 -O1 -g -Wall -Wextra -Wshadow -Werror -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=undefined -rdynamic tests/fuzz/stream.cpp tests/fuzz/stream_downstream.cpp \
  tests/fuzz/odd_buffer.cpp tests/fuzz/odd_properties.cpp $(pkg-config --cflags --libs gstreamer-1.0 gstreamer-video-1.0) \
  -o "$build/stream"
mkdir -p "$build/found"
corpus=tests/fuzz/corpus/stream
# The element alone is loaded, so that no other plugin's leaks are found.
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1  # what it finds in the plugin is only printed else
export CONVOLVE_PLUGIN=$PWD/$build/plugin/$folder/libgstconvolve.so STREAMS_BACKEND=$backend GST_REGISTRY_FORK=no
if [ "$backend" = cuda ]; then export LD_LIBRARY_PATH=$PWD/$build/plugin/tests/driver; fi
export GST_PLUGIN_SYSTEM_PATH_1_0='' GST_PLUGIN_PATH_1_0='' GST_REGISTRY_1_0=$build/registry.bin
fuzz() { "$build/stream" -timeout=60 -artifact_prefix="$build/" -print_final_stats=1 "$@" 2>>"$log" || { tail -n 60 "$log"; exit 1; }; }
: >"$log"
if [ "${STREAMS_MERGE:-0}" = 1 ]; then
  fuzz -merge=1 "$corpus" "$build/found"
  echo "streams: the corpus has $(find "$corpus" -type f | wc -l) strings"
  exit
fi
# The entropic schedule, the default, goes through all features of all strings for each string: with the hundred thousand
# that this plugin has, that took four fifths of the time.
fuzz -entropic=0 -max_total_time="$seconds" -max_len=600 -len_control=0 "$build/found" "$corpus"
strings=$(find "$corpus" -type f | wc -l)
echo "streams: a corpus of $strings strings and $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, none failed"

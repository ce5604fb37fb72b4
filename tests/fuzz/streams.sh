#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fuzzing by coverage of the whole element, with clang's libFuzzer under ASan and UBSan: caps, buffers in odd layouts,
# metas, events, queries and properties as a string of bytes (stream.cpp). By hand: the plugin is built for it first,
# and some ten strings a second are run.
#
#   tests/fuzz/streams.sh [SECONDS, default 300 [BUILD-FOLDER, default build-streams]]
#
# The last line counts the executions. Strings that reach something new are kept in the build folder for the next run,
# and so is one that fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-300}
build=${2:-build-streams}
log=$build/streams.log
if [ ! -f "$build/plugin/build.ninja" ]; then
  # Unoptimised: the optimiser takes minutes over instrumented SIMD code.
  CC=${CLANG:-clang} CXX=${CLANGXX:-clang++} meson setup "$build/plugin" -Dcuda=disabled -Dbenchmarks=disabled -Dtests=disabled \
    -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debug -Dcpp_args=-fsanitize=fuzzer-no-link
fi
ninja -C "$build/plugin" plugin/libgstconvolve.so
# shellcheck disable=SC2046  # a list of flags
${CLANGXX:-clang++} -std=c++20 -O1 -g -Wall -Wextra -Wshadow -Werror -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=undefined -rdynamic tests/fuzz/stream.cpp tests/fuzz/stream_downstream.cpp \
  tests/fuzz/odd_buffer.cpp tests/fuzz/odd_properties.cpp $(pkg-config --cflags --libs gstreamer-1.0 gstreamer-video-1.0) \
  -o "$build/stream"
mkdir -p "$build/found"
# Strings to begin with, each of a few dozen steps: from nothing it would take long to reach the first frame.
python3 - "$build/found" <<'PYTHON'
import pathlib
import random
import sys

for seed in range(100):
    draw = random.Random(seed)
    pathlib.Path(sys.argv[1], f"random-{seed}").write_bytes(draw.randbytes(draw.randrange(20, 500)))
PYTHON
# The element alone is loaded, so that no other plugin's leaks are found.
export CONVOLVE_PLUGIN=$PWD/$build/plugin/plugin/libgstconvolve.so GST_REGISTRY_FORK=no
export GST_PLUGIN_SYSTEM_PATH_1_0='' GST_PLUGIN_PATH_1_0='' GST_REGISTRY_1_0=$build/registry.bin
"$build/stream" -max_total_time="$seconds" -max_len=600 -len_control=0 -timeout=60 -artifact_prefix="$build/" \
  -print_final_stats=1 "$build/found" 2>"$log" || { tail -n 60 "$log"; exit 1; }
echo "streams: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, none failed"

#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fuzzing by coverage, with clang's libFuzzer under ASan and UBSan: the reader of kernel text and the filters made of it.
# First the corpus that is kept in tests/fuzz/corpus, then as many new texts as the time allows.
#
#   tests/fuzz/coverage.sh [SECONDS, default 30 [BUILD-FOLDER, default build-fuzz]]
#
# The last line counts the executions. A text that fails is left in the build folder; once the fault is mended it joins
# the corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-30}
build=${2:-build-fuzz}
mkdir -p "$build/found"
# shellcheck disable=SC2046  # a list of flags
${CLANGXX:-clang++} -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DCONVOLVE_LIBFUZZER \
  -Ikernels -Iplugin -Itests -Itests/conformance tests/fuzz/kernel_text.cpp plugin/kernel_file.cpp plugin/printable.cpp \
  kernels/convolve/filter.cpp $(pkg-config --cflags --libs glib-2.0) -o "$build/kernel_text"
log=$build/kernel_text.log
"$build/kernel_text" -runs=0 tests/fuzz/corpus/kernel_text 2>"$log"
"$build/kernel_text" -max_total_time="$seconds" -max_len=4096 -artifact_prefix="$build/" -print_final_stats=1 "$build/found" \
  tests/fuzz/corpus/kernel_text 2>>"$log" || { tail -n 40 "$log"; exit 1; }
echo "kernel text: a corpus of $(find tests/fuzz/corpus/kernel_text -type f | wc -l) texts and $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, none failed"

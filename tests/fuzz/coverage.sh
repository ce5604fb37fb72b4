#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fuzzing by coverage, with clang's libFuzzer under ASan and UBSan: the readers of kernel text, of kernel strings and
# of the text of banks, and the filters made of what they read. First the corpus that is kept in tests/fuzz/corpus, then as many new texts as the
# time allows, a third of it for each reader.
#
#   tests/fuzz/coverage.sh [SECONDS, default 30 [BUILD-FOLDER, default build-fuzz]]
#
# The last line counts the executions. A text that fails is left in the build folder; once the fault is mended it joins
# the corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-30}
build=${2:-build-fuzz}
texts=0 executions=0

# fuzz READER SOURCE...: tests/fuzz/READER.cpp with these sources, over tests/fuzz/corpus/READER, with the words of
# tests/fuzz/READER.dict where there are some.
fuzz() {
  local reader=$1 log=$build/$1.log corpus=tests/fuzz/corpus/$1 words=()
  shift
  mkdir -p "$build/found-$reader"
  if [ -f "tests/fuzz/$reader.dict" ]; then words=("-dict=tests/fuzz/$reader.dict"); fi
  # shellcheck disable=SC2046  # a list of flags
  ${CLANGXX:-clang++} -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -DCONVOLVE_LIBFUZZER -Ikernels -Iplugin -Itests -Itests/conformance "tests/fuzz/$reader.cpp" "$@" \
    plugin/text/printable.cpp kernels/convolve/filter.cpp $(pkg-config --cflags --libs gstreamer-1.0) -o "$build/$reader"
  "$build/$reader" -runs=0 "$corpus" 2>"$log" || { tail -n 40 "$log"; exit 1; }
  "$build/$reader" -max_total_time="$((seconds / 3))" -max_len=4096 "${words[@]}" -artifact_prefix="$build/" \
    -print_final_stats=1 "$build/found-$reader" "$corpus" 2>>"$log" || { tail -n 40 "$log"; exit 1; }
  texts=$((texts + $(find "$corpus" -type f | wc -l)))
  executions=$((executions + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)))
}

mkdir -p "$build"
fuzz kernel_text plugin/kernel_file.cpp
fuzz kernel_string plugin/kernel_string/*.cpp kernels/convolve/bank.cpp kernels/convolve/arithmetic.cpp
fuzz bank_text plugin/kernel_value.cpp kernels/convolve/bank.cpp kernels/convolve/arithmetic.cpp
echo "kernel text, banks and kernel strings: a corpus of $texts texts and $executions executions, none failed"

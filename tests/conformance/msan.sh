#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The CPU's kernels under clang's MemorySanitizer, by the conformance cases: a sample of an output that nobody wrote, or
# that hangs on memory that nobody wrote, is an error. All that lies beside the samples of an input counts as such
# (trial.cpp), and so does a buffer or a table until it is filled.
#
#   tests/conformance/msan.sh [BUILD-FOLDER, default build-msan [CASES, default 400]]
#
# CASES of the systematic set, a quarter as many each of banks, of regions and of differences of luma, and a tenth of
# areas, which have frames of 1200x700 among them. Of the systematic set only those of small frames and filters are drawn
# from: they take the same engines as large ones, of which one may take a minute. Lines before the last count the plans
# that each engine had; an engine of `engines` without any is an error from 400 cases on.
#
# Highway's target is the one in plain C++, for MemorySanitizer follows each of its lanes exactly: of most instructions of
# AVX-512 clang 14 knows nothing, and takes any unknown lane for a fault. CONVOLVE_EMULATE gives that target the 16-bit
# engine, too. Products of four bytes (dot/, amx/) are other targets' alone: what those do to memory, ASan sees.
# libstdc++ itself is not instrumented. Its templates are: _GLIBCXX_EXTERN_TEMPLATE=0 has those that its library holds,
# of strings above all, compiled here. The nodes of std::map, which its library links into the tree, are not looked at;
# kernels have none but in the memory of algorithm=fastest. The last lines count.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build-msan}
cases=${2:-400}
mkdir -p "$build"
echo 'fun:*_Rb_tree*' >"$build/ignored"
programs=(conformance conformance_banks conformance_regions conformance_areas conformance_luma)
engines=("f32" "f64" "f32 from samples" "f32, frames combined first" "running sums" "f32, a sum of separable filters"
  "f64, a sum of separable filters" "f32, with a centre tap" "f64, with a centre tap" "f32, each frame apart"
  "f64, each frame apart" "f64, frames combined first" "16-bit integers"
  "16-bit integers, frames combined first" "16-bit fixed point" "16-bit fixed point, frames combined first")

# The optimiser takes minutes over instrumented SIMD code.
tests/conformance/makefile.sh "$build" "${CLANGXX:-clang++}" "-g1 -O1 -fsanitize=memory -fno-omit-frame-pointer \
  -fsanitize-ignorelist=$build/ignored -D_GLIBCXX_EXTERN_TEMPLATE=0 -DHWY_COMPILE_ONLY_EMU128 -DCONVOLVE_EMULATE" \
  -fsanitize=memory -O0 >"$build/Makefile"
make -s -f "$build/Makefile" -j"$(nproc)" "${programs[@]/#/$build/}"

: >"$build/log"
"$build/conformance" --backend=cpu --simd=none --max-products=200000 --plans --cases="$cases" |
  tee -a "$build/log" | grep -v '^plan: '
for program in banks:4 regions:4 areas:10 luma:4; do
  share=${program#*:}
  "$build/conformance_${program%:*}" --backend=cpu --cases=$(((cases + share - 1) / share)) | tee -a "$build/log"
done
sed -nE 's/^plan: [a-z]+ [0-9x]+, scalar, (.*), [0-9]+ threads?$/\1/p' "$build/log" | sort | uniq -c | tee "$build/engines"
if [ "$cases" -ge 400 ]; then
  for engine in "${engines[@]}"; do
    grep -qx " *[0-9]* $engine" "$build/engines" || { echo "no plan of engine \"$engine\""; exit 1; }
  done
fi
grep -E ' (checks|cases|runs), 0 failed' "$build/log" | tail -n 5

#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The CPU's kernels under clang's MemorySanitizer, by the conformance cases: a sample of an output that nobody wrote, or
# that hangs on memory that nobody wrote, is an error. All that lies beside the samples of an input counts as such
# (trial.cpp), and so does a buffer or a table until it is filled.
#
#   tests/conformance/msan.sh [BUILD-FOLDER, default build-msan [CASES, default 40]]
#
# A case takes some 6 to 13 s of a processor (an AMD EPYC, 2026-11-25), by its filter. The build took two minutes on
# two cores.
#
# Highway's target is the one in plain C++, for MemorySanitizer follows each of its lanes exactly: of most instructions of
# AVX-512 clang 14 knows nothing, and takes any unknown lane for a fault. What those targets do to memory, ASan sees; products of
# four bytes (dot/, amx/) are theirs alone.
# libstdc++ itself is not instrumented. Its templates are: _GLIBCXX_EXTERN_TEMPLATE=0 has those that its library holds,
# of strings above all, compiled here. The nodes of std::map, which its library links into the tree, are not looked at;
# kernels have none but in the memory of algorithm=fastest. The last line counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build-msan}
cases=${2:-40}
mkdir -p "$build"
echo 'fun:*_Rb_tree*' >"$build/ignored"

# The optimiser takes minutes over instrumented SIMD code.
tests/conformance/makefile.sh "$build" "${CLANGXX:-clang++}" "-g1 -O1 -fsanitize=memory -fno-omit-frame-pointer \
  -fsanitize-ignorelist=$build/ignored -D_GLIBCXX_EXTERN_TEMPLATE=0 -DHWY_COMPILE_ONLY_EMU128" -fsanitize=memory -O0 \
  >"$build/Makefile"
make -s -f "$build/Makefile" -j"$(nproc)" "$build/conformance"
"$build/conformance" --backend=cpu --simd=none --cases="$cases" | tee "$build/log"
grep ' checks, ' "$build/log"

#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints a makefile for the conformance programs with the CPU backend alone, for those who build them without meson: with
# a cross compiler, with a sanitizer of the kernels alone. They are BUILD-FOLDER/conformance and, with the names that
# meson gives them, conformance_banks, conformance_regions, conformance_areas and conformance_luma. The last argument is
# for the files that are compiled once for each SIMD target. Makes BUILD-FOLDER/objects.
#
#   tests/conformance/makefile.sh BUILD-FOLDER COMPILER COMPILER-FLAGS LINKER-FLAGS [FLAGS-OF-SIMD]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
mkdir -p "$build/objects"
echo "CXX = $2"
echo "CXXFLAGS = -std=c++20 -fno-math-errno -ffp-contract=off -Ikernels -Itests -MMD $3"

mapfile -t sources < <(find kernels/convolve kernels/threads kernels/regions kernels/cpu tests/conformance tests/oracle*.cpp \
  -name '*.cpp' | sort)
shared=() mains=()
for source in "${sources[@]}"; do
  object=$build/objects/${source//\//_}.o
  if grep -q '^int main' "$source"; then mains+=("$source"); else shared+=("$object"); fi
  simd=
  if grep -q foreach_target "$source"; then simd=${5:-}; fi
  # shellcheck disable=SC2016  # these are make's variables
  printf '%s: %s\n\t$(CXX) $(CXXFLAGS) %s -c -o $@ $<\n' "$object" "$source" "$simd"
done
for source in "${mains[@]}"; do
  name=$(basename "$source" .cpp) object=$build/objects/${source//\//_}.o
  program=$build/conformance_$name
  if [ "$name" = main ]; then program=$build/conformance; fi
  # shellcheck disable=SC2016
  printf '%s: %s\n\t$(CXX) -o $@ $^ %s -lhwy -lpthread\n' "$program" "${shared[*]} $object" "$4"
done
echo "-include $build/objects/*.d"

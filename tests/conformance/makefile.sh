#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints a makefile for the program BUILD-FOLDER/conformance with the CPU backend alone, for those who build it without
# meson. The last argument is for the files that are compiled once for each SIMD target. Makes BUILD-FOLDER/objects.
#
#   tests/conformance/makefile.sh BUILD-FOLDER COMPILER COMPILER-FLAGS LINKER-FLAGS [FLAGS-OF-SIMD]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
mkdir -p "$build/objects"
mapfile -t sources < <(tests/conformance/sources.sh)
echo "CXX = $2"
echo "CXXFLAGS = -std=c++20 -fno-math-errno -ffp-contract=off -Ikernels -Itests -MMD $3"
objects=()
for source in "${sources[@]}"; do
  object=$build/objects/${source//\//_}.o
  objects+=("$object")
  simd=
  if grep -q foreach_target "$source"; then simd=${5:-}; fi
  # shellcheck disable=SC2016  # these are make's variables
  printf '%s: %s\n\t$(CXX) $(CXXFLAGS) %s -c -o $@ $<\n' "$object" "$source" "$simd"
done
echo "-include ${objects[*]/%.o/.d}"
# shellcheck disable=SC2016
printf '%s: %s\n\t$(CXX) -o $@ $^ %s -lhwy -lpthread\n' "$build/conformance" "${objects[*]}" "$4"

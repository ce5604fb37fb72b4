#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints the sources of the program `conformance` with the CPU backend alone, one a line, for those who build it without
# meson: with a cross compiler, with a sanitizer of the kernels alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The other programs of that folder have a main of their own.
find kernels/convolve kernels/threads kernels/regions kernels/cpu tests/conformance tests/oracle*.cpp -name '*.cpp' -print0 |
  xargs -0 grep -L '^int main' | sort
echo tests/conformance/main.cpp

#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# embed_test.sh PROGRAM: the example blurs a picture of one white sample, and keeps the sum of its samples.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  printf 'P5 31 21 255\n'
  head -c 325 /dev/zero
  printf '\377'
  head -c 325 /dev/zero
} >"$work/in.pgm"
"$1" "$work/in.pgm" "$work/out.pgm"
sum=$(tail -c 651 "$work/out.pgm" | od -An -v -tu1 | tr -s ' ' '\n' | awk '{ sum += $1 } END { print sum }')
if [ "$sum" -lt 240 ] || [ "$sum" -gt 270 ]; then
  echo "the samples sum to $sum, where about 255 were expected"
  exit 1
fi

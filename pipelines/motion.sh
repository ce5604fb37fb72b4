#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# motion.sh [/dev/videoN | test]: what moves in front of a camera: each frame less the one before it, on mid grey.
if [[ ${1:-} == -* ]]; then
  echo "usage: motion.sh [/dev/videoN | test]" >&2
  exit 2
fi
exec "$(dirname "$0")/camera.sh" "${1:-/dev/video0}" \
  preset=temporal-difference window=causal scale=4 bias=0.5

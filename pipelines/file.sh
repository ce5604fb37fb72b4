#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# file.sh IN OUT.mp4 [PROPERTY=VALUE...]: filters a video file; edges on mid grey by default.
set -euo pipefail
# shellcheck source=pipelines/lib/quoted.sh
. "$(dirname "$0")/lib/quoted.sh"
if [ $# -lt 2 ]; then
  echo "usage: file.sh IN OUT.mp4 [PROPERTY=VALUE...]" >&2
  exit 2
fi
in=$(realpath "$1") out=$2
shift 2
[ $# -gt 0 ] || set -- 'kernel=<<-1,0,1>,<-2,0,2>,<-1,0,1>>' bias=0.5
exec gst-launch-1.0 -e filesrc location="$(quoted "$in")" ! decodebin ! queue ! videoconvert ! videoconvolve "$@" \
  ! videoconvert ! x264enc speed-preset=veryfast ! mp4mux ! filesink location="$(quoted "$out")"

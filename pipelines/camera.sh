#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# camera.sh [/dev/videoN | test] [PROPERTY=VALUE...]: a camera, denoised over this frame and those before it (no
# latency added), on the screen. "test" takes a live test picture, 60 frames of it, and shows it nowhere.
set -euo pipefail
if [[ ${1:-} == -* ]]; then
  echo "usage: camera.sh [/dev/videoN | test] [PROPERTY=VALUE...]" >&2
  exit 2
fi
device=${1:-/dev/video0}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- preset=temporal-denoise temporal-radius=1 window=causal
if [ "$device" = test ]; then
  source=(videotestsrc is-live=true num-buffers=60 pattern=ball !
    'video/x-raw,format=YUY2,width=640,height=480,framerate=60/1')
  sink=(fakesink sync=false)
else
  source=(v4l2src device="$device")
  sink=(autovideosink)
fi
exec gst-launch-1.0 "${source[@]}" ! videoconvert ! videoconvolve "$@" ! videoconvert ! "${sink[@]}"

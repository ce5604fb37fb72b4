#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# mask.sh [FILE | /dev/videoN | test] [X,Y,WIDTH,HEIGHT] [PROPERTY=VALUE...]: hides a fixed box of the picture, such as a
# house number or a name tag, on the screen. "test" takes a test picture, 60 frames of it, and shows it nowhere.
set -euo pipefail
# shellcheck source=pipelines/lib/quoted.sh
. "$(dirname "$0")/lib/quoted.sh"
if [[ ${1:-} == -* ]]; then
  echo "usage: mask.sh [FILE | /dev/videoN | test] [X,Y,WIDTH,HEIGHT] [PROPERTY=VALUE...]" >&2
  exit 2
fi
source=${1:-/dev/video0} box=${2:-100,80,200,120}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- region-effect=pixelate
case $source in
  test)
    from=(videotestsrc num-buffers=60 pattern=smpte ! 'video/x-raw,width=640,height=480')
    sink=(fakesink)
    ;;
  /dev/*)
    from=(v4l2src device="$source")
    sink=(autovideosink)
    ;;
  *)
    from=(filesrc location="$(quoted "$(realpath "$source")")" ! decodebin)
    sink=(autovideosink)
    ;;
esac
exec gst-launch-1.0 -e "${from[@]}" ! queue ! videoconvert \
  ! videoconvolve regions=inside region-boxes="<<$box>>" "$@" ! videoconvert ! "${sink[@]}"

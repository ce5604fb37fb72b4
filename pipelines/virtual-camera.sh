#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# virtual-camera.sh [/dev/videoN | test [/dev/videoM]]: a filtered camera that other programs can open: blurred, with no
# latency added. Browsers and conferencing programs find it in PipeWire under the name "videoconvolve", or, where
# /dev/videoM of the kernel module v4l2loopback is given, there. "test" is GStreamer's test picture, without an end.
#
# Needs gstreamer1.0-pipewire and a running PipeWire with a session manager; or "modprobe v4l2loopback exclusive_caps=1".
set -euo pipefail
if [[ ${1:-} == -* ]]; then
  echo "usage: virtual-camera.sh [/dev/videoN | test [/dev/videoM]]" >&2
  exit 2
fi
camera=${1:-/dev/video0} loopback=${2:-}
if [ "$camera" = test ]; then
  source=(videotestsrc is-live=true pattern=ball ! "video/x-raw,width=640,height=480,framerate=30/1")
else
  source=(v4l2src "device=$camera")
fi
if [ -n "$loopback" ]; then
  sink=(v4l2sink "device=$loopback" sync=false)
else
  # pipewiresink's own buffers are not ready for elements that write to them as soon as they have one: it is given others.
  sink=(identity drop-allocation=true ! pipewiresink mode=provide sync=false
    "stream-properties=props,media.class=Video/Source,node.name=videoconvolve,node.description=videoconvolve")
fi
exec gst-launch-1.0 "${source[@]}" ! videoconvert ! videoconvolve preset=gaussian-blur radius=7 ! \
  videoconvert ! video/x-raw,format=YUY2 ! "${sink[@]}"

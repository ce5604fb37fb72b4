#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pipelines/virtual-camera.sh with a PipeWire of its own: a node that is a camera is there, and the frames that pipewiresrc
# takes from it are the blurred ones. Containers have no kernel modules: v4l2loopback is left to try by hand.
#
#   tests/virtual-camera/test.sh [BUILD-FOLDER]      exits with 77 where a part of PipeWire is missing
set -euo pipefail
cd "$(dirname "$0")/../.."
GST_PLUGIN_PATH=$(realpath "${1:-build}")/plugin
export GST_PLUGIN_PATH
for program in pipewire wireplumber pw-cli dbus-run-session; do
  command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done
gst-inspect-1.0 pipewiresink >/dev/null 2>&1 || { echo "gstreamer1.0-pipewire is not installed"; exit 77; }
if [ -z "${VIRTUAL_CAMERA_BUS:-}" ]; then
  exec env VIRTUAL_CAMERA_BUS=own dbus-run-session -- "$0" "$@"
fi

work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work GST_REGISTRY=$work/registry.bin
running=()
finish() {
  kill "${running[@]}" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap finish EXIT
soon() { # COMMAND...: until it succeeds, for twenty seconds at most
  for _ in $(seq 100); do
    "$@" && return
    sleep 0.2
  done
  tail -n 20 "$work"/*.log
  echo "not within twenty seconds: $*"
  return 1
}
is_camera() { pw-cli ls Node 2>/dev/null | grep -A 8 'node.name = "videoconvolve"' | grep -q 'media.class = "Video/Source"'; }

pipewire >"$work/pipewire.log" 2>&1 &
running+=($!)
soon test -S "$work/pipewire-0"
wireplumber >"$work/wireplumber.log" 2>&1 &
running+=($!)
pipelines/virtual-camera.sh test >"$work/camera.log" 2>&1 &
running+=($!)
soon is_camera

timeout 60 gst-launch-1.0 -q pipewiresrc target-object=videoconvolve num-buffers=10 ! videoconvert ! \
  video/x-raw,format=GRAY8,width=640,height=480 ! filesink location="$work/frames.gray"
python3 - "$work/frames.gray" <<'PYTHON'
import sys

frames = open(sys.argv[1], "rb").read()
size = 640 * 480
if len(frames) < 5 * size:
    sys.exit(f"{len(frames) // size} frames came of ten")
for frame in (frames[start:start + size] for start in range(0, len(frames) - size + 1, size)):
    # The test picture is a white ball on black. Its edge is one sample wide at most, and the blur's some ten.
    between = sum(40 < sample < 215 for sample in frame)
    if max(frame) < 225 or between < 500:
        sys.exit(f"this is no blurred ball: the brightest sample is {max(frame)}, and {between} are neither black nor white")
print(f"{len(frames) // size} blurred frames came out of the virtual camera")
PYTHON

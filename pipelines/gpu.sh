#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# gpu.sh IN.mp4 [PROPERTY=VALUE...]: H.264 decoded on the GPU and filtered there; no frame comes to the host.
# -v prints the caps: memory:CUDAMemory on both sides of the filter.
set -euo pipefail
# shellcheck source=pipelines/lib/quoted.sh
. "$(dirname "$0")/lib/quoted.sh"
if [[ ${1:--} == -* ]]; then
  echo "usage: gpu.sh IN.mp4 [PROPERTY=VALUE...]" >&2
  exit 2
fi
in=$1
shift
[ $# -gt 0 ] || set -- preset=sharpen
exec gst-launch-1.0 -v filesrc location="$(quoted "$in")" ! qtdemux ! h264parse ! nvh264dec \
  ! 'video/x-raw(memory:CUDAMemory)' ! videoconvolve backend=cuda "$@" \
  ! 'video/x-raw(memory:CUDAMemory)' ! fakesink sync=false

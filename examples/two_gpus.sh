#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# two_gpus.sh [FRAMES]: two streams in one process, each on a GPU of its own. The property cuda-device-id says which, of
# cudaupload, of the filter and of encoders; decoders of the second GPU are elements of their own, as nvh264device1dec is.
# Frames are compared with those of the CPU, to the byte. Exits with 77 where there are fewer than two GPUs.
set -euo pipefail
frames=${1:-120}
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
if [ "$gpus" -lt 2 ]; then
  echo "two GPUs are needed; there are ${gpus:-0} here"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

picture="num-buffers=$frames ! video/x-raw,format=NV12,width=1920,height=1080,framerate=60/1"
filter="preset=box-blur radius=4"
tight="videoconvert ! video/x-raw,format=I420" # rows one behind another, which those of GPU memory are not
stream() { # GPU PATTERN
  echo "videotestsrc pattern=$2 $picture ! cudaupload cuda-device-id=$1 ! video/x-raw(memory:CUDAMemory) !" \
    "videoconvolve cuda-device-id=$1 backend=cuda $filter ! cudadownload ! $tight ! filesink location=$work/gpu$1.i420"
}
# shellcheck disable=SC2046  # a pipeline's words
gst-launch-1.0 -q $(stream 0 smpte) $(stream 1 ball)

gpu=0
for pattern in smpte ball; do
  # shellcheck disable=SC2086
  gst-launch-1.0 -q videotestsrc pattern=$pattern $picture ! videoconvolve backend=cpu $filter ! $tight ! filesink location="$work/cpu.i420"
  cmp "$work/gpu$gpu.i420" "$work/cpu.i420"
  echo "GPU $gpu: $frames frames, each as the CPU's"
  gpu=$((gpu + 1))
done

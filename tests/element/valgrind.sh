#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Short pipelines under valgrind: no access beyond memory, and nothing uninitialised in what leaves. Frames whose two
# fields have unlike rows of chroma, in GStreamer's own layout and in rawvideoparse's tight one. GST_PLUGIN_PATH_1_0
# names the plugin's folder. Exits with 77 where there is no valgrind.
set -euo pipefail

command -v valgrind >/dev/null || exit 77
frames=$(mktemp)
trap 'rm -f "$frames"' EXIT

# check LAUNCH-LINE...: plays it to its end.
check() {
  echo "$*"
  # Memory comes from malloc, so that valgrind sees each piece of it; one thread, as it runs one at a time anyway.
  G_SLICE=always-malloc timeout 120 valgrind --quiet --error-exitcode=99 --leak-check=no gst-launch-1.0 -q "$@"
}

for size in "64 6" "16 2" "160 10"; do
  read -r width height <<<"$size"
  caps=width=$width,height=$height,interlace-mode=interleaved
  check videotestsrc num-buffers=3 ! "video/x-raw,format=P010_10LE,$caps" ! \
    videoconvolve backend=cpu n-threads=1 preset=temporal-mean ! fakesink
  # The sink writes whole buffers: a row that nobody filled would be seen here.
  check videotestsrc num-buffers=2 ! "video/x-raw,format=I420,$caps" ! \
    videoconvolve backend=cpu n-threads=1 preset=box-blur ! filesink location="$frames"
done
for format in i420 nv12 p010-10le; do
  bytes=1
  if [ $format = p010-10le ]; then bytes=2; fi
  head -c $((3 * bytes * (720 * 486 + 720 * 243))) /dev/zero >"$frames"
  check filesrc location="$frames" ! rawvideoparse format=$format width=720 height=486 interlaced=true ! \
    videoconvolve backend=cpu n-threads=1 preset=box-blur ! fakesink
done

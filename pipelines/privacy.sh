#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# privacy.sh FILE | /dev/videoN [OUT_DIR]: finds faces (Debian's gstreamer1.0-opencv and opencv-data), hides them, and
# writes the video, and a picture before and after, to OUT_DIR (privacy-out/). A face that is not found is not hidden.
set -euo pipefail
if [[ ${1:-} == -* ]]; then
  echo "usage: privacy.sh FILE | /dev/videoN [OUT_DIR]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
exec /usr/bin/python3 "$here/privacy.py" "${1:-/dev/video0}" "${2:-privacy-out}"

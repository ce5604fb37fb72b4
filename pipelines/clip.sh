#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# clip.sh OUT.mp4 [SECONDS]: a real clip from photographs (Debian's mate-backgrounds), panned and zoomed, as H.264,
# 1280x720 at 30 frames a second. SECONDS for each of the three photographs, 2 by default.
set -euo pipefail
if [[ ${1:--} == -* ]]; then
  echo "usage: clip.sh OUT.mp4 [SECONDS]" >&2
  exit 2
fi
out=$1
frames=$((30 * ${2:-2}))
photographs=/usr/share/backgrounds/mate/nature
[ -d "$photographs" ] || { echo "$photographs is missing: install mate-backgrounds" >&2; exit 1; }

# Zooming at twice the size keeps the motion smooth: zoompan moves by whole samples.
move() { echo "[$1]scale=2560:1440:force_original_aspect_ratio=increase,crop=2560:1440,zoompan=z='$2':x='$3':y='$4':d=$frames:s=1280x720:fps=30,setsar=1[v$1]"; }
ffmpeg -hide_banner -loglevel error -nostdin -y \
  -i "$photographs/LadyBird.jpg" -i "$photographs/TwoWings.jpg" -i "$photographs/RainDrops.jpg" \
  -filter_complex "
    $(move 0 "1.2+0.5*on/$frames" "(iw-iw/zoom)*(0.5+0.2*on/$frames)" "(ih-ih/zoom)*0.5");
    $(move 1 "1.5" "(iw-iw/zoom)*on/$frames" "(ih-ih/zoom)*0.6");
    $(move 2 "1.8-0.5*on/$frames" "(iw-iw/zoom)*0.4" "(ih-ih/zoom)*(0.3+0.3*on/$frames)");
    [v0][v1][v2]concat=n=3:v=1,format=yuv420p[v]" \
  -map '[v]' -c:v libx264 -preset veryfast -crf 16 -g 60 -movflags +faststart "$out"

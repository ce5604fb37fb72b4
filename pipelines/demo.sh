#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# demo.sh [FILE | URI | /dev/videoN]: sets everything up, decodes the input, filters it in several ways, encodes each
# to MP4, and writes a contact sheet: the original beside each result. With no argument it makes its own clip from
# photographs. Results go to demo-out/ (DEMO_OUT to change).
set -euo pipefail
if [[ ${1:-} == -* ]]; then
  echo "usage: demo.sh [FILE | URI | /dev/videoN]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
plugin=$("$here/../setup.sh" --demo | tee >(cat >&2) | tail -n 1)
export GST_PLUGIN_PATH="$plugin${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
out=${DEMO_OUT:-$here/../demo-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/*.original.png "$out"/*.filtered.png "$out"/*.label "$out"/*.original-label

input=${1:-}
if [ -z "$input" ]; then
  input=$out/clip.mp4
  echo "Making a clip from photographs: $input"
  "$here/clip.sh" "$input"
fi

/usr/bin/python3 "$here/demo.py" "$input" "$out"
/usr/bin/python3 "$here/denoise.py" "$out"

pairs=()
for label in "$out"/*.label; do
  stem=${label%.label}
  original=original
  [ ! -f "$stem.original-label" ] || original=$(cat "$stem.original-label")
  pairs+=(-label "$original" "$stem.original.png" -label "$(cat "$label")" "$stem.filtered.png")
done
font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
# The middle of each frame at its own scale: small filters would not be seen in a whole frame made small.
montage "${pairs[@]}" -font "$font" -pointsize 13 -gravity center -crop '480x270+0+0' +repage \
  -geometry +6+6 -tile 4x -depth 8 "$out/contact-sheet.png"
echo "Videos: $out/*.mp4"
echo "Contact sheet, the original beside each result: $out/contact-sheet.png"
[[ $plugin != */build-demo/* ]] || echo "These ran with the basic kernels of the GPU; ./setup.sh --plugin builds the fast ones."

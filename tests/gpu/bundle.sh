#!/bin/bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a self-contained folder from a CUDA build: the plugin, the tests, the benchmarks, the GStreamer parts that they
# need and a real H.264 clip. It runs on an x86-64 GPU host with a driver, glibc >= 2.36 and no GStreamer: bundle/run.sh.
#
#   tests/gpu/bundle.sh [build-dir, default build] [out-dir, default .bundle]
#
# Set up the build with -Dcuda-arch=<the host's> to keep the folder small. Needs: a C++ compiler, ldd, strip, ffmpeg and
# Debian's mate-backgrounds (the clip's photographs).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$root/build}")
out=$(realpath -m "${2:-$root/.bundle}")
pictures=/usr/share/backgrounds/mate/nature
plugins_from=$(pkg-config --variable=pluginsdir gstreamer-1.0)
scanner=$(pkg-config --variable=pluginscannerdir gstreamer-1.0)/gst-plugin-scanner
gst_plugins=(coreelements coretracers app videotestsrc videocrop videoconvertscale videofilter videoparsersbad isomp4 rawparse nvcodec gaudieffects)
# Of the host, never ours: the C and C++ run time.
host_libs='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libstdc\+\+|libgcc_s)\.so|^(libcuda|libcuda-standin|libnvcuvid)\.so'

fail() { echo "bundle.sh: $*" >&2; exit 1; }
[ -f "$build/build.ninja" ] || fail "$build is no build folder; meson setup and compile it first"
plugin=$(find "$build/plugin" -maxdepth 1 -name 'libgstconvolve.so' | head -1)
[ -n "$plugin" ] || fail "no libgstconvolve.so in $build/plugin; build it first"

rm -rf "${out:?}/bin" "$out/tests" "${out:?}/lib" "$out/gstreamer-1.0" "$out/bench" "$out/driver"
mkdir -p "$out"/{bin,driver,tests/{unit,conformance,element,gpu,storm},lib,gstreamer-1.0,bench,media}

is_elf() { [ "$(head -c4 "$1" | tail -c3)" = ELF ]; }
for kind in unit conformance element gpu; do
  [ -d "$build/tests/$kind" ] || continue
  while IFS= read -r program; do
    is_elf "$program" && cp "$program" "$out/tests/$kind/"
  done < <(find "$build/tests/$kind" -maxdepth 1 -type f -executable ! -name '*.so*')
done
for program in bench bench-element; do
  [ -x "$build/tests/bench/$program" ] && cp "$build/tests/bench/$program" "$out/bin/"
done
# The layer that makes the driver's calls fail, in a folder of its own: nothing else may take it for the driver.
if [ -x "$build/tests/driver/driver-faults" ]; then
  cp "$build"/tests/driver/{driver-faults,libcuda.so.1,libcuda-standin.so,libnvcuvid.so.1} "$out/driver/"
fi
# shellcheck disable=SC2046  # a list of flags
"${CXX:-g++}" -std=c++20 -O1 "$root/tests/storm/storm.cpp" $(pkg-config --cflags --libs gstreamer-1.0) -o "$out/tests/storm/storm"
cp "$(command -v gst-launch-1.0)" "$(command -v gst-inspect-1.0)" "$scanner" "$out/bin/"
cp "$plugin" "$out/gstreamer-1.0/"
for name in "${gst_plugins[@]}"; do
  # Not every distribution builds every one; the steps that need a missing one are skipped there.
  cp "$plugins_from/libgst$name.so" "$out/gstreamer-1.0/" 2>/dev/null || echo "bundle.sh: no plugin $name here"
done
cp "$root"/tests/gpu/{run.sh,kernel_strings.py} "$out/"
cp -r "$root"/tests/bench/{run.sh,peers} "$out/bench/"

find "$out/bin" "$out/driver" "$out/tests" "$out/gstreamer-1.0" -type f -exec strip --strip-unneeded {} +
find "$out/bin" "$out/driver" "$out/tests" "$out/gstreamer-1.0" -type f -exec ldd {} + 2>/dev/null |
  awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | while IFS= read -r lib; do
  [[ $(basename "$lib") =~ $host_libs ]] || cp -L "$lib" "$out/lib/"
done

# Three seconds of photographs, panned and zoomed: real texture, real motion. B-frames and two references.
if [ ! -s "$out/media/clip.mp4" ]; then
  command -v ffmpeg >/dev/null || fail "ffmpeg is needed for the clip"
  ls "$pictures"/*.jpg >/dev/null 2>&1 || fail "the clip's photographs are Debian's package mate-backgrounds"
  n=0
  for picture in Dune TwoWings Garden; do
    ffmpeg -nostdin -loglevel error -y -loop 1 -framerate 30 -i "$pictures/$picture.jpg" -frames:v 30 \
      -vf "scale=3840:2160:force_original_aspect_ratio=increase,crop=3840:2160,zoompan=z='1.1+in/150':x='in*8':y='in*4':d=1:s=1920x1080:fps=30,format=yuv420p" \
      -c:v libx264 -preset fast -crf 20 -bf 2 "$out/media/part$n.mp4"
    echo "file part$n.mp4" >>"$out/media/parts.txt"
    n=$((n + 1))
  done
  ffmpeg -nostdin -loglevel error -y -f concat -i "$out/media/parts.txt" -c copy "$out/media/clip.mp4"
  rm "$out"/media/part*
fi

# What FFmpeg, ImageMagick, librsvg and VapourSynth give for kernel strings: as many of them as are here.
if [ ! -s "$out/kernel-strings/cases.jsonl" ]; then
  for strings in kernel_strings_test kernel_string_formats_test; do
    GST_PLUGIN_PATH=$build/plugin KERNEL_STRINGS_RECORD=$out/kernel-strings /usr/bin/python3 "$root/tests/element/$strings.py" >"$out/$strings.log" 2>&1 ||
      echo "bundle.sh: $strings.py recorded a part or nothing: $(tail -n 1 "$out/$strings.log")"
    rm "$out/$strings.log"
  done
fi

{
  echo "commit: $(git -C "$root" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)"
  echo "gstreamer: $(pkg-config --modversion gstreamer-1.0)"
  echo "compiler: $(c++ --version | head -1)"
  echo "cuda: $(nvcc --version 2>/dev/null | awk '/release/ {print $6}')"
} >"$out/info.txt"
du -sh "$out" | cut -f1

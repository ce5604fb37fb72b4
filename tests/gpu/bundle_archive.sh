#!/bin/bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a folder that times archive jobs on a host with NVIDIA GPUs and no GStreamer: Debian's Python with PyGObject, the
# parts of GStreamer that a job needs, the plugin, pipelines/archive, tests/bench/archive.py and a clip of 40 s.
#
#   tests/gpu/bundle_archive.sh [build-dir, default build] [out-dir, default .bundle-archive]
#
# There: .bundle-archive/run.sh RESULT.json. Needs ldd, strip and ffmpeg here.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$root/build}")
out=$(realpath -m "${2:-$root/.bundle-archive}")
plugins_from=$(pkg-config --variable=pluginsdir gstreamer-1.0)
scanner=$(pkg-config --variable=pluginscannerdir gstreamer-1.0)/gst-plugin-scanner
gst_plugins=(coreelements app videotestsrc playback typefindfunctions isomp4 matroska videoparsersbad videoconvertscale x264 nvcodec)
typelibs=(GLib-2.0 GObject-2.0 GModule-2.0 Gio-2.0 Gst-1.0 GstApp-1.0 GstBase-1.0 GstVideo-1.0)
host_libs='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libstdc\+\+|libgcc_s)\.so|^(libcuda|libnvcuvid)\.so'
library=/usr/lib/$(basename "$(readlink -f /usr/bin/python3)")
python=$(basename "$library")

rm -rf "$out"
mkdir -p "$out"/{bin,lib,gstreamer-1.0,typelibs,media,python,tree/tests/bench,tree/pipelines}
cp "/usr/bin/$python" "$scanner" "$out/bin/"
cp "$build/plugin/libgstconvolve.so" "$out/gstreamer-1.0/"
for name in "${gst_plugins[@]}"; do cp "$plugins_from/libgst$name.so" "$out/gstreamer-1.0/"; done
for name in "${typelibs[@]}"; do cp /usr/lib/*/girepository-1.0/"$name.typelib" "$out/typelibs/"; done
mkdir -p "$out/python/lib"
tar -C /usr/lib --exclude=__pycache__ --exclude=test --exclude='config-*' --exclude=idlelib --exclude=tkinter --exclude=lib2to3 \
  --exclude=ensurepip --exclude=pydoc_data -cf - "$python" | tar -C "$out/python/lib" -xf -
mkdir -p "$out/python/lib/$python/site"
for package in gi tqdm; do
  [ -d "/usr/lib/python3/dist-packages/$package" ] && cp -r "/usr/lib/python3/dist-packages/$package" "$out/python/lib/$python/site/"
done
cp -r "$root/pipelines/archive" "$out/tree/pipelines/"
cp "$root/tests/bench/archive.py" "$out/tree/tests/bench/"
find "$out/tree" "$out/python" -name __pycache__ -exec rm -rf {} +

find "$out/bin" "$out/gstreamer-1.0" -type f -exec strip --strip-unneeded {} + 2>/dev/null || true
{ find "$out/bin" "$out/gstreamer-1.0" "$out/python/lib" -type f \( -name "*.so*" -o -perm -100 \) -exec ldd {} + 2>/dev/null || true; } |
  awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u >"$out/libs.txt"
# Typelibs name libraries that nothing is linked with.
for name in libgirepository-1.0.so.1 libgstapp-1.0.so.0 libgstvideo-1.0.so.0 libgio-2.0.so.0 libgmodule-2.0.so.0; do
  ldconfig -p | awk -v n="$name" '$1 == n && !seen++ {print $NF}' >>"$out/libs.txt"
done
sort -u "$out/libs.txt" | while IFS= read -r lib; do
  [[ $(basename "$lib") =~ $host_libs ]] || cp -Ln "$lib" "$out/lib/"
done
rm "$out/libs.txt"

# Real H.264: B-frames, a key frame a second.
ffmpeg -nostdin -loglevel error -y -f lavfi -i "testsrc2=s=1920x1080:r=25:d=40,noise=alls=6:allf=t" -c:v libx264 -preset veryfast -crf 34 \
  -g 25 -bf 2 -pix_fmt yuv420p "$out/media/clip.mp4"
git -C "$root" describe --always --dirty --abbrev=9 >"$out/commit"

cat >"$out/run.sh" <<'RUN'
#!/bin/bash
# run.sh RESULT.json [TURNS]: the table goes to the screen
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib PYTHONHOME=$here/python PYTHONDONTWRITEBYTECODE=1 GI_TYPELIB_PATH=$here/typelibs
export GST_PLUGIN_SYSTEM_PATH_1_0=$here/gstreamer-1.0 GST_PLUGIN_PATH_1_0='' GST_PLUGIN_PATH=''
export GST_PLUGIN_SCANNER_1_0=$here/bin/gst-plugin-scanner GST_REGISTRY_1_0=$here/registry.bin
export COMMIT; COMMIT=$(cat "$here/commit")
python=$(basename "$here"/bin/python3*)
export PYTHONPATH=$here/python/lib/$python/site
exec "$here/bin/$python" "$here/tree/tests/bench/archive.py" gpus "$here/media/clip.mp4" --turns "${2:-3}" -o "$1"
RUN
chmod +x "$out/run.sh"
du -sh "$out" | cut -f1

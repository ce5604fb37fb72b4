#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Debian 13 (GStreamer 1.26): the plugin built there and its tests run there, those of GstAnalytics metas among them;
# then this system's own build of the plugin (GStreamer 1.22), if there is one in build/, loaded by the newer GStreamer.
# For root on Debian and its kin. Not in CI: a fresh system takes about ten minutes.
#
#   tests/other-systems/debian13.sh [ROOT-FOLDER [MESON-TEST-ARGUMENT...]]
#
# The system is made with debootstrap in ROOT-FOLDER (default: ~/.cache/videoconvolve/debian13) and kept there, with its
# build, for the next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=${1:-$HOME/.cache/videoconvolve/debian13}
shift $(($# > 0 ? 1 : 0))
if [ $# -eq 0 ]; then set -- --suite unit --suite element; fi

# shellcheck source-path=SCRIPTDIR
. tests/other-systems/bootstrap.sh
if [ ! -e "$root/made" ]; then
  make_system trixie "$root/system"
  touch "$root/made"
fi
system=$root/system
cp /etc/resolv.conf /etc/hosts "$system/etc/"
mountpoint -q "$system/proc" || mount --bind /proc "$system/proc"
trap 'umount "$system/proc"' EXIT

in_system() { chroot "$system" env DEBIAN_FRONTEND=noninteractive "$@"; }
in_system apt-get update -qq
in_system apt-get install -y -qq --no-install-recommends g++ meson ninja-build pkg-config python3 python3-gi valgrind \
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev libhwy-dev libgtest-dev \
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad >/dev/null

rm -rf "$system/videoconvolve"
mkdir -p "$system/videoconvolve"
git ls-files -z | xargs -0 cp --parents -t "$system/videoconvolve"
[ -f "$system/build/build.ninja" ] ||
  in_system meson setup /build /videoconvolve -Dcuda=disabled -Dbenchmarks=disabled -Dwerror=true
in_system ninja -C /build
in_system meson test -C /build --no-rebuild --print-errorlogs "$@"

if [ -f build/plugin/libgstconvolve.so ]; then
  mkdir -p "$system/older"
  cp build/plugin/libgstconvolve.so "$system/older/"
  in_system env GST_PLUGIN_PATH_1_0=/older GST_REGISTRY_1_0=/older/registry.bin gst-launch-1.0 -q \
    videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=320,height=240 ! videoconvolve preset=sharpen ! fakesink
  echo "the plugin built for GStreamer $(pkg-config --modversion gstreamer-1.0) runs on $(in_system pkg-config --modversion gstreamer-1.0)"
fi

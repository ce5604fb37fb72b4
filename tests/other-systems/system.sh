# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by debian13.sh and ubuntu2404.sh: another system in a folder, made with debootstrap, and the plugin built and
# tested there. For root on Debian and its kin.

# shellcheck source-path=SCRIPTDIR
. tests/other-systems/bootstrap.sh

# prepare ROOT-FOLDER SUITE: makes the system where it is not there yet, with what the build and the tests need. Sets
# `system`, its folder.
prepare() {
  local root=$1 suite=$2
  system=$root/system
  if [ ! -e "$root/made" ]; then
    rm -rf "$system"  # what a run that was cut short has left
    make_system "$suite" "$system"
    touch "$root/made"
  fi
  cp /etc/resolv.conf /etc/hosts "$system/etc/"
  mountpoint -q "$system/proc" || mount --bind /proc "$system/proc"
  trap 'umount "$system/proc"' EXIT
  in_system apt-get update -qq
  in_system apt-get install -y -qq --no-install-recommends g++ meson ninja-build pkg-config python3 python3-gi \
    python3-numpy valgrind libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev libhwy-dev libgtest-dev \
    gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad >/dev/null
}

in_system() { chroot "$system" env DEBIAN_FRONTEND=noninteractive "$@"; }

# build_and_test MESON-TEST-ARGUMENT...: the plugin and its tests in that system. The build stays for the next time.
build_and_test() {
  rm -rf "$system/videoconvolve"
  mkdir -p "$system/videoconvolve"
  git ls-files -z | xargs -0 cp --parents -t "$system/videoconvolve"
  [ -f "$system/build/build.ninja" ] ||
    in_system meson setup /build /videoconvolve -Dcuda=disabled -Dbenchmarks=disabled -Dwerror=true
  in_system ninja -C /build
  in_system meson test -C /build --no-rebuild --print-errorlogs "$@"
  echo "tested on GStreamer $(in_system pkg-config --modversion gstreamer-1.0)"
}

# load_our_own: this system's own build of the plugin, if there is one in build/, loaded by that system's newer GStreamer.
load_our_own() {
  [ -f build/plugin/libgstconvolve.so ] || return 0
  mkdir -p "$system/older"
  cp build/plugin/libgstconvolve.so "$system/older/"
  in_system env GST_PLUGIN_PATH_1_0=/older GST_REGISTRY_1_0=/older/registry.bin gst-launch-1.0 -q \
    videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=320,height=240 ! videoconvolve preset=sharpen ! fakesink
  echo "the plugin built for GStreamer $(pkg-config --modversion gstreamer-1.0) runs on $(in_system pkg-config --modversion gstreamer-1.0)"
}

# test_on NAME SUITE [ROOT-FOLDER [MESON-TEST-ARGUMENT...]]: all of it, in ROOT-FOLDER or in one of that name.
test_on() {
  local root=${3:-$HOME/.cache/videoconvolve/$1} suite=$2
  shift $(($# > 2 ? 3 : 2))
  if [ $# -eq 0 ]; then set -- --suite unit --suite element; fi
  prepare "$root" "$suite"
  build_and_test "$@"
  load_our_own
}

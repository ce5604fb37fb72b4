#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Installs what the build and the examples need (Debian 12, Ubuntu 24.04 and later, where it is missing) and builds
# into build/. Arguments go to `meson setup` of a first build. Called by pipelines/demo.sh and tests/run.sh.
set -euo pipefail
cd "$(dirname "$0")"

packages=(
  g++ meson ninja-build pkg-config
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev libhwy-dev
  libgtest-dev libbenchmark-dev
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
  gstreamer1.0-plugins-ugly gstreamer1.0-libav
  python3 python3-gi python3-numpy gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
  ffmpeg imagemagick mate-backgrounds fonts-dejavu-core
)

install_packages() {
  local missing=()
  for package in "${packages[@]}" "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "Installing: ${missing[*]}"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Run as root, or install by hand: ${missing[*]}" >&2; exit 1; }
    root=(sudo)
  fi
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

if command -v apt-get >/dev/null; then
  # shellcheck disable=SC2086  # a list of names
  install_packages ${EXTRA_PACKAGES:-}
else
  echo "No apt-get here: going on with what is installed. Needed (Debian's names): ${packages[*]}"
fi

[ -f build/build.ninja ] || meson setup build "$@"
ninja -C build

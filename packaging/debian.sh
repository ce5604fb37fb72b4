#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# debian.sh [--try SUITE]...: builds the Debian package gstreamer1.0-videoconvolve into build-deb/ and lets lintian judge
# it. For each --try (bookworm, trixie, ...) it makes a fresh system with debootstrap, installs the package there,
# looks at the element, runs a pipeline, and purges the package again. Needs root for --try,
# and where packages that the build needs are missing.
# DEB_BUILD_OPTIONS=nocuda leaves the CUDA backend out where nvcc is found; CUDA_ARCH=90 builds it for that compute
# capability alone, where seven take some twenty minutes of two cores. MIRROR names the package archive; without it, that of
# this system is used.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=()
while [ "${1:-}" = --try ]; do
  suites+=("$2")
  shift 2
done
[ $# -eq 0 ] || { sed -n '5,12s/^# //p' "$0" >&2; exit 1; }

needed=(build-essential debhelper devscripts lintian fakeroot meson ninja-build pkg-config libgstreamer1.0-dev
  libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev libhwy-dev)
[ ${#suites[@]} -eq 0 ] || needed+=(debootstrap)
[ ! -e .git ] || needed+=(git)
missing=()
for package in "${needed[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "Installing: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# The package is built from what is committed, or where the tree is a released archive's, from all of that but builds.
out=$PWD/build-deb
rm -rf "$out"
mkdir -p "$out/source"
if [ -e .git ]; then git archive HEAD; else tar -c --exclude='./build*' .; fi | tar -x -C "$out/source"
(cd "$out/source" && dpkg-buildpackage -b -us -uc)
package=$(ls "$out"/gstreamer1.0-videoconvolve_*.deb)
echo "Package: $package"
lintian --fail-on error,warning "$out"/*.changes
echo "lintian: clean"

# shellcheck disable=SC2016  # apt expands it
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)}
for suite in "${suites[@]}"; do
  root=$out/$suite
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$out/debootstrap-$suite.log" ||
    { tail -n 20 "$out/debootstrap-$suite.log"; exit 1; }
  inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root "$@"; }
  for file in /etc/apt/apt.conf.d/*proxy* /etc/apt/auth.conf.d/*; do
    [ ! -e "$file" ] || install -D -m 600 "$file" "$root$file"
  done
  cp "$package" "$root/tmp/"
  inside apt-get update -qq
  inside apt-get install -y -qq --no-install-recommends "/tmp/$(basename "$package")" gstreamer1.0-tools \
    gstreamer1.0-plugins-base >/dev/null
  inside gst-inspect-1.0 videoconvolve | sed -n '1,12p'
  inside gst-launch-1.0 -q videotestsrc num-buffers=10 ! video/x-raw,width=320,height=240 ! \
    videoconvolve preset=gaussian-blur radius=3 backend=cpu ! fakesink
  inside apt-get purge -y -qq gstreamer1.0-videoconvolve >/dev/null
  if inside gst-inspect-1.0 videoconvolve >/dev/null 2>&1; then
    echo "$suite: the element is still there after the package was purged" >&2
    exit 1
  fi
  echo "ok: $suite: installed, inspected, ran a pipeline, purged"
  rm -rf "$root"
done

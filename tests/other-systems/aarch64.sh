#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The CPU's kernels on aarch64, NEON included: cross-built with the conformance tests and run in qemu-user. For Debian
# and its kin on another processor; installs what it needs where it is root, and Highway for arm64 beside the system.
#
#   tests/other-systems/aarch64.sh [BUILD-FOLDER [CONFORMANCE-ARGUMENT...]]      build-aarch64 --cases=120
#
# Without arguments for it, 60 cases each of banks, of regions, of areas and of differences of luma follow.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build-aarch64}
shift $(($# > 0 ? 1 : 0))
others=()
if [ $# -eq 0 ]; then
  set -- --cases=120
  others=(conformance_banks conformance_regions conformance_areas conformance_luma)
fi
mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial"
build=$(cd "$build" && pwd)

needed=()
command -v aarch64-linux-gnu-g++ >/dev/null || needed+=(g++-aarch64-linux-gnu)
command -v qemu-aarch64 >/dev/null || needed+=(qemu-user)
if [ ${#needed[@]} -gt 0 ]; then apt-get install -y --no-install-recommends "${needed[@]}"; fi

# Highway from the system's own package host, without making arm64 one of the system's architectures.
if [ ! -d "$build/sysroot/usr/include/hwy" ]; then
  arm64=(-o "Dir::State::lists=$build/apt/lists" -o "Dir::Cache::archives=$build/apt/archives"
    -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o APT::Sandbox::User=root)
  apt-get "${arm64[@]}" update
  (cd "$build/apt/archives" && apt-get "${arm64[@]}" download libhwy-dev libhwy1)
  for package in "$build"/apt/archives/libhwy*.deb; do dpkg-deb -x "$package" "$build/sysroot"; done
fi

# What x86 alone has compiles to nothing elsewhere.
library=$build/sysroot/usr/lib/aarch64-linux-gnu
tests/conformance/makefile.sh "$build" "${AARCH64_CXX:-aarch64-linux-gnu-g++}" \
  "-O2 -Wall -Wextra -isystem $build/sysroot/usr/include" "-L$library" >"$build/Makefile"
make -s -f "$build/Makefile" -j"$(nproc)" "$build/conformance" "${others[@]/#/$build/}"

run() { qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$library" "$build/$1" --backend=cpu "${@:2}"; }
run conformance "$@"
for program in "${others[@]}"; do run "$program" --cases=60; done

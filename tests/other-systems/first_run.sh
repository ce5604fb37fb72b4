#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The first run of pipelines/demo.sh on a bare system, timed: Debian 12 or Ubuntu 24.04, made by debootstrap for this and
# thrown away. Packages are downloaded before, all else is measured: their unpacking, the build, the videos. Other
# work on the machine stretches the wall clock and not the processor time, by which the limit goes: three minutes of two
# cores. The second run has to build nothing. For root on Debian and its kin. Not in CI: it takes about ten minutes.
#
#   tests/other-systems/first_run.sh [SUITE [CHIP]]      bookworm (the default) or noble
#
# CHIP, 90 say, lends the system this one's CUDA toolkit and an nvidia-smi that tells of a GPU of that compute capability:
# the plugin is then built for it, which is longer. "none" lends the toolkit without a GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source-path=SCRIPTDIR
. tests/other-systems/bootstrap.sh
suite=${1:-bookworm} chip=${2:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/first-run.XXXXXX")
system=$work/$suite
cleanup() {
  mountpoint -q "$system/usr/local/cuda" && umount "$system/usr/local/cuda"
  mountpoint -q "$system/proc" && umount "$system/proc"
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

echo "making a bare $suite"
make_system "$suite" "$system"
mount --bind /proc "$system/proc"
if [ -n "$chip" ]; then
  mkdir -p "$system/usr/local/cuda"
  mount --bind -o ro "$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")" "$system/usr/local/cuda"
  if [ "$chip" != none ]; then
    printf '#!/bin/sh\necho %s\n' "${chip%?}.${chip: -1}" >"$system/usr/local/bin/nvidia-smi"
    chmod +x "$system/usr/local/bin/nvidia-smi"
  fi
fi
mkdir -p "$system/videoconvolve"
git ls-files -z | xargs -0 cp --parents -t "$system/videoconvolve"

inside() {
  chroot "$system" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive "$@"
}
echo "downloading packages"
inside apt-get update -qq
# shellcheck disable=SC2016  # for the shell inside
inside bash -c '
  . <(sed -n "/_packages=($/,/^)/p" /videoconvolve/setup.sh)
  apt-get install -y -qq --download-only --no-install-recommends "${plugin_packages[@]}" "${run_packages[@]}"' >/dev/null

TIMEFORMAT="%R %U %S"
timed() { # NAME: runs the demo and prints its times; the processor's goes to $spent
  local times
  times=$({ time inside /videoconvolve/pipelines/demo.sh >"$work/demo.log" 2>&1; } 2>&1) ||
    { tail -n 40 "$work/demo.log"; echo "$1 failed"; exit 1; }
  spent=$(awk '{print $2 + $3}' <<<"$times")
  awk -v name="$1" -v cores="$(nproc)" '{printf "%s: %.0f s of processor time (%.0f s of two cores), %.0f s of wall clock on %d cores\n",
    name, $2 + $3, ($2 + $3) / 2, $1, cores}' <<<"$times"
}
timed "first run on $suite${chip:+ with nvcc, GPU: $chip}"
first=$spent
grep -E 'Building the plugin|No NVIDIA GPU' "$work/demo.log"
test -s "$system/videoconvolve/demo-out/contact-sheet.png"
timed "second run"
if ! grep -q 'ninja: no work to do' "$work/demo.log"; then
  echo "the second run built something:"
  head -n 20 "$work/demo.log"
  exit 1
fi
if awk -v spent="$first" 'BEGIN { exit spent <= 360 }'; then
  echo "the first run took more than three minutes of two cores"
  exit 1
fi
echo "1 passed, 0 failed"

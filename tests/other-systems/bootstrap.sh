# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fresh systems by debootstrap, to be sourced by the scripts beside this one. For root on Debian and its kin.

# own_mirror: the package archive of this Debian system.
own_mirror() {
  cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
    sed -n 's/^URIs: *//p; s/^deb *\(\[[^]]*\] *\)\?\(http[^ ]*\).*/\2/p' | grep -v security | sed -n 1p || true
}

# make_system SUITE FOLDER: a minimal bookworm, trixie or noble, with this system's way to the network. UBUNTU_MIRROR
# names the archive of noble, whose signature is checked where the package ubuntu-keyring is installed.
make_system() {
  local suite=$1 folder=$2 mirror script=() options=(--variant=minbase)
  command -v debootstrap >/dev/null || apt-get install -y --no-install-recommends debootstrap
  mirror=$(own_mirror)
  if [ "$suite" = noble ]; then
    mirror=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
    options+=("--components=main,universe")
    [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
    # Debian's debootstrap need not know every release of Ubuntu's: they are all made alike.
    [ -e /usr/share/debootstrap/scripts/noble ] || script=(gutsy)
  fi
  mkdir -p "$folder"
  if ! debootstrap "${options[@]}" "$suite" "$folder" "$mirror" "${script[@]}" >"$folder.log" 2>&1; then
    tail -n 20 "$folder.log"
    return 1
  fi
  local file
  cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
  for file in /etc/apt/apt.conf.d/*proxy* /etc/apt/auth.conf.d/*; do
    [ ! -e "$file" ] || install -D -m 600 "$file" "$folder$file"
  done
}

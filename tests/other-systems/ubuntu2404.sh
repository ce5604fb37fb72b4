#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Ubuntu 24.04 (GStreamer 1.24): the plugin built there and its tests run there, those of object detections among them;
# then this system's own build of the plugin, if there is one in build/, loaded by that GStreamer. For root on Debian and
# its kin. Not in CI: a fresh system takes about ten minutes.
#
#   tests/other-systems/ubuntu2404.sh [ROOT-FOLDER [MESON-TEST-ARGUMENT...]]
#
# The system is made with debootstrap in ROOT-FOLDER (default: ~/.cache/videoconvolve/ubuntu2404), from Ubuntu's archive or
# from UBUNTU_MIRROR, and kept there, with its build, for the next time. Where this system has no keyring of Ubuntu's, the
# first packages are taken without a check of their signatures, the keyring among them; apt checks those that follow.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/other-systems/system.sh
test_on ubuntu2404 noble "$@"

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
. tests/other-systems/system.sh
test_on debian13 trixie "$@"

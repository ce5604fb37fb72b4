#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# run.sh BUILD: pipelines/tune.py and its page in a headless Chromium, which is installed where it is missing. Ends with 77
# where the system has no such package: Ubuntu's Chromium is a snap, which runs in no container.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
if ! command -v chromium-headless-shell >/dev/null && ! command -v chromium >/dev/null; then
  if ! apt-cache show chromium-headless-shell >/dev/null 2>&1; then
    echo "this system has no package chromium-headless-shell"
    exit 77
  fi
  root=()
  [ "$(id -u)" = 0 ] || root=(sudo)
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null
fi
export GST_PLUGIN_PATH=$build/plugin GST_REGISTRY=$build/registry.bin
exec timeout 120 /usr/bin/python3 tests/tune/test.py

#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# build.sh [--recipes]: builds the documentation into build-docs/site, with the reference made from the element; a link that
# leads nowhere fails the build. The tools come into build-docs/venv, at the versions of docs/requirements.txt.
# With --recipes the recipes of the cookbook run first, and the drawings are held against the element.
# The search of the site needs a server: python3 -m http.server -d build-docs/site.
# The plugin is that of GST_PLUGIN_PATH, or the one in build/ or build-plugin/ (./setup.sh --plugin builds it).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${GST_PLUGIN_PATH:-}" ]; then
  for folder in build build-plugin; do
    if [ -f $folder/plugin/libgstconvolve.so ]; then
      export GST_PLUGIN_PATH=$PWD/$folder/plugin
      break
    fi
  done
fi
if [ "${1:-}" = --recipes ]; then
  /usr/bin/python3 docs/drawings.py --check
  /usr/bin/python3 docs/radius_strip.py --check
  /usr/bin/python3 docs/compass.py --check
  /usr/bin/python3 docs/recipes.py
fi
venv=build-docs/venv
if ! cmp -s docs/requirements.txt $venv/requirements.txt; then
  rm -rf $venv
  /usr/bin/python3 -m venv $venv
  $venv/bin/pip install -q --disable-pip-version-check -r docs/requirements.txt
  cp docs/requirements.txt $venv/
fi
NO_MKDOCS_2_WARNING=1 $venv/bin/mkdocs build --strict --quiet
echo "build-docs/site/index.html"

#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A storm (storm.cpp) over the plugin of one build folder, under the sanitizer that it was built with. The last line counts.
#
#   tests/storm/run.sh [SECONDS, default 60 [BUILD-FOLDER, default build [SEED, default the time]]]
#
# Under AddressSanitizer, what is still allocated but reachable by nothing at the end fails the storm, too.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60} build=${2:-build} seed=${3:-$(date +%s)}
[ -f "$build/plugin/libgstconvolve.so" ] || { echo "no plugin in $build: build it first, or name another folder" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=()
sources=(tests/storm/storm.cpp)
libraries=$(ldd "$build/plugin/libgstconvolve.so")
if [[ $libraries == *libasan* ]]; then flags=("-fsanitize=address,undefined"); fi
if [[ $libraries == *libtsan* ]]; then
  flags=(-fsanitize=thread)
  sources+=(tests/element/sanitizers.cpp)
fi
# shellcheck disable=SC2046  # a list of flags
"${CXX:-g++}" -std=c++20 -O1 -g -Wall -Wextra -Werror "${flags[@]}" "${sources[@]}" $(pkg-config --cflags --libs gstreamer-1.0) -o "$work/storm"
export GST_PLUGIN_PATH_1_0=$build/plugin GST_REGISTRY_1_0=$work/registry.bin GST_REGISTRY_FORK=no
if [ "${STORM_BACKEND:-cpu}" = cpu ]; then
  # What the pipelines need alone: other plugins bring libraries that leak as they are loaded.
  mkdir "$work/plugins"
  ln -s "$(pkg-config --variable=pluginsdir gstreamer-1.0)"/libgst{coreelements,videotestsrc}.so "$work/plugins"
  export GST_PLUGIN_SYSTEM_PATH_1_0=$work/plugins
fi
export ASAN_OPTIONS=detect_leaks=1 G_SLICE=always-malloc  # of a slice in a slab nobody can tell whether it leaked
# A time limit of its own: what hangs is a failure.
timeout $((seconds * 2 + 180)) "$work/storm" "$seconds" "$seed"

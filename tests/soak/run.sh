#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A day's worth of frames at 30 frames a second, as fast as they go, and ten thousand state cycles; soak.cpp says what
# is measured. Prints a report in Markdown, to be kept in results/ with its date.
#
#   tests/soak/run.sh [FRAMES, default 2600000 [CYCLES, default 10000 [BUILD-FOLDER, default build [ELEMENT]]]]
#
# The plugin is the one in BUILD-FOLDER.
set -euo pipefail
cd "$(dirname "$0")/../.."
frames=${1:-2600000} cycles=${2:-10000} build=${3:-build} element=("${@:4:1}")
[ -f "$build/plugin/libgstconvolve.so" ] || { echo "no plugin in $build: build it first, or name another folder" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046  # a list of flags
"${CXX:-g++}" -std=c++20 -O2 -Wall -Wextra -Werror tests/soak/soak.cpp $(pkg-config --cflags --libs gstreamer-1.0) -o "$work/soak"
echo "# Long runs, $(date -u +%F)"
echo
echo "Commit $(git describe --always --dirty), $(gst-inspect-1.0 --version | sed -n 2p), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1),"
echo "by \`tests/soak/run.sh $frames $cycles${element[*]:+ $build ${element[*]}}\`: I420, 32x24, ${element[*]:-a temporal mean of five frames on the CPU}."
# One arena, no cache of a thread's own and no slices: what a thread keeps for later would look like growth of some KiB,
# as it also does with `identity` in the element's place.
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1:glibc.pthread.stack_cache_size=0 G_SLICE=always-malloc
GST_PLUGIN_PATH_1_0=$build/plugin GST_REGISTRY_1_0=$work/registry.bin "$work/soak" "$frames" "$cycles" "${element[@]}"

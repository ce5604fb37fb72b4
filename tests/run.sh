#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Everything that can be tested on this machine, set-up included: the suites as built for use, under ASan+UBSan and
# under TSan, fuzzing, a warning-free clang build, a build without CUDA, and each example in
# pipelines/. What needs a GPU is skipped, and says so. Each line ends with the seconds that its step took. What runs one
# process at a time goes on beside the builds for sanitizers, and is printed when it is through. The line "in numbers: ..."
# says how much was tried, the last line counts: "N passed, N failed, N skipped".
# shellcheck disable=SC2030,SC2031  # the steps run beside the others have counts of their own
set -uo pipefail
cd "$(dirname "$0")/.." || exit
passed=0 failed=0 skipped=0
failures=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
logs=$work/logs  # of the suites, storms and fuzzers, whose numbers are added up at the end

before=$SECONDS  # when the last step ended
took() { echo "[$((SECONDS - before)) s]"; }
pass() { passed=$((passed + 1)); echo "ok: $1 $(took)"; before=$SECONDS; }
fail() { failed=$((failed + 1)); failures+=("$1"); echo "FAILED: $1 $(took)"; before=$SECONDS; }
skip() { skipped=$((skipped + 1)); echo "skipped: $1"; }

# step NAME COMMAND...: one test; its output is shown where it fails.
step() {
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1 </dev/null; then pass "$name"; else fail "$name"; tail -n 60 "$log"; fi
  rm -f "$log"
}

# suites BUILD NAME [ARGUMENT...]: `meson test` in that folder; adds its own counts.
suites() {
  local build=$1 name=$2 log=$1/meson-logs/testlog.txt ok bad skips
  shift 2
  rm -f "$log"
  meson test -C "$build" --no-rebuild --print-errorlogs "$@"
  cat "$log" >>"$logs"
  ok=$(sed -n 's/^Ok: *\([0-9]*\)/\1/p' "$log" | tail -n 1)
  bad=$(sed -n 's/^\(Fail\|Timeout\|Unexpected Pass\): *\([0-9]*\)/\2/p' "$log" | paste -sd+ | bc)
  skips=$(sed -n 's/^Skipped: *\([0-9]*\)/\1/p' "$log" | tail -n 1)
  if [ "${ok:-0}" -eq 0 ]; then fail "$name: no test ran"; fi
  if [ "${bad:-0}" -gt 0 ]; then failures+=("$name: $bad failed"); fi
  passed=$((passed + ${ok:-0})) failed=$((failed + ${bad:-0})) skipped=$((skipped + ${skips:-0}))
  echo "$name: ${ok:-0} passed $(took)"
  before=$SECONDS
}

# beside FUNCTION: runs it in the background, with counts of its own, until join FUNCTION prints what it said and adds them.
beside() {
  (
    passed=0 failed=0 skipped=0 failures=() before=$SECONDS logs=$work/$1.logs
    "$1"
    declare -p passed failed skipped failures >"$work/$1.counts"
  ) >"$work/$1.log" 2>&1 </dev/null &
}
join() {
  local counts=("$passed" "$failed" "$skipped") earlier=("${failures[@]}")
  wait
  echo "beside all this, $1: $(took)"
  cat "$work/$1.log"
  if [ -f "$work/$1.logs" ]; then cat "$work/$1.logs" >>"$logs"; fi
  passed=0 failed=1 skipped=0 failures=("$1 ended early")
  if [ -f "$work/$1.counts" ]; then eval "$(sed 's/^declare -a/declare -ga/; s/^declare --/declare -g/' "$work/$1.counts")"; fi
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
  failures=("${earlier[@]}" "${failures[@]}")
  before=$SECONDS
}

# storm BUILD NAME [ARGUMENT...]: a minute of tests/storm over that build; its numbers are in the name of the step.
storm() {
  local build=$1 name=$2 said
  shift 2
  if said=$("$@" tests/storm/run.sh 60 "$build" 1 2>&1 </dev/null); then
    pass "$name: ${said##*$'\n'}"
    echo "${said##*$'\n'}" >>"$logs"
  else
    fail "$name"
    tail -n 60 <<<"$said"
  fi
}

gpu=no
if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then gpu=yes; fi

home=$(getent passwd "$(id -u)" | cut -d: -f6)  # not always what HOME says where tests run unattended
# Where ccache is, meson compiles through it. Its one cache serves each clone of this user's: objects with debug
# information (the sanitizers' builds) too, which name the folder of the clone that compiled them first.
if [ -n "$home" ] && [ -w "$home" ]; then export CCACHE_DIR=${CCACHE_DIR:-$home/.cache/ccache}; fi
export CCACHE_NOHASHDIR=1

# Without a GPU nothing of the CUDA code runs, so that one chip is enough to see it compile.
configure=(-Dwerror=true)
if [ $gpu = no ]; then configure+=(-Dcuda-arch=75); fi
if ! EXTRA_PACKAGES="clang clang-tidy bc shellcheck valgrind python3-venv python3-yaml slurm-wlm munge ccache python3-dev python3-opencv ffmpeg imagemagick librsvg2-bin pipewire pipewire-bin wireplumber gstreamer1.0-pipewire dbus" ./setup.sh "${configure[@]}" </dev/null; then
  echo "FAILED: set-up and build"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
pass "set-up and build"

# VapourSynth, whose strings the element takes too, has a wheel for Python 3.12 and later. Prints the Python of an
# environment that has it; where none can be made, the last line on standard error says why.
vapoursynth_python() {
  local python venv=build/vapoursynth-venv
  echo "there is no Python 3.12 or later" >&2
  for python in /usr/bin/python3 python3.1{2..9} {"${PYENV_ROOT:-$HOME/.pyenv}","$home/.pyenv"}/versions/3.1[2-9].*/bin/python; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || continue
    if "$python" -m venv --clear $venv >&2 &&
      $venv/bin/pip install -q --disable-pip-version-check "vapoursynth==81" numpy >&2 &&
      $venv/bin/python -c "import numpy, vapoursynth" >&2; then
      echo "$PWD/$venv/bin/python"
      return
    fi
    echo "$python could make no environment with VapourSynth" >&2
  done
}
if [ -z "${VAPOURSYNTH_PYTHON:-}" ]; then VAPOURSYNTH_PYTHON=$(vapoursynth_python 2>"$work/vapoursynth.log" </dev/null); fi
if [ -n "$VAPOURSYNTH_PYTHON" ]; then
  export VAPOURSYNTH_PYTHON
  pass "VapourSynth for the tests of kernel strings"
else
  skip "kernel strings beside VapourSynth: $(tail -n 1 "$work/vapoursynth.log")"
fi

suites build "suites"
storm build "storm"
if [ $gpu = yes ]; then storm build "storm on the GPU" env STORM_BACKEND=cuda; fi

# What runs one process at a time, most of it.
one_at_a_time() {
  step "the plugin loads with no NVIDIA library on its list" bash -c '
    ! ldd build/plugin/libgstconvolve.so | grep -E "libcuda\.so|libcudart|libnv"'
  export GST_PLUGIN_PATH=$PWD/build/plugin GST_REGISTRY=$PWD/build/registry.bin
  step "gst-inspect-1.0 videoconvolve" gst-inspect-1.0 videoconvolve

  step "the code is formatted, its headers compile alone, clang-tidy finds nothing in what both backends share" env LINT_TIDY=few tests/lint.sh
  step "shell scripts are clean" shellcheck -x setup.sh python/test.sh packaging/*.sh tests/run.sh tests/lint.sh pipelines/*.sh tests/gpu/*.sh tests/archive/*.sh tests/conformance/*.sh tests/detector/*.sh tests/fuzz/*.sh tests/storm/*.sh tests/soak/*.sh tests/tune/*.sh tests/virtual-camera/*.sh tests/other-systems/*.sh examples/*.sh pipelines/archive/examples/*.sh docs/*.sh
  if fuzzed=$(tests/fuzz/coverage.sh 180 2>&1 </dev/null); then
    pass "fuzzing by coverage, ${fuzzed##*$'\n'}"
    echo "${fuzzed##*$'\n'}" >>"$logs"
  else
    fail "fuzzing by coverage"
    echo "$fuzzed"
  fi
  if fuzzed=$(tests/fuzz/streams.sh 60 2>&1 </dev/null); then
    pass "fuzzing of the whole element by coverage, ${fuzzed##*$'\n'}"
    echo "${fuzzed##*$'\n'}" >>"$logs"
  else
    fail "fuzzing of the whole element by coverage"
    tail -n 60 <<<"$fuzzed"
  fi
  step "sets of values by GstPreset" tests/presets.py
  if pages=$(docs/build.sh --recipes 2>&1 </dev/null); then
    pass "documentation: $(grep -o '^[0-9]* recipes' <<<"$pages") run, links, drawings, reference"
  else
    fail "documentation"
    tail -n 60 <<<"$pages"
  fi
  # shellcheck disable=SC2016
  step "each script of pipelines/ says how it is used" bash -c '
    for script in pipelines/*.sh pipelines/*.py; do
      "$script" --help 2>&1 | grep -Eq "^([a-z]+: )?usage: ${script##*/} " || { echo "$script --help says nothing of use"; exit 1; }
    done'
  step "pipelines/clip.sh" pipelines/clip.sh "$work/clip.mp4" 1
  odd="$work/50% of \"clip #1 (1).mp4"  # a URI would read the % and the # otherwise, a pipeline's text the blanks and the "
  ln -f "$work/clip.mp4" "$odd"
  step "pipelines/file.sh" pipelines/file.sh "$odd" "$work/a \"file (1).mp4"
  step "pipelines/file.sh wrote the file that it was told to" test -s "$work/a \"file (1).mp4"
  step "pipelines/camera.sh (test picture)" pipelines/camera.sh test
  step "pipelines/motion.sh (test picture)" pipelines/motion.sh test
  step "pipelines/mask.sh (test picture)" pipelines/mask.sh test
  step "pipelines/privacy.sh (a clip without a face)" pipelines/privacy.sh "$work/clip.mp4" "$work/privacy"
  # shellcheck disable=SC2016
  step "pipelines/privacy.sh, paths with blanks and quotation marks" bash -c '
    cp /usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml "$2 \"cascade\" c.xml"
    PRIVACY_CASCADE="$2 \"cascade\" c.xml" pipelines/privacy.sh "$1" "$2 \"out\"" && test -s "$2 \"out\"/privacy.mp4"' - "$odd" "$work/privacy"
  # shellcheck disable=SC2016
  step "pipelines/privacy.sh ends with an error where OpenCV has no cascade" bash -c '
    ! PRIVACY_CASCADE=/nowhere/cascade.xml pipelines/privacy.sh "$1" "$2" 2>"$2.log" && grep -q "opencv-data" "$2.log"' - "$work/clip.mp4" "$work/privacy"
  step "pipelines/denoise.py" pipelines/denoise.py "$work"
  step "pipelines/demo.sh" env DEMO_OUT="$work/demo" pipelines/demo.sh "$work/clip.mp4"
  step "the contact sheet is there" test -s "$work/demo/contact-sheet.png"
  tuned=$(tests/tune/run.sh build 2>&1 </dev/null)
  case $? in
    0) pass "pipelines/tune.py in a browser: ${tuned##*$'\n'}" ;;
    77) skip "pipelines/tune.py in a browser: $tuned" ;;
    *) fail "pipelines/tune.py in a browser"; tail -n 60 <<<"$tuned" ;;
  esac
  camera=$(tests/virtual-camera/test.sh build 2>&1 </dev/null)
  case $? in
    0) pass "pipelines/virtual-camera.sh: ${camera##*$'\n'}" ;;
    77) skip "pipelines/virtual-camera.sh: $camera" ;;
    *) fail "pipelines/virtual-camera.sh"; tail -n 60 <<<"$camera" ;;
  esac
  if [ $gpu = yes ]; then
    step "pipelines/gpu.sh" pipelines/gpu.sh "$work/clip.mp4"
  else
    skip "pipelines/gpu.sh needs an NVIDIA GPU; none was found"
  fi

  step "Python package: wheel, filters of arrays, the element it carries" python/test.sh
  step "faces of a real detector are hidden" tests/detector/test.sh build/plugin
  if [ -x build-wheel/venv/bin/python ]; then
    step "errors beside PyPI's NumPy" build-wheel/venv/bin/python tests/element/errors_beside_numpy.py
  fi
  . tests/archive/steps.sh
}
beside one_at_a_time

# other_build FOLDER NAME MESON-ARGUMENT...: configured anew and built; TARGETS, where it is set, alone.
other_build() {
  local folder=$1 name=$2
  shift 2
  rm -rf "$folder"
  # shellcheck disable=SC2016
  step "$name" bash -c 'meson setup "$0" "$@" && ninja -C "$0" $TARGETS' "$folder" -Dcuda=disabled "$@"
}
# For its warnings, which need no optimiser.
CC=clang CXX=clang++ other_build build-clang "clang builds without a warning, no CUDA" -Dwerror=true -Dbenchmarks=disabled -Doptimization=0
# Unoptimised: the optimiser takes minutes over instrumented SIMD code, longer than the tests then save.
# -g1 is what reports need, lines and functions, and a tenth less to compile.
other_build build-asan "build with ASan and UBSan" -Db_sanitize=address,undefined -Dbuildtype=debug -Dcpp_args=-g1 -Dbenchmarks=disabled
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
storm build-asan "storm under ASan, UBSan and LSan"
suites build-asan "suites under ASan and UBSan" --no-suite conformance --timeout-multiplier 8
suites build-asan "conformance under ASan and UBSan" --suite conformance --no-suite emulated --test-args=--cases=250 --timeout-multiplier 8
if [ -x build-asan/tests/conformance/conformance_emulated ]; then
  step "emulated conformance under ASan and UBSan" build-asan/tests/conformance/conformance_emulated --backend=cpu --simd=vnni,avxvnni --cases=30
fi
TARGETS="plugin/libgstconvolve.so tests/unit/unit-threads tests/conformance/conformance $(printf 'tests/element/element-%s ' events lifecycle stress)" \
  other_build build-tsan "build with TSan" -Db_sanitize=thread -Dbuildtype=debug -Dcpp_args=-g1 -Dbenchmarks=disabled
storm build-tsan "storm under TSan"
suites build-tsan "threads under TSan" --suite threads --timeout-multiplier 8
step "conformance of the CPU backend under TSan" build-tsan/tests/conformance/conformance --backend=cpu --cases=20
join one_at_a_time

if numbers=$(tests/numbers.py <"$logs"); then pass "$numbers"; else fail "a kind of test has no numbers; $numbers"; fi
if [ $failed -gt 0 ]; then printf 'FAILED: %s\n' "${failures[@]}"; fi
echo "in $((SECONDS / 60)) minutes:"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]

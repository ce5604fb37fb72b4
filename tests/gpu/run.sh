#!/bin/bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the GPU tests of a bundle (tests/gpu/bundle.sh) on a host with an NVIDIA driver and no GStreamer.
#
#   run.sh [-o result-dir] [step...]     steps: conformance sanitizer element storm pipeline driver; default: all six
#
# Writes result-dir/result.md (hardware, driver, commit, each step) and a log a step. Last line: N passed, N failed, N skipped.
# CONFORMANCE_CASES: how many of the conformance cases run for each algorithm (default: all).
# STORM_SECONDS: how long each of the three storms goes on (default 60).
# SANITIZER_CASES: how many of the conformance cases run under compute-sanitizer (default 400). JOBS: steps at a time (8).
# FAULTS_SECONDS: how long calls of the driver are made to fail, in all (default 240), in each of FAULTS_PROCESSES
# processes (default 8); the result ends with how many faults that were.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
results=$here/results
if [ "${1:-}" = -o ]; then
  results=$2
  shift 2
fi
steps=("$@")
[ $# -gt 0 ] || steps=(conformance sanitizer element storm pipeline driver)
mkdir -p "$results"
jobs_at_once=${JOBS:-8}

export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GST_PLUGIN_SYSTEM_PATH_1_0=$here/gstreamer-1.0 GST_PLUGIN_PATH_1_0=
export GST_PLUGIN_SCANNER_1_0=$here/bin/gst-plugin-scanner
export GST_REGISTRY_1_0=$results/registry.bin GST_REGISTRY=$results/registry.bin
export CK_DEFAULT_TIMEOUT=240
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$results}
PATH=$here/bin:$PATH

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -1)
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)

names=()
# step NAME COMMAND...: one test, in the background; its exit status decides (77: skipped).
step() {
  local name=$1
  shift
  names+=("$name")
  while [ "$(jobs -rp | wc -l)" -ge "$jobs_at_once" ]; do sleep 0.1; done
  (
    start=$(date +%s)
    timeout "${STEP_TIMEOUT:-600}" stdbuf -oL "$@" >"$results/$name.log" 2>&1 </dev/null
    echo "$? $(($(date +%s) - start))" >"$results/$name.rc"
  ) &
}
skip() {
  names+=("$1")
  echo "$2" >"$results/$1.log"
  echo "77 0" >"$results/$1.rc"
}
wanted() { [[ " ${steps[*]} " == *" $1 "* ]]; }
programs() { find "$here/tests/$1" -type f -executable 2>/dev/null | sort; }

# The CUDA algorithms, as the conformance program's table has them.
algorithms() {
  "$here/tests/conformance/conformance" --backend=cuda --cases=1 2>/dev/null | sed -n 's/^ *cuda, \([a-z_-]*\) .*/\1/p'
}

conformance() {
  local algorithm program found cases=(${CONFORMANCE_CASES:+"--cases=$CONFORMANCE_CASES"})
  found=$(algorithms)
  [ -n "$found" ] || step conformance-cuda "$here/tests/conformance/conformance" --backend=cuda --cases=1
  for algorithm in $found; do
    step "conformance-$algorithm" "$here/tests/conformance/conformance" --backend=cuda --algorithm="$algorithm" "${cases[@]}"
  done
  step conformance-fastest "$here/tests/conformance/conformance" --backend=cuda --algorithm=fastest --cases=300
  step conformance-large "$here/tests/conformance/conformance" --backend=cuda --large
  step conformance-regions "$here/tests/conformance/conformance_regions" --backend=cuda "${cases[@]}"
  step conformance-areas "$here/tests/conformance/conformance_areas" --backend=cuda --cases=600
  step conformance-banks "$here/tests/conformance/conformance_banks" --backend=cuda "${cases[@]}"
  step conformance-luma "$here/tests/conformance/conformance_luma" --backend=cuda
  step conformance-cpu "$here/tests/conformance/conformance" --backend=cpu
  for program in $(programs unit); do
    step "unit-$(basename "$program")" "$program"
  done
}

# The quick set, all algorithms, under the four tools.
sanitizers() {
  local tool cases
  for tool in memcheck racecheck initcheck synccheck; do
    # racecheck takes ten times as long as the others.
    cases=${SANITIZER_CASES:-400}
    [ $tool = racecheck ] && cases=$((cases / 4))
    if [ -z "$sanitizer" ]; then
      skip "sanitizer-$tool" "compute-sanitizer was not found"
    else
      step "sanitizer-$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$here/tests/conformance/conformance" --backend=cuda --cases="$cases"
      step "sanitizer-regions-$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$here/tests/conformance/conformance_regions" --backend=cuda --cases="$((cases / 4))"
      step "sanitizer-areas-$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$here/tests/conformance/conformance_areas" --backend=cuda --cases="$((cases / 8))"
      step "sanitizer-banks-$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$here/tests/conformance/conformance_banks" --backend=cuda --cases="$((cases / 4))"
      step "sanitizer-luma-$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$here/tests/conformance/conformance_luma" --backend=cuda --cases="$((cases / 4))"
    fi
  done
}

element() {
  local program
  for program in $(programs element); do
    # The same programs test either backend. CUDA does not survive a fork.
    if [ -n "$gpu" ] && [ "$(basename "$program")" = element-memory ]; then
      # Each of some hundred starts takes a second and more with a real driver.
      local share
      for share in 0 1 2 3; do
        step "element-memory-on-cuda-$share" env ELEMENT_TEST_BACKEND=cuda CK_FORK=no MEMORY_TEST_SHARE="$share/4" "$program"
      done
    elif [ -n "$gpu" ] && [ "$(basename "$program")" = element-stress ]; then
      # Most of these wait for the GPU with each of some hundred rounds.
      for share in 0 1 2 3; do
        step "element-stress-on-cuda-$share" env ELEMENT_TEST_BACKEND=cuda CK_FORK=no ELEMENT_TEST_SHARE="$share/4" "$program"
      done
    elif [ -n "$gpu" ]; then
      step "$(basename "$program")-on-cuda" env ELEMENT_TEST_BACKEND=cuda CK_FORK=no "$program"
    else
      skip "$(basename "$program")-on-cuda" "no GPU was found"
    fi
    step "$(basename "$program")-on-cpu" "$program"
  done
}

# Eight pipelines at once on one GPU, three times: tests/storm.
storms() {
  local seed
  if [ -z "$gpu" ]; then
    skip storm-on-cuda "no GPU was found"
    return
  fi
  for seed in 1 2 3; do
    step "storm-on-cuda-$seed" env STORM_BACKEND=cuda GST_REGISTRY_FORK=no "$here/tests/storm/storm" "${STORM_SECONDS:-60}" $seed
  done
}

launch_decode() {
  local log
  log=$(mktemp)
  GST_DEBUG='*convolve*:5' gst-launch-1.0 -v filesrc location="$here/media/clip.mp4" ! qtdemux ! h264parse ! nvh264dec ! \
    videoconvolve name=filter preset=sharpen ! fakesink sync=false >"$log" 2>&1
  local status=$?
  head -c 60000 "$log"
  [ $status -eq 0 ] || return 1
  grep -q 'filter.GstPad:src: caps = video/x-raw(memory:CUDAMemory)' "$log" || { echo "no CUDA memory on the source pad"; return 1; }
  grep -q 'filter.GstPad:sink: caps = video/x-raw(memory:CUDAMemory)' "$log" || { echo "no CUDA memory on the sink pad"; return 1; }
  rm -f "$log"
}
export -f launch_decode
export here

pipeline() {
  step pipeline-inspect gst-inspect-1.0 videoconvolve
  step pipeline-kernel-strings python3 "$here/kernel_strings.py" "$here/kernel-strings"
  if ! gst-inspect-1.0 --exists nvh264dec; then
    skip pipeline-decode "nvh264dec does not register here"
    return
  fi
  step pipeline-decode bash -c launch_decode
  local program
  for program in $(programs gpu); do
    step "pipeline-$(basename "$program")" "$program" "$here/media/clip.mp4"
  done
}

# Each call of the real driver fails in turn, under the layer of tests/driver that stands above it.
driver_faults() {
  local below share processes=${FAULTS_PROCESSES:-8}
  below=$(ldconfig -p | awk '/libcuda\.so\.1 .*x86-64/ {print $NF; exit}')
  if [ -z "$below" ] || [ -z "$gpu" ] || [ ! -x "$here/driver/driver-faults" ]; then
    skip driver-faults "no driver, or no driver-faults in the bundle"
    return
  fi
  for ((share = 0; share < processes; share++)); do
    step "driver-faults-$share" env LD_LIBRARY_PATH="$here/driver:$LD_LIBRARY_PATH" DRIVER_BELOW="$below" \
      DRIVER_FAULTS_SHARE="$share/$processes" DRIVER_FAULTS_SECONDS="${FAULTS_SECONDS:-240}" \
      GST_REGISTRY_1_0="$results/registry-driver-$share.bin" GST_REGISTRY_FORK=no \
      ELEMENT_TEST_BACKEND=cuda CK_FORK=no CK_DEFAULT_TIMEOUT=0 "$here/driver/driver-faults"
  done
}

# The registry is written once, before the steps run side by side.
gst-inspect-1.0 videoconvolve >/dev/null 2>&1
wanted conformance && conformance
wanted element && element
wanted storm && storms
wanted pipeline && pipeline
wanted driver && driver_faults
wanted sanitizer && sanitizers
wait

passed=0 failed=0 skipped=0
{
  echo "# GPU tests"
  echo
  echo "| | |"
  echo "|---|---|"
  echo "| GPU | ${gpu:-none found} |"
  echo "| driver | ${driver:-none found} |"
  echo "| processor | $(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo), $(nproc) cores |"
  echo "| date | $(date -u +%F) |"
  sed 's/^\([a-z]*\): \(.*\)/| \1 | \2 |/' "$here/info.txt"
  echo
  echo "| step | result | seconds | counts |"
  echo "|---|---|---|---|"
} >"$results/result.md"
for name in "${names[@]}"; do
  read -r status seconds <"$results/$name.rc"
  case $status in
    0) passed=$((passed + 1)) word=passed ;;
    77) skipped=$((skipped + 1)) word=skipped ;;
    *) failed=$((failed + 1)) word="FAILED ($status)" ;;
  esac
  counts=$(grep -aE '^\[  (PASSED|FAILED|SKIPPED) ? ?\] [0-9]+ tests?|^[0-9]+%: Checks|ERROR SUMMARY|^[0-9]+ passed, |^[0-9]+ cases \(|^cuda: [0-9]+ cases|faults injected|^out of time|^[0-9]+ cases of kernel strings|^storm of' "$results/$name.log" |
    sed 's/=*//; s/^ *//' | paste -sd';' | cut -c1-160)
  [ "$word" = skipped ] && counts=$(head -1 "$results/$name.log")
  echo "| $name | $word | $seconds | $counts |" >>"$results/result.md"
  if [ "$word" != passed ] && [ "$word" != skipped ]; then
    echo "--- $name: $word"
    grep -avE '^\[ +(OK|RUN) +\]|^=+ +(Host Frame|    in)' "$results/$name.log" | tail -n "${SHOW:-25}"
  fi
done
# "cuMemAlloc: 12 faults" a function, and "3 functions, 40 faults injected (9 of them without a lost frame), 90 runs, 0 failures".
if compgen -G "$results/driver-faults-*.log" >/dev/null; then
  cat "$results"/driver-faults-*.log | awk '
    /^cu[A-Za-z]*: [0-9]+ faults$/ { if (!seen[$1]++) functions++ }
    / faults injected / { injected += $3; absorbed += substr($6, 2); runs += $(NF - 3); failures += $(NF - 1) }
    END { printf "\n%d faults of the real driver injected, in %d functions (%d of them without a lost frame), in %d runs; %d failures.\n\n",
          injected, functions, absorbed, runs, failures }' >>"$results/result.md"
fi
echo "$passed passed, $failed failed, $skipped skipped" >>"$results/result.md"
cat "$results/result.md"
[ $failed -eq 0 ] && [ $passed -gt 0 ]

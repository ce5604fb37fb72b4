#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""kernel-string on the GPU beside the programs whose words it takes, from a record of what those programs gave.

    kernel_strings.py FOLDER [BACKEND]

A GPU host has none of the programs. So the tests of kernel strings (tests/element/kernel_strings_test.py and
kernel_string_formats_test.py) write each string, frame and program's output into the folder that the variable
KERNEL_STRINGS_RECORD names, where the programs are; bundle.sh does that. Here gst-launch-1.0 filters the same frames by the same
strings on BACKEND (cuda), some dozens in a process, and every sample has to be within one code value of the program's.
Needs Python 3 alone, and gst-launch-1.0 with rawvideoparse. Exit status 77: nothing was recorded.
"""
import array
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

AT_ONCE = 40  # pipelines in a process


def launched(case, folder, out, backend):
    """The words of a pipeline that filters the frame of the case into the file `out`."""
    string = case["string"].replace("\\", "\\\\").replace('"', '\\"')
    return ["filesrc", f"location={folder / case['frame']}", "!", "rawvideoparse", f"format={case['format'].lower().replace('_', '-')}",
            f"width={case['width']}", f"height={case['height']}", "framerate=1/1", "!", "videoconvolve", f"backend={backend}",
            "levels=code", f'kernel-string="{string}"', "!", "filesink", f"location={out}"]


def samples(data, depth):
    return array.array("B" if depth == 8 else "H", data)


def off_by(found, wanted):
    """The largest difference of two outputs, or None where their sizes differ."""
    if len(found) != len(wanted):
        return None
    return max(abs(a - b) for a, b in zip(found, wanted))


def main():
    folder, backend = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cuda"
    lines = folder / "cases.jsonl"
    if not lines.exists():
        print(f"skipped: {folder} holds no record of kernel strings")
        return 77
    cases = [json.loads(line) for line in lines.read_text().splitlines()]
    counts, failures, worst = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as work:
        outs = [pathlib.Path(work) / str(number) for number in range(len(cases))]
        for start in range(0, len(cases), AT_ONCE):
            words = ["gst-launch-1.0", "-q"]
            for case, out in list(zip(cases, outs))[start:start + AT_ONCE]:
                words += launched(case, folder, out, backend)
            done = subprocess.run(words, capture_output=True, timeout=300)
            if done.returncode:
                print(f"FAILED: gst-launch-1.0: {done.stderr.decode(errors='replace')[-600:]}")
                failures += 1
        for case, out in zip(cases, outs):
            grammar = case["string"].split(":")[0]
            counts[grammar] += 1
            found = samples(out.read_bytes() if out.exists() else b"", case["depth"])
            off = off_by(found, samples((folder / case["expected"]).read_bytes(), case["depth"]))
            if off is None or off > 1:
                print(f"FAILED: {case['format']} {case['string']}: " + ("no output" if off is None else f"{off} code values off"))
                failures += 1
            worst = max(worst, off or 0)
    print(", ".join(f"{grammar} {count} strings" for grammar, count in sorted(counts.items())) + f", at most {worst} code values off")
    print(f"{len(cases)} cases of kernel strings on {backend}, {failures} failures")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())

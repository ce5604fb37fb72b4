#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""privacy.py CLIP: runs pipelines/privacy.py over a clip and compares the time that frames spend in videoconvolve with
that in the face detector before it, both taken by GStreamer's latency tracer in the same run. Prints the medians' ratio.
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINE = re.compile(r"element-latency, .*element=\(string\)(\w+), .*time=\(guint64\)(\d+)")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: privacy.py CLIP")
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace"
        environment = {**os.environ, "GST_TRACERS": "latency(flags=element)", "GST_DEBUG": "GST_TRACER:7",
                       "GST_DEBUG_NO_COLOR": "1", "GST_DEBUG_FILE": str(trace)}
        done = subprocess.run(["/usr/bin/python3", ROOT / "pipelines" / "privacy.py", sys.argv[1], folder], env=environment,
                              capture_output=True, text=True, check=True)
        times = {"detector": [], "hide": []}
        for line in trace.read_text().splitlines():
            found = LINE.search(line)
            if found and found[1] in times:
                times[found[1]].append(int(found[2]))
    print(done.stdout.strip().rsplit(":", 1)[0])
    if not times["detector"] or len(times["hide"]) != len(times["detector"]):
        sys.exit(f"the trace has {len(times['detector'])} frames of the detector and {len(times['hide'])} of videoconvolve")
    detector, hide = (statistics.median(times[name]) for name in ("detector", "hide"))
    print(f"{len(times['hide'])} frames: the median time in videoconvolve is {hide / detector:.4f} of that in facedetect")


if __name__ == "__main__":
    main()

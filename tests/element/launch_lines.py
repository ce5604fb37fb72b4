#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What README, the pages of docs/ and the element's own documentation write after `videoconvolve` in a launch line runs.

Sources, decoders and screens of those lines are not everywhere: each videoconvolve of a line, as the shell reads it, stands
between a test picture and a fakesink here. Lines that ask for backend=cuda are left out. The whole lines of the
cookbook run in docs/recipes.py.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "plugin/plugin.cpp", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md")))]


def elements(page):
    """Each videoconvolve of a launch line with its properties, quotes included."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if page.endswith(".cpp"):
        text = re.sub(r"^ \* ?", "", text, flags=re.M)
    text = text.replace("\\\n", " ")
    for line in text.splitlines():
        if " ! " in line and "backend=cuda" not in line:
            found = re.findall(r"! +(videoconvolve\b[^!|`]*?) *(?=[!|`]|$)", line)
            yield from (element.rstrip("'") for element in found)  # of an argument in quotes


def main():
    environment = os.environ | {"GST_PRESET_PATH": str(ROOT / "presets")}
    count, wrong = 0, 0
    for page in PAGES:
        for element in dict.fromkeys(elements(page)):
            count += 1
            command = f"gst-launch-1.0 -q videotestsrc num-buffers=3 ! {element} ! fakesink"
            run = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=60, check=False)
            if run.returncode or "WARNING" in run.stderr:
                wrong += 1
                print(f"{page}: {element}\n{run.stderr}")
    print(f"{count} elements of launch lines, {wrong} wrong")
    sys.exit(wrong > 0 or count < 15)


if __name__ == "__main__":
    main()

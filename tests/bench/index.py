#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""index.py: writes results/README.md, which says what each result file is and which page quotes it.

A file of notes is told by its own title, a table by its context and the programs in its rows. `tests/unit/readme_test.py` asks that
each file is named there.
"""
import collections
import pathlib
import re

import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/bench/results"
INDEX = FOLDER / "README.md"
HEAD = """<!-- SPDX-FileCopyrightText: 2026 The videoconvolve developers -->
<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
# What was measured, newest first

A name is date, hardware, and what was asked. Results are never changed. The figures that the pages give today are those of the
files that they quote; a file that nothing quotes tells how things were at its commit. `tests/bench/index.py` writes this page.
"""
QUOTING = (".md", ".py", ".cpp", ".hpp", ".cu", ".cuh", ".build")


def measured():
    """The result files, as paths below the folder without a suffix: what collect.py wrote is two files of one name."""
    found = {path.relative_to(FOLDER).with_suffix("") for path in FOLDER.rglob("*.md") if path != INDEX}
    return sorted((path.as_posix() for path in found), key=lambda name: (name.split("/")[-1][:10], name), reverse=True)


def sources():
    """(path, text) of what may quote a result."""
    for top in ("README.md", "CONTRIBUTING.md", "docs", "kernels", "plugin", "python", "tests"):
        paths = [ROOT / top] if (ROOT / top).is_file() else sorted((ROOT / top).rglob("*"))
        for path in paths:
            if path.suffix in QUOTING and "results" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def what(name):
    """One line on a result file."""
    table = FOLDER / f"{name}.json"
    if name.endswith("-notes") or not table.exists() or "/" in name:
        title = re.search(r"^# (.*)", (FOLDER / f"{name}.md").read_text(encoding="utf-8"), re.M)
        return f"notes: {title[1]}"
    context, rows = results.load([table])
    programs = collections.Counter(row.split("/")[0] for row in rows)
    hardware = context.get("hardware") or context.get("gpu") or context.get("processor", "")
    return f"{hardware}, commit {context.get('commit', '?')[:7]}: " + ", ".join(f"{n} of {p}" for p, n in programs.items())


def page():
    texts = list(sources())
    lines = [HEAD, "| file | what it is | quoted by |", "|---|---|---|"]
    for name in measured():
        quoting = [path for path, text in texts if re.search(rf"\b{re.escape(name.split('/')[-1])}\b(?!-)", text)]
        lines.append(f"| [{name}]({name}.md) | {what(name)} | {', '.join(f'`{path}`' for path in quoting)} |")
    return "\n".join(lines) + "\n"


def wrong():
    """Files that the page does not name; links to what is not there are the test's own to find."""
    text = INDEX.read_text(encoding="utf-8")
    for name in measured():
        if f"({name}.md)" not in text:
            yield f"tests/bench/results/README.md does not name {name}: tests/bench/index.py writes it anew"


if __name__ == "__main__":
    INDEX.write_text(page(), encoding="utf-8")

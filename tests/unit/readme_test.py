#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pages that lead a reader to files and tests name ones that exist, and README's table of speed is its result file's."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Which folders the paths that a page names may be relative to.
PAGES = {"kernels/README.md": ("kernels", "kernels/cpu", "kernels/cuda", "."), "plugin/README.md": ("plugin", "."),
         "tests/README.md": ("tests", "."), "CONTRIBUTING.md": (".", "kernels/cpu")}
FILE = re.compile(r"[\w./-]+\.(?:cpp|hpp|cu|cuh|py|sh|md)")


def missing_files(page, bases):
    for name in re.findall(r"`([^`\n]*)`", (ROOT / page).read_text(encoding="utf-8")):
        if FILE.fullmatch(name) and not any((ROOT / base / name).is_file() or (ROOT / base / name).is_symlink() for base in bases):
            if "/" in name or not any(ROOT.glob(f"{pathlib.Path(page).parent}/**/{name}")):
                yield f"{page} names {name}, which is not there"


def missing_tests():
    code = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*_test.cpp"))
    table = (ROOT / "tests/README.md").read_text(encoding="utf-8").split("## Each failure")[1]
    for name in re.findall(r"`(\w+)`", table):
        if name not in ("auto", "cuda") and not re.search(rf"\b{name}", code):
            yield f"tests/README.md names the test {name}, which is not there"


def missing_targets():
    """Links from page to page, and to files."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    pages += [ROOT / folder / "README.md" for folder in ("kernels", "plugin", "tests", "tests/bench", "python")]
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path = target.split("#")[0]
            if path and ":" not in path and not (page.parent / path).exists():
                yield f"{page.relative_to(ROOT)} links to {target}, which is not there"


def missing_messages():
    """The messages that docs/troubleshooting.md quotes are those of the sources, where they stand in pieces."""
    code = "".join(path.read_text(encoding="utf-8") for folder in ("plugin", "kernels/cuda")
                   for path in (ROOT / folder).glob("**/*.[ch]*"))
    for message in re.findall(r'^\| "([^"]+)" \|', (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8"), re.M):
        if message not in re.sub(r'"\s*\n\s*"', "", code):
            yield f"docs/troubleshooting.md quotes '{message}', which no source says"


def readme_speed():
    """Each row of README's table of speed is that of the result file which the section links to."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Speed")[1].split("\n## ")[0]
    results = json.loads((ROOT / re.search(r"\(([^()]+)\.md\)", section)[1]).with_suffix(".json").read_text(encoding="utf-8"))
    found = {row["name"]: row for row in results["benchmarks"]}
    rows = re.findall(r"^\| (\w+) \| (\S+) (\S+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]*) *\|$", section, re.M)
    if len(rows) < 10:
        yield f"README's table of speed has {len(rows)} rows that can be read"
    for layout, size, taps, us, times, npp in rows:
        ours = found[f"cuda/auto/{layout}/{size}/{taps}"]
        peer = found.get(f"npp/FilterBorder/{layout}/{size}/real")
        pairs = [(us, ours["us"]), (times, ours["times_copy"])] + ([(npp, peer["times_copy"])] if npp else [])
        for text, value in pairs:
            digits = len(text.partition(".")[2])
            if abs(float(text) - value) > 0.5001 * 10 ** -digits:
                yield f"README, {layout} {size} {taps}: {text} is {value} in the result file"


if __name__ == "__main__":
    wrong = [line for page, bases in PAGES.items() for line in missing_files(page, bases)] + [
        *missing_tests(), *missing_targets(), *missing_messages(), *readme_speed()]
    print("\n".join(wrong) or "all that is named is there")
    sys.exit(bool(wrong))

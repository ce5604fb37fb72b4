#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pages that lead a reader to files and tests name ones that exist; the tables of speed, and the index, are of the result files."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
import index  # noqa: E402
import pages  # noqa: E402

# Which folders the paths that a page names may be relative to.
PAGES = {"kernels/README.md": ("kernels", "kernels/cpu", "kernels/cuda", "."), "plugin/README.md": ("plugin", "."),
         "tests/README.md": ("tests", "."), "CONTRIBUTING.md": (".", "kernels/cpu")}
FILE = re.compile(r"[\w./-]+\.(?:cpp|hpp|cu|cuh|py|sh|md)")


def missing_files(page, bases):
    text = (ROOT / page).read_text(encoding="utf-8").split("\n## The files\n")[0]  # of those, see unnamed_files()
    for name in re.findall(r"`([^`\n]*)`", text):
        if FILE.fullmatch(name) and not any((ROOT / base / name).is_file() or (ROOT / base / name).is_symlink() for base in bases):
            if "/" in name or not any(ROOT.glob(f"{pathlib.Path(page).parent}/**/{name}")):
                yield f"{page} names {name}, which is not there"


def unnamed_files():
    """The last section of kernels/README.md names each file of kernels/ once; `a.*` is a.hpp, a.cpp and the like."""
    sections = (ROOT / "kernels/README.md").read_text(encoding="utf-8").split("\n## The files\n")[1].split("\n### ")[1:]
    files = {str(path.relative_to(ROOT / "kernels")) for path in (ROOT / "kernels").glob("**/*.[ch]*")}
    times = dict.fromkeys(files, 0)
    for section in sections:
        folders = re.findall(r"`([\w/]+)/`", section.split("\n")[0])
        # A section of several folders names files from the one that holds them.
        base = folders[0] + "/" if len(folders) == 1 else folders[0].rpartition("/")[0] + "/" if "/" in folders[0] else ""
        for cell in re.findall(r"^\| (`.*?) \|", section, re.M):
            for name in re.findall(r"`([^`]+)`", cell):
                pattern = re.escape(base + name).replace(r"\.\*", r"\.(cpp|hpp|cu|cuh)")
                found = [file for file in files if re.fullmatch(pattern, file)]
                for file in found:
                    times[file] += 1
                if not found:
                    yield f"kernels/README.md names {base}{name}, which is not there"
    for file, count in sorted(times.items()):
        if count != 1:
            yield f"kernels/README.md names {file} {count} times under The files"


def missing_tests():
    code = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*_test.cpp"))
    table = (ROOT / "tests/README.md").read_text(encoding="utf-8").split("## Each failure")[1]
    for name in re.findall(r"`(\w+)`", table):
        if name not in ("auto", "cuda") and not re.search(rf"\b{name}", code):
            yield f"tests/README.md names the test {name}, which is not there"


def missing_targets():
    """Links from page to page, and to files."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    pages += [ROOT / folder / "README.md" for folder in ("kernels", "plugin", "tests", "tests/bench", "tests/bench/results", "python", "examples", "pipelines")]
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


if __name__ == "__main__":
    wrong = [line for page, bases in PAGES.items() for line in missing_files(page, bases)] + [
        *unnamed_files(), *missing_tests(), *missing_targets(), *missing_messages(), *pages.wrong(), *index.wrong()]
    print("\n".join(wrong) or "all that is named is there")
    sys.exit(bool(wrong))

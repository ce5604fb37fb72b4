#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""external_links.py: asks for each page on the web that the pages of the repository link to. By hand: servers come and go."""
import pathlib
import re
import sys
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"),
         *(ROOT / folder / "README.md" for folder in ("kernels", "plugin", "tests", "tests/bench", "python"))]


def main():
    found = {}
    for page in PAGES:
        for link in re.findall(r"https?://[^\s)>\]\"'`]+", page.read_text(encoding="utf-8")):
            found.setdefault(link.rstrip(".,;"), page.relative_to(ROOT))
    dead = 0
    for link, page in sorted(found.items()):
        try:
            request = urllib.request.Request(link, headers={"User-Agent": "Mozilla/5.0"})
            told = urllib.request.urlopen(request, timeout=20).status
        except (urllib.error.URLError, OSError) as error:
            told = error
        dead += told != 200
        print(f"{'ok' if told == 200 else 'DEAD'}: {link} ({page}): {told}")
    print(f"{len(found)} links, {dead} dead")
    sys.exit(dead > 0)


if __name__ == "__main__":
    main()

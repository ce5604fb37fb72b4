# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What MkDocs does beyond its own: pages that stand elsewhere in the repository, and the reference of the element.

Pages link to each other, to pictures and to other files by paths in the repository, as they do where the repository is read.
README.md is the first page of the site. Whatever a page links to outside of docs/ comes to the site under its own path:
pages (.md), and in their turn what those link to, and pictures. Links to other files and to folders become plain text,
if what they name is there; if not, the build fails.
"""
import os
import pathlib
import re
import subprocess

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALWAYS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "kernels/README.md", "plugin/README.md", "python/README.md",
          "tests/README.md", "tests/bench/README.md"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
SHOWN = {".md", ".svg", ".jpg", ".png"}


def page_of(path):
    """Where the file at this path of the repository is in the site."""
    if path == "README.md":
        return "index.md"
    return path.removeprefix("docs/")


def repository_path(uri):
    """The other way round."""
    if uri == "index.md":
        return "README.md"
    return f"docs/{uri}" if (ROOT / "docs" / uri).exists() else uri


def target_of(page, link):
    """The path in the repository that a link on this page leads to; none where it leads out of it."""
    if ":" in link:
        return None
    return os.path.normpath(os.path.join(os.path.dirname(page), link))


def links_of(page):
    for _, _, link, _ in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        if target := target_of(page, link):
            if not (ROOT / target).exists():
                raise PluginError(f"{page} links to {link}, which is not there")
            yield target


def on_files(files, config):
    waiting = ALWAYS + [str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("**/*.md")]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        if not path.startswith("docs/"):
            files.append(File.generated(config, page_of(path), abs_src_path=str(ROOT / path)))
        if path.endswith(".md"):
            found = {target for target in links_of(path) if pathlib.Path(target).suffix in SHOWN} - seen
            waiting += sorted(found)
            seen |= found
    made = subprocess.run(["/usr/bin/python3", str(ROOT / "docs/reference.py")], capture_output=True, text=True, check=False)
    if made.returncode:
        raise PluginError(f"docs/reference.py failed: {made.stderr.strip()}")
    files.append(File.generated(config, "reference.md", content=made.stdout))
    return files


def on_page_markdown(markdown, page, config, files):
    here = repository_path(page.file.src_uri)

    def rewrite(match):
        mark, text, link, anchor = match[1], match[2], match[3], match[4] or ""
        target = target_of(here, link)
        if target is None or page.file.src_uri == "reference.md":
            return match[0]
        if pathlib.Path(target).suffix not in SHOWN:
            return text
        return f"{mark}[{text}]({os.path.relpath(page_of(target), os.path.dirname(page.file.src_uri) or '.')}{anchor})"

    # Fenced code is left as it is.
    return "".join(part if part.startswith("```") else LINK.sub(rewrite, part) for part in re.split(r"(?ms)(^```.*?^```)", markdown))

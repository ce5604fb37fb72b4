#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up what the tests print of how much they tried, from their logs on standard input, and prints one line of it.

A kind of test of which the logs have no number is a failure: it ran no longer, or says it in other words.
"""

import re
import sys

# What is counted, the lines that hold counts (all groups of a line add up), and how several counts become one.
KINDS = [
    (
        "cases of conformance",
        [r"^\w+: (\d+) cases, 0 failed$", r"^(\d+) cases \(\d+ exact\), \d+ checks, 0 failed$", r"^\w+: (\d+) runs, 0 failed$"],
        sum,
    ),
    ("results compared with the oracle", [r"^\d+ cases \(\d+ exact\), (\d+) checks, 0 failed$"], sum),
    ("shapes of buffers and caps", [r"^(\d+) of \d+ cases, \d+ formats"], sum),
    ("formats", [r"^\d+ of \d+ cases, (\d+) formats"], max),
    ("faults injected", [r"^\d+ functions, (\d+) faults injected", r"^\w+: (\d+) allocations failed in turn"], sum),
    ("executions fuzzed", [r"(\d+) executions, none failed$", r"^(\d+) texts accepted, (\d+) refused$"], sum),
    ("actions amid storms", [r"^storm of .* (\d+) actions, (\d+) changes of properties, "], sum),
]


def counts_of(pattern: str, text: str) -> list[int]:
    """The count of each line that matches."""
    return [sum(map(int, match.groups())) for match in re.finditer(pattern, text, re.MULTILINE)]


def main() -> int:
    text = sys.stdin.read()
    parts, missing = [], []
    for name, patterns, combine in KINDS:
        found = [counts_of(pattern, text) for pattern in patterns]
        missing += [f"{name} ({pattern})" for pattern, counts in zip(patterns, found) if sum(counts) == 0]
        parts.append(f"{combine([count for counts in found for count in counts] or [0]):,} {name}")
    print("in numbers: " + ", ".join(parts))
    if missing:
        print("no numbers of " + ", ".join(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

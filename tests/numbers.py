#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up what the tests print of how much they tried, from their logs on standard input, and prints one line of it.

A kind of test of which the logs have no number is a failure: it ran no longer, or says it in other words.
"""

import re
import sys

# What is counted, the lines that hold the count as group 1, and how the counts of several lines become one.
KINDS = [
    ("cases of conformance", r"^(?:\w+: )?(\d+) cases(?: \(\d+ exact\), \d+ checks)?, 0 failed$", sum),
    ("results compared with the oracle", r"^\d+ cases \(\d+ exact\), (\d+) checks, 0 failed$", sum),
    ("shapes of buffers and caps", r"^(\d+) of \d+ cases, \d+ formats", sum),
    ("formats", r"^\d+ of \d+ cases, (\d+) formats", max),
    ("faults injected", r"^\d+ functions, (\d+) faults injected", sum),
    ("executions fuzzed", r"(\d+) executions, none failed$", sum),
    ("actions amid storms", r"^storm of .* (\d+) actions, ", sum),
]


def main() -> int:
    text = sys.stdin.read()
    parts, missing = [], []
    for name, pattern, combine in KINDS:
        found = [int(count) for count in re.findall(pattern, text, re.MULTILINE)]
        if sum(found) == 0:
            missing.append(name)
        else:
            parts.append(f"{combine(found):,} {name}")
    print("in numbers: " + ", ".join(parts))
    if missing:
        print("no numbers of " + ", ".join(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the rows that became slower from one result file to another: compare.py OLD.json NEW.json [--limit=3].

A row is slower where it takes more than `limit` per cent longer than in OLD. Rows that one file alone has are counted
and not compared. Exits with 1 where a row is slower, with 2 where no row is in both files.
The files should be of one machine: contexts that differ in hardware, GPU or driver are printed first.
"""
import argparse
import sys

import results

# What has to be the same for times to mean the same.
MACHINE = ("hardware", "gpu", "processor", "driver", "frame", "cores")


def time_of(row):
    """A kernel row's time, or the median of an element row's; None where the row has neither."""
    return row.get("us", row.get("p50_us"))


def both(old, new):
    """(name, microseconds before, after) of the rows that both have a time of."""
    return [(name, time_of(row), time_of(new[name])) for name, row in old.items()
            if name in new and time_of(row) and time_of(new[name])]


def slower(old, new, limit):
    """Of those, the rows that take more than `limit` per cent longer, the worst first."""
    found = [row for row in both(old, new) if row[2] > row[1] * (1 + limit / 100)]
    return sorted(found, key=lambda row: (row[1] / row[2], row[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--limit", type=float, default=3, help="per cent")
    arguments = parser.parse_args()
    (old_context, old), (new_context, new) = results.load([arguments.old]), results.load([arguments.new])
    for key in MACHINE:
        if old_context.get(key) != new_context.get(key):
            print(f"{key} differs: {old_context.get(key)} and {new_context.get(key)}")
    count = len(both(old, new))
    if count == 0:
        print("no row is in both files")
        return 2
    rows = slower(old, new, arguments.limit)
    for name, before, after in rows:
        print(f"{name}: {before:g} us, now {after:g} ({100 * (after / before - 1):+.1f} %)")
    print(f"{len(rows)} of {count} rows are slower by more than {arguments.limit:g} %; "
          f"{len(old) - count} rows of the old file and {len(new) - count} of the new one were not compared")
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())

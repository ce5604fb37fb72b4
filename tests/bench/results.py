# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes result files: {"context": {...}, "benchmarks": [{"name": ..., "us": ..., ...}]}.

What bench and bench-element write (Google Benchmark's JSON), what the peers print and what collect.py keeps are all of
this form. A kernel row's name is runner/algorithm/layout/shape/taps; see bench.hpp for its figures, python_call.py for those of python1.
"""
import json
import re

# Google Benchmark's own bookkeeping, which says nothing of the case.
DROPPED = {
    "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index", "threads",
    "iterations", "real_time", "cpu_time", "time_unit"
}


def load(paths):
    """The contexts merged and the rows by name, later files winning."""
    context, rows = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        context.update(data.get("context", {}))
        for row in data["benchmarks"]:
            if row.get("error_occurred"):
                continue
            name = re.sub(r"/iterations:\d+|/manual_time", "", row["name"])
            rows[name] = {key: value for key, value in row.items() if key not in DROPPED and key != "name"}
    return context, rows


def rounded(rows):
    """Four significant digits: no timing has more, and files stay small."""
    def figure(value):
        return float(f"{value:.4g}") if isinstance(value, float) else value

    return {name: {key: figure(value) for key, value in row.items()} for name, row in rows.items()}


def save(path, context, rows):
    """One line a row, so that a change shows as a diff of that row."""
    lines = [json.dumps({"name": name, **row}) for name, row in rows.items()]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"context": ' + json.dumps(context, indent=1) + ',\n"benchmarks": [\n' + ",\n".join(lines) + "\n]}\n")


class Kernel:
    """A kernel row's name, taken apart."""

    def __init__(self, name):
        self.runner, self.algorithm, self.layout, self.shape, self.taps = name.split("/")
        sides = [int(n) for n in self.shape.split("x")]
        self.side, self.depth = sides[0], sides[2] if len(sides) > 2 else 1


def kernels(rows):
    """(Kernel, row) for each kernel row."""
    return [(Kernel(name), row) for name, row in rows.items() if name.count("/") == 4 and "us" in row
            and not name.startswith(("element/", "changes/"))]

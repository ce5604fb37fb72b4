#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Remakes the table of kernels/cuda/choice.hpp from measured rows of every algorithm: choose.py result.json...

choose.py --check kernels/cuda/choice.hpp result.json... tells for which measured cases the table of the GPU's compute
capability chooses slow ones. It exits with 1 where there are any, and with 2 where nothing can be checked.

It starts from one row a measured case, sides with the same winner joined, and then drops rows and loosens their
conditions for as long as every measured case still gets an algorithm within 3 % of its fastest. The rows that it prints
are tried in order, and an algorithm that does not serve the case is passed over, as choice.hpp says.
"""
import argparse
import collections
import copy
import dataclasses
import re
import statistics
import sys

import results

TYPES = ("u8", "u16", "f32")
ACCUMULATORS = ("exact", "single", "double_")
MAX_TAPS, MAX_COMPONENTS = 15, 4
NEAR = 1.03

# Kernels of `separable` that rows may ask for, and the words by which its label tells that it runs the case so.
KERNELS = {"tensor_cores": "tensor cores", "stream_of_rows": "stream of rows"}
Case = collections.namedtuple("Case", ["rank", "depth", "components", "type", "accumulator", "side", "one_limb", *KERNELS],
                              defaults=[0] * (1 + len(KERNELS)))


@dataclasses.dataclass
class Row:
    """One ChoiceRow."""
    algorithm: str
    types: frozenset = frozenset(range(len(TYPES)))
    accumulators: frozenset = frozenset(range(len(ACCUMULATORS)))
    max_rank: int = MAX_TAPS
    min_components: int = 1
    max_components: int = MAX_COMPONENTS
    min_depth: int = 1
    max_depth: int = MAX_TAPS
    min_side: int = 1
    max_side: int = MAX_TAPS
    one_limb: bool = False
    tensor_cores: bool = False
    stream_of_rows: bool = False

    def matches(self, case):
        return (case.type in self.types and case.accumulator in self.accumulators
                and case.rank <= self.max_rank and self.min_components <= case.components <= self.max_components
                and self.min_depth <= case.depth <= self.max_depth and self.min_side <= case.side <= self.max_side
                and all(getattr(case, key) or not getattr(self, key) for key in ("one_limb", *KERNELS)))

    def __str__(self):
        name = self.algorithm.replace("-", "_")
        fields = [f".algorithm = Algorithm::{name + '_' if name == 'register' else name}"]
        for key, names, of in (("types", TYPES, "SampleType"), ("accumulators", ACCUMULATORS, "Accumulator")):
            chosen = getattr(self, key)
            if len(chosen) < len(names):
                fields.append(f".{key} = " + " | ".join(f"bit({of}::{names[i]})" for i in sorted(chosen)))
        for key, default in (("max_rank", MAX_TAPS), ("min_components", 1), ("max_components", MAX_COMPONENTS), ("min_depth", 1),
                             ("max_depth", MAX_TAPS), ("min_side", 1), ("max_side", MAX_TAPS)):
            if getattr(self, key) != default:
                fields.append(f".{key} = {getattr(self, key)}")
        for key in ("one_limb", *KERNELS):
            if getattr(self, key):
                fields.append(f".{key} = true")
        return f"    ChoiceRow{{{', '.join(fields)}}},"


def tables(text):
    """{compute capability as 10 * major + minor: the name of its array} of a choice.hpp."""
    return {int(capability): name for capability, name in re.findall(r"ChoiceTable\{(\d+), (\w+)\}", text)}


def parsed(text, name="choices"):
    """The rows of one array of a choice.hpp."""
    start = text.index(f"std::array {name}{{")
    table = text[start:text.find("\n};", start) + 1 or None]
    rows = []
    for fields in re.findall(r"ChoiceRow\{(.*?)\}", table, re.DOTALL):
        row = Row(re.search(r"Algorithm::(\w+)", fields)[1].rstrip("_").replace("_", "-"))
        for key, names, of in (("types", TYPES, "SampleType"), ("accumulators", ACCUMULATORS, "Accumulator")):
            if chosen := re.findall(of + r"::(\w+)", fields):
                setattr(row, key, frozenset(names.index(name) for name in chosen))
        for key, value in re.findall(r"\.(m\w+) = (\d+)", fields):
            setattr(row, key, int(value))
        for key in ("one_limb", *KERNELS):
            setattr(row, key, f".{key} = true" in fields)
        rows.append(row)
    return rows


def one_limb_of(kernel, row):
    """What runs from before that field measured: the benchmark's integer taps over one frame have 8 bits."""
    return int(int(row["type"]) == TYPES.index("u16") and kernel.depth == 1
               and kernel.taps in ("integer", "separable-integer", "box"))


def measured(rows):
    """{(case, which algorithms serve it): {algorithm: us}}. Two layouts may be one case. Where the same algorithms serve
    both (RGBA and RGBx), the sum decides; else (RGB and YUY2) each has to get its own."""
    layouts = collections.defaultdict(dict)
    labels = {(kernel.layout, kernel.shape, kernel.taps): row.get("label", "") for kernel, row in results.kernels(rows)
              if (kernel.runner, kernel.algorithm) == ("cuda", "separable")}
    for kernel, row in results.kernels(rows):
        if kernel.runner == "cuda" and kernel.algorithm != "auto":
            label = labels.get((kernel.layout, kernel.shape, kernel.taps), "")
            case = Case(*(int(row[key]) if key in row else one_limb_of(kernel, row) for key in Case._fields[:-len(KERNELS)]),
                        *(int(words in label) for words in KERNELS.values()))
            layouts[case, kernel.layout][kernel.algorithm] = row["us"]
    cases = collections.defaultdict(lambda: collections.defaultdict(float))
    for (case, _), times in layouts.items():
        for algorithm, us in times.items():
            cases[case, frozenset(times)][algorithm] += us
    return cases


def with_later(rows, later):
    """The rows of a run, with those of a later one in place of all algorithms' where that measured more than one."""
    def by_case(run):
        found = collections.defaultdict(dict)
        for name, row in run.items():
            runner, algorithm, *case = name.split("/")
            if (runner, len(case)) == ("cuda", 3) and algorithm != "auto":
                found[tuple(case)][name] = row
        return found
    newer = {case: found for case, found in by_case(later).items() if len(found) > 1}
    return {name: row for found in (by_case(rows) | newer).values() for name, row in found.items()}


def first_rows(cases):
    """A row a run of sides that one algorithm wins; narrow ones before wide ones. Of one case, an algorithm that does not
    serve all comes first: the others pass it over."""
    by_case = collections.defaultdict(list)
    for (case, _), times in cases.items():
        by_case[case].append(times)
    by_side = collections.defaultdict(dict)
    for case, all_times in by_case.items():
        all_times.sort(key=lambda times: sum(min(times, key=times.get) in others for others in all_times))
        for i, times in enumerate(all_times):
            by_side[case._replace(side=0), i][case.side] = times
    found = []
    for case, i in sorted(by_side, key=lambda key: (key[0].rank, key[0].depth, key[0].components, -key[0].one_limb,
                                                   *(-getattr(key[0], kernel) for kernel in KERNELS), key[1])):
        last = None
        for side, times in sorted(by_side[case, i].items()):
            if last is None or times.get(last.algorithm, float("inf")) > NEAR * min(times.values()):
                if last is not None:
                    last.max_side = side - 1
                winner = min(times, key=times.get)
                last = Row(winner, frozenset({case.type}), frozenset({case.accumulator}), case.rank,
                           case.components, min_depth=1 if case.depth == 1 else 2, max_depth=case.depth,
                           min_side=1 if last is None else side, one_limb=bool(case.one_limb),
                           **{key: bool(getattr(case, key)) and winner == "separable" for key in KERNELS})
                found.append(last)
    return found


def slow_choices(rows, cases):
    """(case, what is chosen, times the fastest), where the first row that serves a case is not near it."""
    for (case, _), times in cases.items():
        chosen = next((row.algorithm for row in rows if row.algorithm in times and row.matches(case)), None)
        slower = times[chosen] / min(times.values()) if chosen else float("inf")
        if slower > NEAR:
            yield case, chosen, slower


def check(text, context, cases):
    """What is wrong with the choices of that choice.hpp, a line each. Raises ValueError where the run says nothing of them."""
    if not cases:
        raise ValueError("no row was measured for a single algorithm on CUDA (rows of auto say nothing): nothing to check")
    capability = context.get("compute_capability", "unknown")
    name = tables(text).get(int(capability.replace(".", "")) if re.fullmatch(r"\d+\.\d", capability) else None)
    if name is None:
        raise ValueError(f"compute capability {capability} has no table in choice_tables: add the one that choose.py prints")
    return [f"{case}: {chosen}, {slower:.2f} times the fastest"
            for case, chosen, slower in slow_choices(parsed(text, name), cases)]


def good(rows, cases):
    return next(slow_choices(rows, cases), None) is None


def simplified(rows, cases):
    """Fewer and looser rows that are as good."""
    loosest = Row("")
    several_frames = any(case.depth > 1 for case, _ in cases)
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(rows))):
            fewer = rows[:i] + rows[i + 1:]
            if good(fewer, cases):
                rows, changed = fewer, True
        for i in range(len(rows)):
            for field in ("accumulators", "types", "min_depth", "max_depth", "max_components", "min_side", "max_side",
                          "max_rank", "one_limb", *KERNELS):
                if field == "max_depth" and rows[i].max_depth == 1 and several_frames:
                    continue  # few sides are measured over several frames: what is best for one frame says nothing there
                looser = copy.copy(rows[i])
                setattr(looser, field, getattr(loosest, field))
                trial = rows[:i] + [looser] + rows[i + 1:]
                if looser != rows[i] and good(trial, cases):
                    rows, changed = trial, True
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", metavar="choice.hpp")
    parser.add_argument("results", nargs="+")
    args = parser.parse_args()
    context, rows = results.load(args.results)
    cases = measured(rows)
    if args.check:
        with open(args.check, encoding="utf-8") as file:
            try:
                slow = check(file.read(), context, cases)
            except ValueError as error:
                parser.error(str(error))
        print(*slow, f"{len(cases)} cases, {len(slow)} slow choices", sep="\n")
        sys.exit(bool(slow))
    ratios = collections.defaultdict(list)
    for times in cases.values():
        for algorithm, us in times.items():
            ratios[algorithm].append(us / min(times.values()))
    rows = simplified(first_rows(cases), cases)
    # What no case measured falls to the algorithms in the order of their means.
    for algorithm in sorted(ratios, key=lambda a: statistics.geometric_mean(ratios[a])):
        if Row(algorithm) not in rows:
            rows.append(Row(algorithm))
    print("inline constexpr std::array choices{", *rows, "};", sep="\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Remakes the table of kernels/cuda/choice.hpp from measured rows of every algorithm: choose.py result.json...

For each sample type, accumulator, rank, depth and number of components it takes the fastest algorithm at each measured
side, keeps to the smaller side's choice where that is within 3 %, and joins what can be joined. The rows that it prints
are tried in order; the ones that serve what was not measured come last, in the order of the mean over all cases.
"""
import argparse
import collections
import statistics

import results

TYPES = ("u8", "u16", "f32")
ACCUMULATORS = ("exact", "single", "double_")
NEAR = 1.03


def identifier(algorithm):
    name = algorithm.replace("-", "_")
    return name + "_" if name == "register" else name


def measured(rows):
    """{case: {side: {algorithm: us}}}; a case is (rank one, depth > 1, components, type, accumulator)."""
    cases = collections.defaultdict(lambda: collections.defaultdict(dict))
    for kernel, row in results.kernels(rows):
        if kernel.runner != "cuda" or kernel.algorithm == "auto":
            continue
        case = (bool(row["rank_one"]), row["depth"] > 1, int(row["components"]), int(row["type"]), int(row["accumulator"]))
        times = cases[case][int(row["side"])]
        # Two layouts may be one case (RGBA and RGBx): the sum of both decides.
        times[kernel.algorithm] = times.get(kernel.algorithm, 0) + row["us"]
    return cases


def runs(by_side):
    """[(first side, last side, algorithm)], the gaps between measured sides given to the smaller."""
    found, chosen = [], None
    sides = sorted(by_side)
    for i, side in enumerate(sides):
        times = by_side[side]
        best = min(times, key=times.get)
        if chosen not in times or times[chosen] > NEAR * times[best]:
            chosen = best
        last = sides[i + 1] - 1 if i + 1 < len(sides) else 15
        if found and found[-1][2] == chosen:
            found[-1] = (found[-1][0], last, chosen)
        else:
            found.append((1 if i == 0 else side, last, chosen))
    return found


def bits(names, of):
    return " | ".join(f"bit({of}::{name})" for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+")
    _, rows = results.load(parser.parse_args().results)
    cases = measured(rows)
    # Joined over accumulators, then types, where the same sides take the same algorithm.
    joined = collections.defaultdict(lambda: collections.defaultdict(set))
    for (rank_one, deep, components, kind, accumulator), by_side in cases.items():
        for first, last, algorithm in runs(by_side):
            joined[rank_one, deep, components, first, last, algorithm][kind].add(accumulator)
    print("inline constexpr std::array choices{")
    # Narrow rows before wide ones: rank one, flat, few components.
    for (rank_one, deep, components, first, last, algorithm), kinds in sorted(
            joined.items(), key=lambda item: (not item[0][0], item[0][1], item[0][2], item[0][3])):
        by_accumulators = collections.defaultdict(list)
        for kind, accumulators in sorted(kinds.items()):
            by_accumulators[tuple(sorted(accumulators))].append(kind)
        for accumulators, of_types in by_accumulators.items():
            fields = [f".algorithm = Algorithm::{identifier(algorithm)}",
                      f".types = {bits([TYPES[k] for k in of_types], 'SampleType')}",
                      f".accumulators = {bits([ACCUMULATORS[a] for a in accumulators], 'Accumulator')}"]
            if rank_one:
                fields.append(".rank_one = true")
            fields.append(f".max_components = {components}")
            if not deep:
                fields.append(".max_depth = 1")
            if first > 1:
                fields.append(f".min_side = {first}")
            if last < 15:
                fields.append(f".max_side = {last}")
            print("    ChoiceRow{" + ", ".join(fields) + "},")
    # Whatever no row above matches, or whose algorithm does not serve the case.
    ratios = collections.defaultdict(list)
    for by_side in cases.values():
        for times in by_side.values():
            for algorithm, us in times.items():
                ratios[algorithm].append(us / min(times.values()))
    for algorithm in sorted(ratios, key=lambda a: statistics.geometric_mean(ratios[a])):
        print(f"    ChoiceRow{{.algorithm = Algorithm::{identifier(algorithm)}}},")
    print("};")


if __name__ == "__main__":
    main()

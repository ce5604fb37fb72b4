#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pages.py [RESULT.json]: writes the tables of README.md and docs/speed.md that are of one run, from its result file.

Those of kernels on a GPU come from a file with CUDA rows, those of the CPU beside other programs from one with VapourSynth's
rows, on AVX2 or on more. They stand between `<!-- tests/bench/pages.py: NAME of RESULT -->` and `<!-- end of NAME -->`. Without an argument nothing is
written: prints which tables are not what the file that they name gives, and exits with 1 where there is one.
"""
import pathlib
import re
import sys

import asked
import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = "tests/bench/results"
README_ROWS = ("GRAY8 3x3 integer", "GRAY8 5x5 real", "GRAY8 15x15 real", "GRAY8 15x15 separable-real", "GRAY8 3x3x5 real",
               "NV12 5x5 real", "RGBA 7x7 real", "RGB 5x5 real", "P010 5x5 real", "GRAY16 5x5 real")
KINDS = {"integer": "integer", "real": "real", "separable-real": "separable, real", "rank-2-real": "unsharp mask",
         "box": "box", "sobel-magnitude": "gradient of two (`preset=sobel`)", "kirsch-max": "largest of eight (`preset=kirsch`)"}
LAYOUTS = ("GRAY8", "NV12", "RGBA", "RGB", "YUY2", "UYVY", "GRAY16", "P010", "I420_10", "ARGB64", "AYUV64", "F32")
PEERS = {"npp": "NPP", "cvcuda": "CV-CUDA", "torch": "torch", "cupy": "CuPy"}


def times(value):
    """Two digits are enough where a figure is large."""
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def lines_of(header, lines):
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(line) + " |" for line in lines), ""]


class Run:
    """One result file's rows of `auto`, and of the peers beside them."""

    def __init__(self, name):
        self.name = name
        self.context, self.rows = results.load([ROOT / FOLDER / f"{name}.json"])
        self.peers = [(kernel, row) for kernel, row in asked.cuda_peers(self.rows) if kernel.runner in PEERS]

    def ours(self, layout, shape, taps):
        return self.rows.get(f"cuda/auto/{layout}/{shape}/{taps}")

    def fastest_peer(self, layout, shape, taps, runner=None):
        """(microseconds, times its own copy, program) of the fastest that computes the same, or None."""
        found = [(row["us"], row["times_copy"], PEERS[kernel.runner]) for kernel, row in self.peers
                 if (kernel.layout, kernel.shape) == (layout, shape) and asked.is_peer(taps, kernel.taps)
                 and runner in (None, kernel.runner)]
        return min(found) if found else None

    def machine(self, where):
        driver = ".".join(self.context.get("driver", "?").split(".")[:2])
        cuda = int(self.context.get("cuda_runtime", 0))
        return (f"One {self.context['gpu']} (driver {driver}, CUDA {cuda // 1000}.{cuda % 1000 // 10}), {self.context['frame']} "
                f"frames, at commit {self.context['commit'][:7]} ([all rows]({where}{self.name}.md)).")

    def cell(self, layout, shape, taps):
        row = self.ours(layout, shape, taps)
        if not row:
            return ""
        peer = self.fastest_peer(layout, shape, taps)
        return times(row["times_copy"]) + (f" ({peer[2]} {times(peer[1])})" if peer else "")

    def table(self, cases, columns, corner):
        """A line a (layout, taps) with a cell for each of `columns`; lines and columns without a figure are left out."""
        cells = {case: [self.cell(case[0], shape, case[1]) for shape in columns] for case in cases}
        kept = [i for i in range(len(columns)) if any(line[i] for line in cells.values())]
        return lines_of([*corner, *(columns[i] for i in kept)],
                        [[layout, KINDS[taps], *(line[i] for i in kept)] for (layout, taps), line in cells.items() if any(line)])


def readme(run):
    lines = []
    for name in README_ROWS:
        layout, shape, taps = name.split()
        row = run.ours(layout, shape, taps)
        theirs = [run.fastest_peer(layout, shape, taps, runner) for runner in ("npp", "cvcuda")]
        lines.append([layout, f"{shape} {taps}", f"{row['us']:.1f}", times(row["times_copy"]),
                      *(times(peer[1]) if peer else "" for peer in theirs)])
    return [run.machine(f"{FOLDER}/"), "",
            *lines_of(["layout", "filter", "us", "times the copy", "NPP", "CV-CUDA"], lines)]


def speed(run):
    corner = ["layout", "taps"]
    plain = [(layout, taps) for layout in LAYOUTS for taps in ("integer", "real", "separable-real", "rank-2-real")]
    large = [(layout, taps) for layout in LAYOUTS for taps in ("integer", "real", "separable-real", "rank-2-real", "box")]
    over_time = [(layout, taps) for layout in LAYOUTS for taps in ("integer", "real", "separable-real")]
    banks = [(layout, taps) for layout in LAYOUTS for taps in asked.BANKS]
    return [run.machine(f"../{FOLDER}/"), "",
            "### One frame", "", *run.table(plain, ["3x3", "5x5", "7x7", "9x9", "11x11", "15x15"], corner),
            "### Large filters", "", *run.table(large, ["31x31", "63x63", "127x127", "255x255"], corner),
            "### Over five frames, as times the copy of six", "", *run.table(over_time, ["3x3x5", "7x7x5"], corner),
            "### Banks of 3x3 kernels", "", *run.table(banks, ["3x3"], corner)]


CPU_SHAPES = ("3x3", "5x5", "7x7", "9x9", "11x11", "15x15", "31x31", "63x63", "127x127", "255x255")
CPU_LINES = (("integer", "OpenCV's `filter2D`", "vs_filter2D"), ("integer", "VapourSynth's `std.Convolution`", "vapoursynth/Convolution"),
             ("integer", "FFmpeg's `convolution`", "ffmpeg/convolution"), ("real", "OpenCV's `filter2D`", "vs_filter2D"),
             ("separable-real", "OpenCV's `sepFilter2D`", "vs_sepFilter2D"), ("separable-real", "OpenCV's `GaussianBlur`", "vs_GaussianBlur"),
             ("box", "OpenCV's `boxFilter`", "vs_boxFilter"), ("sobel-magnitude", "OpenCV's `Sobel` twice and `magnitude`", "vs_Sobel_magnitude"),
             ("sobel-magnitude", "FFmpeg's `sobel`", "ffmpeg/sobel"))


def cpu(run):
    """How many times as fast as each program one thread is, on GRAY8."""
    def ratio(shape, taps, what):
        ours = run.rows.get(f"cpu1/auto/GRAY8/{shape}/{taps}", {})
        theirs = run.rows.get(f"{what}/GRAY8/{shape}/{taps}")
        if theirs and ours:
            return times(theirs["us"] / theirs.get("ours_us", ours["us"]))
        return times(ours[what]) if what in ours else ""

    lines = [[KINDS[taps], name, *(ratio(shape, taps, what) for shape in CPU_SHAPES)] for taps, name, what in CPU_LINES]
    where = f"../{FOLDER}/{run.name}.md"
    return [f"{run.context['hardware']}, at commit {run.context['commit'][:7]} ([rows]({where})):", "",
            *lines_of(["taps", "times as fast as", *CPU_SHAPES], lines)]


def is_cuda(run):
    return any(name.startswith("cuda/auto/") for name in run.rows)


def simd(run):
    """The instructions that a run beside VapourSynth had, or None."""
    labels = [row["label"] for name, row in run.rows.items() if name.startswith("vapoursynth/")]
    return labels and ("AVX2" if asked.is_avx2(labels[0]) else "AVX-512")


# What makes each block of a page, and of which runs.
BLOCKS = {"README.md": {"README": (readme, is_cuda)},
          "docs/speed.md": {"kernels": (speed, is_cuda), "AVX_512": (cpu, lambda run: simd(run) == "AVX-512"),
                            "AVX2": (cpu, lambda run: simd(run) == "AVX2")}}


def blocks(text):
    """(whole block, its name, its result file) of each that a page has."""
    for found in re.finditer(r"<!-- tests/bench/pages.py: (\w+) of (\S+) -->\n.*?<!-- end of \1 -->\n", text, re.S):
        yield found[0], found[1], found[2]


def block(page, name, result):
    """What is to stand there."""
    text = "\n".join(BLOCKS[page][name][0](Run(result))).rstrip()
    return f"<!-- tests/bench/pages.py: {name} of {result} -->\n{text}\n<!-- end of {name} -->\n"


def wrong():
    """The blocks that are not what the result files that they name give."""
    for page, names in BLOCKS.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        found = {name: (whole, result) for whole, name, result in blocks(text)}
        for name in names:
            if name not in found:
                yield f"{page} has no table '{name}'"
            elif found[name][0] != block(page, name, found[name][1]):
                yield f"{page}: the table '{name}' is not that of {found[name][1]}: run tests/bench/pages.py"


def main():
    if len(sys.argv) < 2:
        lines = list(wrong())
        print("\n".join(lines) or "the tables are those of their result files")
        return 1 if lines else 0
    result = pathlib.Path(sys.argv[1]).stem
    run = Run(result)
    for page, made in BLOCKS.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for whole, name, _ in blocks(text):
            if made[name][1](run):
                text = text.replace(whole, block(page, name, result))
        (ROOT / page).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

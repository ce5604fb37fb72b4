#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws result files: plot.py times|roofline|cpu -o picture.svg result.json...

times: times the copy by filter side on CUDA, ours and the peers. roofline: what `auto` reaches, by operations a byte.
cpu: times OpenCV's filter2D by filter side, one thread. Needs matplotlib.
"""
import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402

import results  # noqa: E402

# Lanes of fp32 multiply-adds in a multiprocessor, by compute capability.
FP32_LANES = {"7.5": 64, "8.0": 64, "8.6": 128, "8.9": 128, "9.0": 128, "10.0": 128, "12.0": 128}


def series(rows, runner, algorithm, layout, taps, value):
    """Sides and values of one line, 2D filters of up to 15x15 only."""
    points = sorted((k.side, value(row)) for k, row in results.kernels(rows)
                    if (k.runner, k.algorithm, k.layout, k.taps, k.depth) == (runner, algorithm, layout, taps, 1)
                    and k.side <= 15 and value(row) is not None)
    return [p[0] for p in points], [p[1] for p in points]


def draw(axes, rows, lines, value, layout):
    for label, runner, algorithm, taps, style in lines:
        sides, values = series(rows, runner, algorithm, layout, taps, value)
        if sides:
            axes.plot(sides, values, style, label=label, markersize=4)
    axes.set_xticks([3, 5, 7, 9, 11, 15])
    axes.set_xlabel("filter side")
    axes.grid(True, which="both", alpha=0.25)


def legend_below(figure, panels):
    """One legend for all panels, under them, each line once."""
    labelled = {}
    for axes in panels:
        labelled.update({label: line for line, label in zip(*axes.get_legend_handles_labels())})
    figure.legend(labelled.values(), labelled.keys(), loc="lower center", ncol=min(5, len(labelled)), fontsize=8, frameon=False)
    figure.subplots_adjust(bottom=0.22)


def plot_times(context, rows):
    lines = [
        ("ours, integer taps", "cuda", "auto", "integer", "o-C0"),
        ("ours, real taps", "cuda", "auto", "real", "s-C1"),
        ("ours, separable", "cuda", "auto", "separable-real", "^-C2"),
        ("cached-halo as in the seeds", "cuda", "cached-halo-seed", "real", "x:C7"),
        ("tiled, after the seeds", "cuda", "tiled", "real", "+:C7"),
        ("NPP FilterBorder", "npp", "FilterBorder", "real", "v--C3"),
        ("NPP FilterGauss", "npp", "FilterGauss", "separable-real", "<--C4"),
        ("CV-CUDA conv2d", "cvcuda", "conv2d", "real", "h--C8"),
        ("CV-CUDA gaussian", "cvcuda", "gaussian", "separable-real", ">--C9"),
        ("torch conv2d", "torch", "conv2d", "real", "d--C5"),
        ("CuPy correlate", "cupy", "correlate", "real", "p--C6"),
    ]
    layouts = ("GRAY8", "RGBA", "F32")
    figure, panels = pyplot.subplots(1, len(layouts), figsize=(13, 5), sharey=True)
    for axes, layout in zip(panels, layouts):
        draw(axes, rows, lines, lambda row: row.get("times_copy"), layout)
        axes.set_yscale("log")
        axes.set_title(layout)
        axes.axhline(1, color="black", linewidth=0.8)
    panels[0].set_ylabel("times a copy of the frame")
    legend_below(figure, panels)
    figure.suptitle(f"{context.get('frame', '')} on {context.get('gpu', '?')}: kernel time over copy time, lower is better")
    return figure


def plot_roofline(context, rows):
    figure, axes = pyplot.subplots(figsize=(8, 5))
    points = [(k, row) for k, row in results.kernels(rows) if k.runner == "cuda" and k.algorithm == "auto" and k.depth == 1]
    # A copy moves as many bytes as a filter of one frame does.
    bandwidth = max(row["GBps"] * row["times_copy"] for _, row in points)
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = 1, 1000
    axes.plot([low, high], [low * bandwidth * 1e-3, high * bandwidth * 1e-3], "k-", linewidth=1)
    axes.text(1.3, 1.3 * bandwidth * 1.3e-3, f"copy: {bandwidth / 1000:.2f} TB/s", rotation=38, fontsize=8)
    lanes = FP32_LANES.get(context.get("compute_capability"), 128)
    peak = 2e-9 * lanes * int(context["multiprocessors"]) * int(context["clock_khz"])
    axes.axhline(peak, color="black", linewidth=1, linestyle="--")
    axes.text(1.3, peak * 1.08, f"fp32 multiply-adds: {peak:.0f} Top/s", fontsize=8)
    for n, layout in enumerate(("GRAY8", "NV12", "RGBA", "GRAY16", "F32")):
        for taps, marker in (("integer", "o"), ("real", "s"), ("separable-real", "^")):
            chosen = [(row["ops_per_byte"], 2 * row["TMACps"]) for k, row in points if (k.layout, k.taps) == (layout, taps)]
            if chosen:
                axes.plot(*zip(*chosen), marker, color=f"C{n}", markersize=4, label=f"{layout}, {taps}")
    axes.set_xlim(low, high)
    axes.set_xlabel("operations a byte (two a multiply-add; bytes: frame in, frame out)")
    axes.set_ylabel("Top/s, of the multiply-adds as the filter asks them")
    axes.set_title(f"Roofline, {context.get('frame', '')} on {context.get('gpu', '?')}", fontsize=10)
    axes.grid(True, which="both", alpha=0.25)
    axes.legend(fontsize=6, ncol=3)
    return figure


def plot_cpu(context, rows):
    lines = [
        ("integer taps", "cpu1", "auto", "integer", "o-C0"),
        ("real taps", "cpu1", "auto", "real", "s-C1"),
        ("separable", "cpu1", "auto", "separable-real", "^-C2"),
    ]
    measured = {kernel.layout for kernel, row in results.kernels(rows) if "vs_filter2D" in row}
    layouts = [layout for layout in ("GRAY8", "RGBA", "GRAY16") if layout in measured]
    figure, panels = pyplot.subplots(1, len(layouts), figsize=(4 * len(layouts), 4.6), sharey=True, squeeze=False)
    panels = panels[0]
    for axes, layout in zip(panels, layouts):
        draw(axes, rows, lines, lambda row: row.get("vs_filter2D"), layout)
        axes.set_yscale("log")
        axes.set_title(layout)
        axes.axhline(1, color="black", linewidth=0.8)
    legend_below(figure, panels)
    panels[0].set_ylabel("times as fast as OpenCV's filter2D")
    figure.suptitle(f"{context.get('frame', '')}, one thread, {context.get('processor', '')}")
    return figure


def main():
    plots = {"times": plot_times, "roofline": plot_roofline, "cpu": plot_cpu}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plot", choices=plots)
    parser.add_argument("-o", required=True)
    parser.add_argument("results", nargs="+")
    options = parser.parse_args()
    # The same data give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "videoconvolve"
    figure = plots[options.plot](*results.load(options.results))
    if options.plot == "roofline":
        figure.tight_layout()
    figure.savefig(options.o, metadata={"Date": None} if options.o.endswith(".svg") else None, dpi=130)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Merges raw outputs into one result file and writes its table beside it.

collect.py -o results/<date>-<hardware>-<what>.json [-c key=value]... raw.json...
"""
import argparse
import pathlib

import asked
import results


def table(header, lines):
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for line in lines:
        yield "| " + " | ".join(line) + " |"
    yield ""


def number(row, key="us", form="{:.2f}"):
    return form.format(row[key]) if row and key in row else ""


def cuda_tables(rows):
    kernels = results.kernels(rows)
    ours = {(k.layout, k.shape, k.taps): (k, row) for k, row in kernels if k.runner == "cuda" and k.algorithm == "auto"}
    if not ours:
        return
    peers = asked.cuda_peers(rows)
    yield "## What `auto` takes on CUDA"
    yield ""
    lines = []
    for key, (k, row) in ours.items():
        limit = asked.cuda(k)
        beside = [f"{p.runner} {p.algorithm} {r['times_copy']:.1f}" for p, r in peers
                  if (p.layout, p.shape) == key[:2] and asked.is_peer(k.taps, p.taps)]
        lines.append([k.layout, k.shape, k.taps, number(row, "times_copy"), f"{limit:g}" if limit else "", number(row),
                      number(row, "GBps", "{:.0f}"), number(row, "TMACps", "{:.1f}"),
                      number(row, "ops_per_byte", "{:.1f}"), row.get("label", ""), ", ".join(beside)])
    yield from table(["layout", "filter", "taps", "times the copy", "asked", "us", "GB/s", "TMAC/s", "ops/byte", "what ran",
                      "peers, times the copy"], lines)
    yield "## Every CUDA algorithm, times the copy"
    yield ""
    algorithms = list(dict.fromkeys(k.algorithm for k, _ in kernels if k.runner == "cuda"))
    lines = [[layout, shape, taps] + [number(rows.get(f"cuda/{a}/{layout}/{shape}/{taps}"), "times_copy") for a in algorithms]
             for layout, shape, taps in ours]
    yield from table(["layout", "filter", "taps"] + algorithms, lines)


def cpu_tables(rows):
    kernels = results.kernels(rows)
    ours = [(k, row) for k, row in kernels if k.runner == "cpu1" and k.algorithm == "auto"]
    if not ours:
        return
    yield "## What `auto` takes on the CPU, one thread"
    yield ""
    has_vapoursynth = any(k.runner == "vapoursynth" for k, _ in kernels)

    def beside_vapoursynth(k):
        row = rows.get(f"vapoursynth/Convolution/{k.layout}/{k.shape}/{k.taps}")
        return [f"{row['us'] / row['ours_us']:.2f}" if row else ""] if has_vapoursynth else []

    lines = []
    for k, row in ours:
        two = rows.get(f"cpu2/auto/{k.layout}/{k.shape}/{k.taps}")
        # Files of before the two took turns have one thread in the row of its own alone.
        two = two and {"vs_one_thread": row["us"] / two["us"], **two}
        peer = "sobel" if k.taps == "sobel-magnitude" else "convolution"
        ffmpeg = rows.get(f"ffmpeg/{peer}/{k.layout}/{k.shape}/{k.taps}")
        least = asked.cpu(k, row.get("label", ""))
        lines.append([k.layout, k.shape, k.taps, number(row, "us", "{:.0f}"), number(row, "times_copy", "{:.1f}"),
                      number(row, "vs_filter2D", "{:.1f}") or number(row, "vs_Sobel_magnitude", "{:.1f}"),
                      f"{least:g}" if least else "",
                      number(row, "vs_sepFilter2D", "{:.1f}"), number(row, "vs_GaussianBlur", "{:.1f}") or number(row, "vs_boxFilter", "{:.2f}"),
                      f"{ffmpeg['us'] / row['us']:.1f}" if ffmpeg else "",
                      *beside_vapoursynth(k),
                      number(two or {}, "vs_one_thread", "{:.2f}"),
                      number({"v": row["TMACps"] * 1000}, "v", "{:.1f}"), row.get("label", "")])
    has_banks = any("vs_Sobel_magnitude" in row for _, row in kernels)
    has_boxes = any("vs_boxFilter" in row for _, row in kernels)
    yield from table(["layout", "filter", "taps", "us", "times the copy",
                      "x filter2D, or Sobel and magnitude" if has_banks else "x filter2D", "asked", "x sepFilter2D",
                      "x GaussianBlur, or boxFilter" if has_boxes else "x GaussianBlur", "x FFmpeg",
                      *(["x VapourSynth"] if has_vapoursynth else []), "x on two threads", "GMAC/s", "what ran"], lines)


def python_table(rows):
    calls = [(k, row) for k, row in results.kernels(rows) if k.runner == "python1"]
    if not calls:
        return
    yield "## The Python call on NumPy arrays, one thread"
    yield ""
    lines = [[*k.layout.split("@"), k.shape, k.taps, number(row, "us", "{:.0f}"), number(row, "times_copy", "{:.1f}"),
              number(row, "filter2D_us", "{:.0f}"), number(row, "vs_filter2D", "{:.2f}")] for k, row in calls]
    yield from table(["layout", "frame", "filter", "taps", "us", "times the copy", "cv2.filter2D us", "x cv2.filter2D"], lines)


def element_tables(rows):
    elements = {name: row for name, row in rows.items() if name.split("/")[0] in ("element", "streams")}
    if not elements:
        return
    yield "## The element, from chain to push"
    yield ""
    lines = [[name, number(row, "fps", "{:.0f}"), number(row, "p50_us", "{:.0f}"), number(row, "p99_us", "{:.0f}"),
              number(row, "p999_us", "{:.0f}"), number(row, "thread_cpu_us", "{:.0f}"),
              number(row, "process_cpu_us", "{:.0f}"), number(row, "late", "{:.0f}"), number(row, "cores"),
              number(row, "frames", "{:.0f}"), row.get("label", "")] for name, row in elements.items()]
    yield from table(["row", "fps", "p50 us", "p99 us", "p99.9 us", "streaming thread's CPU us", "all CPU us a frame", "late frames",
                      "cores busy", "frames", "what ran"], lines)
    for name, row in rows.items():
        if name.startswith("link/"):
            yield (f"Page-locked copies of one such frame ({name[5:]}): {row['to_device_us']:.0f} us to the device, "
                   f"{row['from_device_us']:.0f} us back, {row['both_us']:.0f} us both at once.")
            yield ""


def region_table(rows):
    regions = {name: row for name, row in rows.items() if name.startswith("regions-cuda/")}
    if not regions:
        return
    yield "## Regions on CUDA"
    yield ""
    lines = []
    for name, row in regions.items():
        _, effect, layout, what = name.split("/")
        limits = asked.REGIONS.get(name, {})
        lines.append([layout, effect, what, number(row, "times_copy"), number(row), number(row, "enqueue_us", "{:.1f}"),
                      "{times_copy:g} copies, {enqueue_us:g} us".format(**limits) if limits else ""])
    yield from table(["layout", "effect", "area-number of regions", "times the copy", "us", "streaming thread's us", "asked"], lines)


def cpu_region_table(rows):
    regions = {name: row for name, row in rows.items() if name.startswith("regions-cpu1/")}
    if not regions:
        return
    yield "## Regions on the CPU, one thread"
    yield ""
    lines = []
    for name, row in regions.items():
        _, effect, layout, what = name.split("/")
        lines.append([layout, effect, what, number(row, "times_copy"), number(row, "vs_opencv"), number(row, "vs_whole")])
    yield from table(["layout", "effect", "area-number of regions", "times the copy",
                      "times as long OpenCV's GaussianBlur takes over the same regions",
                      "and a separable 15x15 of the whole frame"], lines)


def change_table(rows):
    changes = {name: row for name, row in rows.items() if name.startswith("changes/")}
    if not changes:
        return
    yield "## A property that changes before each frame"
    yield ""
    lines = [[name.removeprefix("changes/"), number(row, "change_us", "{:.0f}"),
              str(asked.change(name) or ""), number(row, "plain_thread_cpu_us", "{:.0f}"),
              row.get("label", "")] for name, row in changes.items()]
    yield from table(["row", "streaming thread's us a change", "asked", "and without a change, us a frame", "what ran"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", required=True, type=pathlib.Path)
    parser.add_argument("-c", action="append", default=[], metavar="KEY=VALUE", help="added to the context")
    parser.add_argument("raw", nargs="+")
    options = parser.parse_args()
    context, rows = results.load(options.raw)
    rows = results.rounded(rows)
    for name in ("executable", "host_name", "load_avg", "library_build_type", "caches", "cpu_scaling_enabled"):
        context.pop(name, None)
    context.update(pair.split("=", 1) for pair in options.c)
    results.save(options.o, context, rows)
    lines = [f"# {options.o.stem}", ""]
    lines += table(["", ""], [[key.replace("_", " "), str(value)] for key, value in context.items()])
    for part in (cuda_tables, region_table, cpu_tables, cpu_region_table, python_table, element_tables, change_table):
        lines += part(rows)
    options.o.with_suffix(".md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Merges raw outputs into one result file and writes its table beside it.

collect.py -o results/<date>-<hardware>-<what>.json [-c key=value]... raw.json...
"""
import argparse
import pathlib

import results

# What was asked, as times the copy (CUDA) and times OpenCV's filter2D on one thread (CPU), by layout, taps and side.
ASKED_CUDA = {
    ("GRAY8", "integer"): {3: 1.15, 5: 1.2, 7: 1.3, 15: 2.0},
    ("GRAY8", "real"): {3: 1.25, 5: 1.4, 7: 1.6, 15: 3.0},
    ("NV12", "real"): {3: 1.3, 5: 1.45, 7: 1.65, 15: 3.0},
    ("RGBA", "real"): {3: 1.25, 5: 1.4, 7: 1.6, 15: 3.2},
    ("F32", "real"): {7: 1.5},
    ("GRAY8", "sobel-magnitude"): {3: 1.3},
    ("NV12", "sobel-magnitude"): {3: 1.3},
    ("RGBA", "sobel-magnitude"): {3: 1.3},
}
ASKED_CUDA_SEPARABLE = {
    ("GRAY8", "separable-integer"): 1.2,
    ("GRAY8", "separable-real"): 1.25,
    ("NV12", "separable-real"): 1.3,
    ("RGBA", "separable-real"): 1.25,
}
ASKED_CUDA_3D = 1.5
ASKED_CPU = {
    ("GRAY8", "integer"): {3: 5, 5: 7, 7: 9, 11: 8, 15: 6},
    ("GRAY8", "real"): {3: 3, 5: 5, 7: 5, 11: 5.5, 15: 4.5},
    ("GRAY16", "integer"): {3: 10, 5: 10, 7: 10},
    ("GRAY16", "real"): {3: 10, 5: 10, 7: 10},
    ("GRAY8", "sobel-magnitude"): {3: 3},
}
ASKED_AMX = {
    ("GRAY8", "integer"): {3: 5, 5: 9, 7: 14, 11: 28, 15: 35},
    ("GRAY8", "real"): {3: 3, 5: 6, 7: 9, 11: 15, 15: 18},
}

BANKS = ("sobel-magnitude", "kirsch-max")


def asked_cuda(kernel):
    if kernel.depth > 1:
        return ASKED_CUDA_3D if kernel.layout in ("GRAY8", "NV12") else None
    if (kernel.layout, kernel.taps) in ASKED_CUDA_SEPARABLE:
        return ASKED_CUDA_SEPARABLE[kernel.layout, kernel.taps]
    return ASKED_CUDA.get((kernel.layout, kernel.taps), {}).get(kernel.side)


def asked_cpu(kernel, what_ran):
    if kernel.depth > 1:
        return None
    asked = ASKED_CPU | ASKED_AMX if ", amx," in what_ran else ASKED_CPU
    return asked.get((kernel.layout, kernel.taps), {}).get(kernel.side)


def table(header, lines):
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for line in lines:
        yield "| " + " | ".join(line) + " |"
    yield ""


def number(row, key="us", form="{:.2f}"):
    return form.format(row[key]) if row and key in row else ""


def is_peer(taps, peer):
    """Whether a peer's row with its class of taps stands beside ours with these."""
    if taps in BANKS or peer in BANKS:
        return peer == taps
    return peer == "real" or peer == taps == "separable-real"


def cuda_tables(rows):
    kernels = results.kernels(rows)
    ours = {(k.layout, k.shape, k.taps): (k, row) for k, row in kernels if k.runner == "cuda" and k.algorithm == "auto"}
    if not ours:
        return
    peers = [(k, row) for k, row in kernels if k.runner not in ("cuda", "cpu1", "cpu2", "ffmpeg")]
    yield "## What `auto` takes on CUDA"
    yield ""
    lines = []
    for key, (k, row) in ours.items():
        asked = asked_cuda(k)
        beside = [f"{p.runner} {p.algorithm} {r['times_copy']:.1f}" for p, r in peers
                  if (p.layout, p.shape) == key[:2] and is_peer(k.taps, p.taps)]
        lines.append([k.layout, k.shape, k.taps, number(row, "times_copy"), f"{asked:g}" if asked else "", number(row),
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
    lines = []
    for k, row in ours:
        two = rows.get(f"cpu2/auto/{k.layout}/{k.shape}/{k.taps}")
        # Files of before the two took turns have one thread in the row of its own alone.
        two = two and {"vs_one_thread": row["us"] / two["us"], **two}
        peer = "sobel" if k.taps == "sobel-magnitude" else "convolution"
        ffmpeg = rows.get(f"ffmpeg/{peer}/{k.layout}/{k.shape}/{k.taps}")
        asked = asked_cpu(k, row.get("label", ""))
        lines.append([k.layout, k.shape, k.taps, number(row, "us", "{:.0f}"), number(row, "times_copy", "{:.1f}"),
                      number(row, "vs_filter2D", "{:.1f}") or number(row, "vs_Sobel_magnitude", "{:.1f}"),
                      f"{asked:g}" if asked else "",
                      number(row, "vs_sepFilter2D", "{:.1f}"), number(row, "vs_GaussianBlur", "{:.1f}"),
                      f"{ffmpeg['us'] / row['us']:.1f}" if ffmpeg else "",
                      number(two or {}, "vs_one_thread", "{:.2f}"),
                      number({"v": row["TMACps"] * 1000}, "v", "{:.1f}"), row.get("label", "")])
    has_banks = any("vs_Sobel_magnitude" in row for _, row in kernels)
    peer_column = "x filter2D, or Sobel and magnitude" if has_banks else "x filter2D"
    yield from table(["layout", "filter", "taps", "us", "times the copy", peer_column, "asked", "x sepFilter2D", "x GaussianBlur", "x FFmpeg", "x on two threads", "GMAC/s", "what ran"], lines)


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
    for part in (cuda_tables, cpu_tables, element_tables):
        lines += part(rows)
    options.o.with_suffix(".md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

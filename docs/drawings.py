#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""drawings.py [--check]: draws docs/borders.svg and docs/windows.svg from what the element does.

A kernel with a single 1 beside its centre moves the picture, so that what the element takes for the samples outside of
the frame, or for the frames outside of the stream, comes out and is drawn. With --check nothing is written, and the
drawings that are there must be those that would be. GStreamer must find the element (GST_PLUGIN_PATH).
"""
import pathlib
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parent
MODES = {"constant": "the level of border-value", "replicate": "the edge, again and again; the default",
         "reflect": "a mirror on the edge's far side", "reflect-101": "a mirror on the edge itself", "wrap": "the other side"}
LETTERS = "abcdef"
SAMPLES = bytes(range(10, 70, 10))  # a to f, as grey levels
CELL, TOP, LEFT = 34, 30, 150
INSIDE, OUTSIDE, CONSTANT = "#1f6f8b", "#c9dde4", "#e8e0d0"


def run(frames, width, properties):
    """Pushes these frames of GRAY8, one row each, and returns what comes out."""
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time caps=video/x-raw,format=GRAY8,width={width},height=1,framerate=25/1 ! "
        f"videoconvolve backend=cpu {properties} ! appsink name=out sync=false")
    source, sink = pipeline.get_by_name("in"), pipeline.get_by_name("out")
    pipeline.set_state(Gst.State.PLAYING)
    for number, samples in enumerate(frames):
        buffer = Gst.Buffer.new_wrapped(samples + bytes(-len(samples) % 4))  # rows are padded to four bytes
        buffer.pts, buffer.duration = number * Gst.SECOND // 25, Gst.SECOND // 25
        source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    out = []
    for _ in frames:
        sample = sink.emit("try-pull-sample", 10 * Gst.SECOND)
        if sample is None:
            sys.exit(f"no frame came out with {properties}")
        out.append(sample.get_buffer().extract_dup(0, width))
    pipeline.set_state(Gst.State.NULL)
    return out


def name_of(level):
    return LETTERS[SAMPLES.index(level)] if level in SAMPLES else "v"


def seen_row(mode):
    """The four samples left of the frame, the frame, the four right of it, by name."""
    left = run([SAMPLES], 6, f"kernel=<<1,0,0,0,0,0,0,0,0>> border-mode={mode}")[0][:4]
    right = run([SAMPLES], 6, f"kernel=<<0,0,0,0,0,0,0,0,1>> border-mode={mode}")[0][2:]
    return [name_of(level) for level in left], list(LETTERS), [name_of(level) for level in right]


def cell(x, y, text, fill, ink="#1b1b1b"):
    return (f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" rx="3" fill="{fill}"/>'
            f'<text x="{x + CELL // 2 - 1}" y="{y + CELL // 2 + 4}" text-anchor="middle" fill="{ink}">{text}</text>')


def label(x, y, text, anchor="start", style=""):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{style}>{text}</text>'


def svg(width, height, title, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'font-family="sans-serif" font-size="14">\n<!-- Made by docs/drawings.py. -->\n<title>{title}</title>\n'
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def border_drawing():
    parts = [label(LEFT + 2 * CELL, 20, "outside", "middle"), label(LEFT + 7 * CELL + 8, 20, "the frame", "middle"),
             label(LEFT + 12 * CELL + 16, 20, "outside", "middle")]
    for number, (mode, told) in enumerate(MODES.items()):
        y = TOP + number * (CELL + 26)
        parts += [label(LEFT - 14, y + 21, mode, "end", ' font-family="monospace"'),
                  label(LEFT, y + CELL + 14, told, style=' font-size="12" fill="#555555"')]
        x = LEFT
        for names, fill, ink in zip(seen_row(mode), (OUTSIDE, INSIDE, OUTSIDE), ("#1b1b1b", "#ffffff", "#1b1b1b")):
            for name in names:
                parts.append(cell(x, y, name, CONSTANT if name == "v" else fill, ink))
                x += CELL
            x += 8
    return svg(LEFT + 14 * CELL + 30, TOP + len(MODES) * (CELL + 26) + 4, "What each border mode puts outside of the frame", parts)


def seen_frames(window, mode):
    """For each frame of a stream of six, those that a window of five shows to its filter, oldest first."""
    frames = [bytes([level]) * 4 for level in SAMPLES]
    columns = []
    for tap in range(5):
        kernel = ",".join(f"<<{int(tap == t)}>>" for t in range(5))
        columns.append([name_of(frame[0]) for frame in run(frames, 4, f"kernel=<{kernel}> window={window} border-mode={mode}")])
    return list(zip(*columns))


def window_drawing():
    parts, x = [], 30
    for window, told, now in (("centered", "two frames of latency", 2), ("causal", "no latency", 4)):
        parts += [label(x + 60, 22, f"window={window}", style=' font-family="monospace"'),
                  label(x + 60, 40, told, style=' font-size="12" fill="#555555"')]
        for number, names in enumerate(seen_frames(window, "replicate")):
            y = 52 + number * (CELL + 6)
            parts.append(label(x + 50, y + 21, f"{LETTERS[number]}", "end", ' font-weight="bold"'))
            for tap, name in enumerate(names):
                beyond = not 0 <= number + tap - now < 6
                fill = OUTSIDE if beyond else INSIDE
                parts.append(cell(x + 60 + tap * CELL, y, name, fill, "#1b1b1b" if beyond else "#ffffff"))
                if tap == now:
                    parts.append(f'<rect x="{x + 59 + tap * CELL}" y="{y - 1}" width="{CELL}" height="{CELL}" rx="4" fill="none" '
                                 'stroke="#d2691e" stroke-width="3"/>')
        parts.append(label(x, 52 + 6 * (CELL + 6) + 14, "frame that comes out, and what its filter sees, oldest first",
                           style=' font-size="12" fill="#555555"'))
        x += 60 + 5 * CELL + 130
    return svg(x + 20, 52 + 6 * (CELL + 6) + 26, "The frames that a window of five shows to a filter", parts)


def main():
    Gst.init(None)
    if Gst.ElementFactory.find("videoconvolve") is None:
        sys.exit("GStreamer does not find videoconvolve; set GST_PLUGIN_PATH")
    element = Gst.ElementFactory.make("videoconvolve")
    modes = [mode.value_nick for mode in element.find_property("border-mode").enum_class.__enum_values__.values()]
    if modes != list(MODES):
        sys.exit(f"the element's border modes are {', '.join(modes)}: MODES in docs/drawings.py lists {', '.join(MODES)}")
    stale = []
    for name, draw in (("borders.svg", border_drawing), ("windows.svg", window_drawing)):
        path, drawn = DOCS / name, draw()
        if "--check" not in sys.argv:
            path.write_text(drawn, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != drawn:
            stale.append(f"docs/{name} is not what the element does: docs/drawings.py draws it anew")
    print("\n".join(stale) or "docs/borders.svg and docs/windows.svg show what the element does")
    sys.exit(bool(stale))


if __name__ == "__main__":
    main()

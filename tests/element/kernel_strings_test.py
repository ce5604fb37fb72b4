#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""kernel-string with levels=code beside the programs whose words it takes, on the same frame of GRAY8.

ffmpeg, ImageMagick and rsvg-convert run where they are installed; VapourSynth where the variable VAPOURSYNTH_PYTHON names
a Python that has it. Every sample is within one code value. FFmpeg's edges are reflect-101, but its 3x3 repeats the last row
and column, and with mode=column 5.1 takes other rows still near the edges. So its strings are compared twice: on the frame
as it is, but for those samples; and every sample, FFmpeg getting the frame with rows and columns mirrored around it. Exit status 77: PyGObject or NumPy is not there.

Where KERNEL_STRINGS_RECORD names a folder, each string, its frame and what the program gave is written there, for
tests/gpu/kernel_strings.py to compare with on a machine that has a GPU and none of the programs.
"""
import base64
import functools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import gi
    import numpy as np

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)

WIDTH, HEIGHT = 64, 37
MIRRORED = 16  # rows and columns around a frame for FFmpeg; strings here reach 7 far, and its errors as far again


def run(command, data):
    done = subprocess.run(command, input=data, capture_output=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')[-300:]}")
    return done.stdout


def as_image(data, height=HEIGHT, width=WIDTH):
    return np.frombuffer(data, np.uint8).reshape(height, width).astype(int)


def filtered_bytes(data, video_format, height, properties):
    """The element's output, or its error message."""
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time caps=video/x-raw,format={video_format},width={WIDTH},height={height},framerate=1/1 "
        "! videoconvolve name=f backend=cpu ! appsink name=out sync=false")
    for name, value in properties.items():
        Gst.util_set_object_arg(pipeline.get_by_name("f"), name.replace("_", "-"), value)
    pipeline.set_state(Gst.State.PLAYING)
    source = pipeline.get_by_name("in")
    source.emit("push-buffer", Gst.Buffer.new_wrapped(data))
    source.emit("end-of-stream")
    sample = pipeline.get_by_name("out").emit("try-pull-sample", 10 * Gst.SECOND)
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    result = message.parse_error()[0].message if message else "no frame"
    if sample:
        buffer = sample.get_buffer()
        result = buffer.extract_dup(0, buffer.get_size())
    pipeline.set_state(Gst.State.NULL)
    return result


def filtered(image, **properties):
    """The element's output for GRAY8, or its error message."""
    result = filtered_bytes(image.tobytes(), "GRAY8", HEIGHT, properties)
    return result if isinstance(result, str) else as_image(result)


def record(string, video_format, depth, height, frame, expected):
    """Adds a case to the folder that KERNEL_STRINGS_RECORD names, if it names one; frame and expected are bytes."""
    folder = os.environ.get("KERNEL_STRINGS_RECORD")
    if not folder:
        return
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(folder.glob("*.expected")))
    (folder / f"{number}.frame").write_bytes(frame)
    (folder / f"{number}.expected").write_bytes(expected)
    case = {"string": string, "format": video_format, "depth": depth, "width": WIDTH, "height": height,
            "frame": f"{number}.frame", "expected": f"{number}.expected"}
    with open(folder / "cases.jsonl", "a", encoding="utf-8") as cases:
        cases.write(json.dumps(case) + "\n")


def quoted(text):
    """A property's text as gst_value_deserialize() takes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def ffmpeg(image, string):
    height, width = image.shape
    raw = ["-f", "rawvideo", "-pix_fmt", "gray"]
    return as_image(run(["ffmpeg", "-v", "error", *raw, "-s", f"{width}x{height}", "-i", "-", "-vf", "convolution=" + string, *raw, "-"],
                        image.tobytes()), height, width)


def ffmpeg_mirrored(image, string):
    """FFmpeg's output out of reach of its own borders: around the frame lies what reflect-101 has there."""
    inner = slice(MIRRORED, -MIRRORED)
    return ffmpeg(np.pad(image, MIRRORED, mode="reflect"), string)[inner, inner]


def ffmpeg_agrees(string):
    """The samples, as slices, at which FFmpeg's borders are reflect-101."""
    taps = max([len(row.split()) for row in re.findall(r"[-0-9]+(?: [-0-9]+)+", string)] or [9])
    if "mode=column" in string:
        return slice(taps // 2 + 1, -(taps // 2)), slice(None)
    if taps == 9 and "mode=row" not in string:
        return slice(-1), slice(-1)
    return ()


def imagemagick(image, string, method="Convolve"):
    words = []
    if string.startswith("convolve:scale="):
        scale, string = string.split(";", 1)
        words = ["-define", scale]
    if re.search("[;@<>]|FreiChen:10", string):
        words += ["-define", "morphology:compose=Lighten"]
    return as_image(run(["convert", "-size", f"{WIDTH}x{HEIGHT}", "-depth", "8", "gray:-", *words, "-morphology", method, string,
                         "-depth", "8", "gray:-"], image.tobytes()))


def correlating(image, string):
    return imagemagick(image, string, "Correlate")


def by_columns(attributes):
    """librsvg 2.54 reads kernelMatrix column by column, where the standard's is row by row."""
    order = re.search(r'order="(\d+)(?: (\d+))?"', attributes)
    width, height = int(order[1]), int(order[2] or order[1])
    taps = re.search(r'kernelMatrix="([^"]*)"', attributes)[1]
    turned = np.array(taps.split()).reshape(height, width).T.reshape(-1)
    return attributes.replace(f'"{taps}"', f'"{" ".join(turned)}"')


def svg(image, attributes):
    if svg_is_by_columns(image):
        attributes = by_columns(attributes)
    return svg_as_written(image, attributes)


@functools.cache
def reads_by_columns(data):
    image = np.frombuffer(data, np.uint8).reshape(HEIGHT, WIDTH)
    above = svg_as_written(image, 'order="3" kernelMatrix="0 0 0 0 0 0 0 1 0" preserveAlpha="true"')
    return not (above[1:] == image[:-1]).all()


def svg_is_by_columns(image):
    return reads_by_columns(image.tobytes())


def svg_as_written(image, attributes):
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    png = run(["convert", "-size", f"{WIDTH}x{HEIGHT}", "-depth", "8", "gray:-", "png:-"], image.tobytes())
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {size}><filter id="f" x="0" '
            f'y="0" width="100%" height="100%" color-interpolation-filters="sRGB"><feConvolveMatrix {attributes}/></filter>'
            f'<image {size} filter="url(#f)" xlink:href="data:image/png;base64,{base64.b64encode(png).decode()}"/></svg>')
    return as_image(run(["convert", "png:-", "-depth", "8", "gray:-"], run(["rsvg-convert"], text.encode())))


VAPOURSYNTH = """
import sys
import numpy, vapoursynth
image = numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8).reshape(HEIGHT, WIDTH)
core = vapoursynth.core
clip = core.std.BlankClip(format=vapoursynth.GRAY8, width=WIDTH, height=HEIGHT, length=1)
def fill(n, f):
    frame = f.copy()
    numpy.asarray(frame[0])[:] = image
    return frame
out = core.std.Convolution(core.std.ModifyFrame(clip, clip, fill), ARGUMENTS).get_frame(0)
sys.stdout.buffer.write(numpy.asarray(out[0]).tobytes())
"""


def vapoursynth(image, string):
    arguments = ", ".join(string.replace(", ", ",").split())
    text = VAPOURSYNTH.replace("ARGUMENTS", arguments).replace("HEIGHT", str(HEIGHT)).replace("WIDTH", str(WIDTH))
    return as_image(run([os.environ["VAPOURSYNTH_PYTHON"], "-c", text], image.tobytes()))


def numbers(rng, count, separator=" "):
    taps = [rng.randint(-4, 5) for _ in range(count)]
    taps[count // 2] += 1 + abs(min(0, sum(taps)))  # a sum of 1 at least
    return separator.join(map(str, taps))


def ffmpeg_strings(rng):
    strings = ["0m='0 -1 0 -1 5 -1 0 -1 0'", "0 -1 0 -1 5 -1 0 -1 0", "0bias=10", "0bias=10:0mode=row", "0m='1 1 1 1 -8 1 1 1 1':0bias=128",
               "0m='-2 -1 0 -1 1 1 0 1 2':1m='-2 -1 0 -1 1 1 0 1 2':2m='-2 -1 0 -1 1 1 0 1 2'"]
    strings += [f"0m='{numbers(rng, count)}':0bias={rng.choice([0, 7, 100])}" for count in (9, 25, 49) for _ in range(5)]
    return strings + [f"0m='{numbers(rng, count)}':0mode={mode}" for mode in ("row", "column") for count in (3, 5, 7, 15)]


def imagemagick_strings(rng):
    strings = ["Sobel", "Sobel:90", "Sobel:45", "Prewitt:180", "Roberts:135", "Compass:270", "Kirsch", "Kirsch:@", "Compass:@",
               "Unity", "Sobel;Sobel:90;Sobel:180;Sobel:270", "0,-1,0 -1,5,-1 0,-1,0", "3x3: nan,-,1 1,1,1 -,0,0",
               "convolve:scale=!;3: 1,2,1 2,4,2 1,2,1", "convolve:scale=50%!;3x1: 1,1,1", "convolve:scale=!;Sobel",
               "convolve:scale=2^;3: 1,1,1 1,-8,1 1,1,1", "convolve:scale=0.25;2x2: 1,1 1,1"]
    strings += ["Gaussian:0x1", "Gaussian:0x2.5", "gaussian:2x.7", "Gaussian:3", "DoG:0,1,2", "DoG:0,0,1.6", "DoG:3,2,0.7", "LoG:0x1",
                "LoG:0x1.4", "LoG:4x2", "Blur:0x1", "Blur:0x4+90", "Blur:1x1-90", "Blur:3,2,180", "Blur:0.5x2", "Comet:0x2",
                "Comet:5x2+90", "Comet:0,1,180", "Comet:4x1.5-90", "Comet:3x1>", "Binomial", "Binomial:2", "Unity:0.5",
                "Laplacian", *[f"Laplacian:{kind}" for kind in (0, 1, 2, 3, 5, 7, 15, 19)], "FreiChen", "FreiChen:10",
                *[f"FreiChen:{kind}" for kind in (1, 2, 11, 12, 13, 14, 15, 16, 17, 18, 19)], "FreiChen:90", "FreiChen:2,45",
                "FreiChen:1,135", "Sobel:>", "Sobel:<", "Roberts:@", "Prewitt:@", "Compass 90", "kirsch:-45", "Prewitt:225",
                "3x3+0+0@: 1,-2,3 -4,5,-6 7,-8,9", "3x1+0+0>: 1,-2,1", "2x2<: 1,2,-3,1"]
    strings += [f"convolve:scale=!;{shape}" for shape in (
        "Disk", "Disk:2", "Disk:4", "Disk:5x2", "Square", "Square:2", "Square:3x0.5", "Diamond", "Diamond:3", "Octagon", "Octagon:3",
        "Octagon:4", "Plus", "Plus:3", "Cross", "Cross:1x2", "Ring", "Ring:2x4", "Ring:3", "Ring:4x1+2.5", "Ring:4,1,0.5", "Peaks", "Peaks:1x3",
        "Rectangle", "Rectangle:4x3", "Rectangle:5x2+0+1", "Binomial:3", "Laplacian:7", "Kirsch:@")]
    for width, height, origin in ((3, 3, ""), (2, 2, ""), (4, 2, ""), (4, 3, "+0+2"), (5, 5, "+4+0"), (1, 6, ""), (7, 3, "+1+1")):
        strings.append(f"convolve:scale=!;{width}x{height}{origin}: {numbers(rng, width * height, ',')}")
        strings.append(f"{width}x{height}{origin}: {numbers(rng, width * height, ',')}")
    return strings


def svg_strings(rng):
    strings = []
    for edge in ("duplicate", "wrap"):
        for order, count in (("3", 9), ("5", 25), ("3 5", 15), ("2", 4), ("4 3", 12)):
            strings.append(f'order="{order}" kernelMatrix="{numbers(rng, count)}" edgeMode="{edge}" preserveAlpha="true"')
    return strings + ['order="3" targetX="0" targetY="2" kernelMatrix="1 2 3 4 5 6 7 8 9" preserveAlpha="true"',
                      'order="3" kernelMatrix="1 0 -1 2 0 -2 1 0 -1" divisor="4" bias="0.5" preserveAlpha="true"']


def vapoursynth_strings(rng):
    strings = ["matrix=[1,2,1,2,4,2,1,2,1]", "matrix=[0.5,0.4,1.5] mode='h'", "matrix=[1,0,-1,2,0,-2,1,0,-1] saturate=0",
               "matrix=[1,0,-1,2,0,-2,1,0,-1] divisor=8 bias=128", "matrix=[1,2,1] mode='hv'", "matrix=[1,2,3,2,1] mode='hv' divisor=12",
               "matrix=[3,1,4] mode='hv' saturate=0", "matrix=[1,2,1] mode='h' saturate=0 bias=30",
               "matrix=[1,2,1] mode='v' divisor=3 saturate=0 bias=5", "matrix=[-1,-2,-1] mode='h' saturate=0 bias=9",
               "matrix=[1,2,1] mode='h' planes=[0]"]
    strings += [f"matrix=[{numbers(rng, count, ',')}]" for count in (9, 25, 49, 81, 121) for _ in range(2)]
    return strings + [f"matrix=[{numbers(rng, count, ',')}] mode='{mode}' bias={rng.choice([-9, 0, 40])}"
                      for mode in "hv" for count in (3, 7, 25)]


def refused():
    return {
        "gimp:1 2 1": "starts with no grammar", "ffmpeg:": "there is no matrix", "ffmpeg:0m='1 2 3'": "9, 25 or 49",
        "ffmpeg:0m='1 1 1 1 x 1 1 1 1'": "whole number", "ffmpeg:0mode=row": "no matrix",
        "ffmpeg:0m='1 1 1 1 1 1 1 1 1':1bias=3:2bias=3": "chain two",
        "ffmpeg:0m='0 0 0 0 1 0 0 0 0':1m='1 1 1 1 1 1 1 1 1':2m='1 1 1 1 1 1 1 1 1'": "chain two",
        "ffmpeg:1m='1 1 1 1 1 1 1 1 1'": "planes 1 and 2", "ffmpeg:0m='1": "not closed", "ffmpeg:4m=1": "no option",
        "ffmpeg:0m='1 1 1 1 1 1 1 1 1':0mode=disc": "square, row or column",
        "ffmpeg:0m='1 1 1 1 1 1 1 1 1':0rdiv=-1": "0 (1 / sum", "im:Euclidean": "not known by name", "im:Disk:2.5": "whole number", "im:Disk:0.5": "Disk:1 or more", "im:Blur:0x2+45": "only 3x3 can",
        "im:Blur:0x2+30": "multiple of 45", "im:Gaussian:0xtwo": "no number", "im:Blur:0x99": "give a radius", "im:Sobel:1,2,3,4,5": "four",
        "im:Rectangle:3x3+3+0": "outside of it", "im:Blur:0x1@": "only 3x3 can", "im:3x2>: 1,2,3,4,5,6": "a square or a line",
        "im:Binomial:9": "1 to 6", "im:Gaussian:200x3": "whole number up to 127", "im:DoG:20,5,8": "31", "im:Sobel:30": "multiple of 45",
        "im:": "no kernel", "im:3x3: 1,2": "2 numbers", "im:1,2": "no odd square", "im:3x3+5+0: 1,1,1,1,1,1,1,1,1": "origin",
        "im:5x1@: 1,1,1,1,1": "only 3x3 can", "im:convolve:bias=1;1": "convolve:scale", "im:3x1: 1,inf,1": "finite",
        "vs:": "no matrix", "vs:matrix=[1,2]": "9, 25, 49", "vs:matrix=[1,2,1] mode=vh": "s, h, v or hv", "vs:matrix=[1,-2,1] mode=hv": "chain two",
        "vs:matrix=[1,2,1] mode=hv bias=3": "chain two", "vs:matrix=[1,2,1] mode=hv divisor=3": "chain two", "vs:matrix=[1,2,1": "not closed",
        "vs:matrix=[2000,1,1] mode=h": "1023", "vs:matrix=[1,-2,1] mode=h saturate=0 bias=3": "saturate",
        "vs:matrix=[1,2,1] mode=h saturate=0 bias=-3": "saturate",
        "vs:matrix=[1,2,1] mode=h planes=[0,1]": "components", "vs:matrix=[1,2,1] mode=h planes=[0,0]": "twice",
        "vs:matrix=[1,2,1] mode=h planes=3": "plane", "vs:matrix=[1,2,1] mode=h speed=2": "no argument",
        'svg:order="3" kernelMatrix="1 2"': "2 numbers", 'svg:kernelMatrix="1 1 1 1 1 1 1 1 1" divisor="0"': "divisor is 0",
        'svg:kernelMatrix="1 1 1 1 1 1 1 1 1" preserveAlpha="false"': "preserveAlpha",
        'svg:kernelMatrix="1 1 1 1 1 1 1 1 1" edgeMode="mirror"': "edgeMode",
        'svg:kernelMatrix="1 1 1 1 1 1 1 1 1" kernelUnitLength="2"': "kernelUnitLength",
        'svg:kernelMatrix="1 1 1 1 1 1 1 1 1" targetX="3"': "targetX", "svg:order=3": "quotes",
    }


def everywhere(string):
    return ()


def check(image, grammar, peer, strings, compared=everywhere):
    worst, failures = 0, 0
    for string in strings:
        got, wanted = filtered(image, kernel_string=quoted(grammar + string), levels="code"), peer(image, string)
        if compared is everywhere:
            record(grammar + string, "GRAY8", 8, HEIGHT, image.tobytes(), wanted.astype(np.uint8).tobytes())
        if isinstance(got, str):
            print(f"FAILED: {grammar}{string}: {got}")
            failures += 1
            continue
        got, wanted = got[compared(string)], wanted[compared(string)]
        off = int(abs(got - wanted).max())
        worst = max(worst, off)
        if off > 1:
            y, x = np.argwhere(abs(got - wanted) > 1)[0]
            print(f"FAILED: {grammar}{string}: at row {y}, column {x}: expected {wanted[y, x]}, found {got[y, x]}")
            failures += 1
    print(f"{grammar} {len(strings)} strings, {failures} failures, at most {worst} code values off")
    return failures


def check_others(image):
    failures = 0
    for string, words in refused().items():
        message = filtered(image, kernel_string=quoted(string))
        if not isinstance(message, str) or words not in message:
            print(f"FAILED: {string}: expected an error with {words!r}, found {message}")
            failures += 1
    by_string = filtered(image, kernel_string=quoted("ffmpeg:0m='1 2 1 2 4 2 1 2 1':0bias=9"), levels="code")
    for text in (
        "\nffmpeg:0m='1 2 1 2 4 2 1 2 1':0bias=9\n",
        "\ufeffffmpeg:0m='1 2 1 2 4 2 1 2 1':0bias=9",
        "# Gaussian\r\n  # ffmpeg: 3x3\r\nffmpeg:0m='1 2 1 2 4 2 1 2 1':0bias=9\r\n#\r\n",
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernel.txt"
            path.write_bytes(text.encode())
            by_file = filtered(image, kernel_location=str(path), levels="code")
        if isinstance(by_file, str) or not (by_file == by_string).all():
            print(f"FAILED: a file that holds {text!r} gives something else: {by_file}")
            failures += 1
    element = "order='3' kernelMatrix='1 2 1 2 4 2 1 2 1' edgeMode='wrap'"
    for text in (f"<feConvolveMatrix {element}/>", f"<feConvolveMatrix\n {element}\n></feConvolveMatrix>",
                 f"<feConvolveMatrix {element}> </feConvolveMatrix >"):
        got, wanted = (filtered(image, kernel_string=quoted("svg:" + string)) for string in (text, element))
        if isinstance(got, str) or not (got == wanted).all():
            print(f"FAILED: svg:{text} is not what its attributes alone are: {got}")
            failures += 1
    print(f"{len(refused())} strings refused, {failures} failures")
    return failures


def main():
    Gst.init(None)
    seed = random.randrange(1 << 32) if len(sys.argv) < 2 else int(sys.argv[1])
    print("seed", seed)
    rng = random.Random(seed)
    if not os.environ.get("VAPOURSYNTH_PYTHON"):
        print("vs: is compared where VAPOURSYNTH_PYTHON names a Python that has VapourSynth (3.12 and later have a wheel)")
    image = np.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH)).astype(np.uint8)
    failures = check_others(image)
    convert, rsvg = shutil.which("convert"), shutil.which("rsvg-convert")
    has_ffmpeg = shutil.which("ffmpeg")
    for there, grammar, peer, strings, *compared in (
            (has_ffmpeg, "ffmpeg:", ffmpeg, ffmpeg_strings, ffmpeg_agrees),
            (has_ffmpeg, "ffmpeg:", ffmpeg_mirrored, ffmpeg_strings),
            (convert, "im:", imagemagick, imagemagick_strings),
            (convert, "imc:", correlating, lambda rng: rng.sample(imagemagick_strings(rng), 30)),
            (convert and rsvg, "svg:", svg, svg_strings),
            (os.environ.get("VAPOURSYNTH_PYTHON"), "vs:", vapoursynth, vapoursynth_strings)):
        if there:
            failures += check(image, grammar, peer, strings(rng), *compared)
        else:
            print(grammar, "skipped: its program is not there")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

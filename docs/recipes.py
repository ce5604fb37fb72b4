#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""recipes.py [--write] [NAME...]: runs the recipes of docs/cookbook/*.md, all of them or those named.

A recipe is a fenced block of shell, run as it stands, in a folder that holds the sources below. The comment before it
names it and says what must come of it:

    <!-- recipe: NAME before=photo.png after=out.png frame=6 expect="after.detail > 2 * before.detail" -->

`before` and `after` are pictures, or videos of which frame number `frame` (6) is taken. `expect` is a condition over both
(class Picture), which a recipe that does nothing, or something else, does not meet. The recipe's picture,
cookbook/pictures/NAME.jpg, shows both side by side: with --write it is made, without it the one that is there must look
like what came out. The element is that of GST_PLUGIN_PATH, or the one in build/ or build-plugin/. The last line counts: "N recipes, N failed".
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

COOKBOOK = pathlib.Path(__file__).resolve().parent / "cookbook"
PHOTOGRAPHS = "/usr/share/backgrounds/mate/nature"  # Debian's mate-backgrounds
WIDTH, HEIGHT = 480, 270
RECIPE = re.compile(r'<!-- recipe: (?P<name>[\w-]+) (?P<attributes>.*?) -->\n+```sh\n(?P<code>.*?)```\n+!\[[^\]]*\]\((?P<picture>[^)]+)\)',
                    re.S)
ATTRIBUTE = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')
# How far a fresh picture may be from the one in the repository, as the mean difference of its samples: decoders and
# encoders of other versions differ a little, another filter more.
LIKE = 3.0

FIT = f"scale={WIDTH}:{HEIGHT}:force_original_aspect_ratio=increase,crop={WIDTH}:{HEIGHT}"
SOURCES = {
    # A photograph, and one with an alpha channel: a disc in front of nothing.
    "photo.png": ["-i", f"{PHOTOGRAPHS}/LadyBird.jpg", "-vf", FIT, "-frames:v", "1"],
    "disc.png": ["-i", f"{PHOTOGRAPHS}/YellowFlower.jpg", "-vf", f"{FIT},"
                 "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='255*lt(hypot(X-240,Y-135),100)'", "-frames:v", "1"],
    # A camera that pans; a still scene with noise; a scene that ends after six frames.
    "in.mp4": ["-loop", "1", "-i", f"{PHOTOGRAPHS}/TwoWings.jpg", "-vf", "scale=600:-1,crop=480:270:x=8*n:y=60,format=yuv420p",
               "-frames:v", "13", "-r", "25", "-c:v", "libx264", "-preset", "veryfast", "-crf", "10"],
    "noisy.mkv": ["-loop", "1", "-i", f"{PHOTOGRAPHS}/LadyBird.jpg", "-vf",
                  f"{FIT},format=yuv420p,noise=c0s=24:c0f=t:c0_seed=1", "-frames:v", "13", "-r", "25", "-c:v", "ffv1"],
    "cut.mkv": ["-i", f"{PHOTOGRAPHS}/LadyBird.jpg", "-i", f"{PHOTOGRAPHS}/YellowFlower.jpg", "-filter_complex",
                f"[0]{FIT},loop=5:1,setpts=N/25/TB,format=yuv420p[a];"
                f"[1]{FIT},loop=6:1,setpts=N/25/TB,format=yuv420p[b];"
                "[a][b]concat", "-r", "25", "-c:v", "ffv1"],
}


class Picture:
    """An RGB picture, and what can be said of it; samples are 0 to 255."""

    def __init__(self, samples):
        self.samples = samples
        self.luma = self.samples @ [0.2126, 0.7152, 0.0722]

    def box(self, x, y, width, height):
        return Picture(self.samples[y:y + height, x:x + width])

    def channel(self, index):
        return Picture(np.repeat(self.samples[:, :, index:index + 1], 3, axis=2))

    @property
    def mean(self):
        return self.luma.mean()

    @property
    def spread(self):
        """Standard deviation of the luma."""
        return self.luma.std()

    @property
    def across(self):
        """Mean step of the luma from column to column."""
        return np.abs(np.diff(self.luma, axis=1)).mean()

    @property
    def down(self):
        """Mean step of the luma from row to row."""
        return np.abs(np.diff(self.luma, axis=0)).mean()

    @property
    def detail(self):
        return self.across + self.down

    @property
    def colour(self):
        """Mean distance of the components from their mean: 0 is grey."""
        return np.abs(self.samples - self.samples.mean(axis=2, keepdims=True)).mean()

    def laplacian(self):
        y = self.luma
        return np.abs(4 * y[1:-1, 1:-1] - y[:-2, 1:-1] - y[2:, 1:-1] - y[1:-1, :-2] - y[1:-1, 2:])

    @property
    def fine(self):
        """Mean of what a 3x3 Laplacian leaves: the finest detail, which any blur takes away."""
        return self.laplacian().mean()

    @property
    def grain(self):
        """Median of the same: noise rather than edges."""
        return np.median(self.laplacian())


def difference(a, b):
    """Mean absolute difference of two pictures of one size."""
    return np.abs(a.samples - b.samples).mean()


def ffmpeg(*arguments, **options):
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def read_picture(path, frame, width=WIDTH):
    """Frame number `frame` of a video, or the picture of an image, over white where it has an alpha channel."""
    select = "" if path.suffix in (".png", ".jpg") else f"select=eq(n\\,{frame}),"
    raw = ffmpeg("-i", path, "-vf", select + f"scale={width}:{HEIGHT}", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgba", "-")
    if len(raw) != width * HEIGHT * 4:
        raise ValueError(f"{path.name} has no frame number {frame}")
    samples = np.frombuffer(raw, np.uint8).reshape(HEIGHT, width, 4).astype(float)
    alpha = samples[:, :, 3:] / 255
    return Picture(samples[:, :, :3] * alpha + 255 * (1 - alpha))


def side_by_side(before, after):
    return np.hstack([before.samples, np.full((HEIGHT, 8, 3), 255), after.samples]).round().astype(np.uint8)


def write_jpeg(samples, path):
    """Half the size: small enough to be kept in the repository."""
    height, width, _ = samples.shape
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-i", "-", "-vf", "scale=iw*3/4:-2:flags=area",
           "-q:v", "4", "-frames:v", "1", "-bitexact", path, input=samples.tobytes())


def read_recipes():
    recipes = []
    for page in sorted(COOKBOOK.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        found = [match for match in RECIPE.finditer(text)]
        if len(found) != text.count("<!-- recipe:") or len(found) != text.count("```sh"):
            sys.exit(f"{page.name}: each ```sh block stands between a comment '<!-- recipe: ... -->' and its picture")
        for match in found:
            options = {key: quoted or plain for key, quoted, plain in ATTRIBUTE.findall(match["attributes"])}
            if match["picture"] != f"pictures/{match['name']}.jpg" or "expect" not in options:
                sys.exit(f"{page.name}: the recipe {match['name']} needs expect=\"...\" and the picture pictures/{match['name']}.jpg")
            recipes.append((match["name"], options, match["code"]))
    names = [name for name, _, _ in recipes]
    if len(set(names)) != len(names):
        sys.exit("two recipes have one name")
    return recipes


def run_recipe(recipe, sources, write):
    """Returns what is wrong with the recipe; nothing where all is well."""
    name, options, code = recipe
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for source in SOURCES:
            (folder / source).symlink_to(sources / source)
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", code], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        if run.returncode or "ERROR" in run.stdout or "erroneous pipeline" in run.stdout:
            return f"it failed:\n{run.stdout[-2000:]}"
        frame = int(options.get("frame", 6))
        try:
            before = read_picture(folder / options.get("before", "photo.png"), frame)
            after = read_picture(folder / options.get("after", "out.png"), frame)
        except (subprocess.CalledProcessError, ValueError) as error:
            return f"no picture came of it: {error}"
        names = {"before": before, "after": after, "difference": difference, "abs": abs}
        if not eval(options["expect"], {"__builtins__": {}}, names):  # the conditions are this repository's own
            told = {key: [round(float(getattr(p, key)), 1) for p in (before, after)]
                    for key in ("mean", "spread", "across", "down", "fine", "colour", "grain")}
            return f"not as expected: {options['expect']}; before and after: {told}, difference {difference(before, after):.1f}"
        path = COOKBOOK / "pictures" / f"{name}.jpg"
        fresh = folder / "fresh.jpg"
        write_jpeg(side_by_side(before, after), path if write else fresh)
        if write:
            return ""
        if not path.is_file():
            return "it has no picture yet: docs/recipes.py --write"
        apart = difference(read_picture(path, 0, 2 * WIDTH + 8), read_picture(fresh, 0, 2 * WIDTH + 8))
        return f"its picture differs from what came out by {apart:.1f}: docs/recipes.py --write" if apart > LIKE else ""


def use_element():
    """Ends with a message where GStreamer does not find the element."""
    root = COOKBOOK.parent.parent
    built = [root / name / "plugin" for name in ("build", "build-plugin") if (root / name / "plugin/libgstconvolve.so").exists()]
    if built:
        os.environ.setdefault("GST_PLUGIN_PATH", str(built[0]))
    if subprocess.run(["gst-inspect-1.0", "videoconvolve"], capture_output=True, check=False).returncode:
        sys.exit("GStreamer does not find videoconvolve: ./setup.sh --plugin builds it")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    recipes = read_recipes()
    unknown = set(arguments.names) - {name for name, _, _ in recipes}
    if unknown:
        sys.exit(f"no such recipe: {', '.join(sorted(unknown))}")
    if not pathlib.Path(PHOTOGRAPHS).is_dir():
        sys.exit(f"{PHOTOGRAPHS} is missing: install mate-backgrounds")
    strays = {p.stem for p in (COOKBOOK / "pictures").iterdir()} - {name for name, _, _ in recipes}
    if strays:
        sys.exit(f"pictures of no recipe: {', '.join(sorted(strays))}")
    chosen = [recipe for recipe in recipes if not arguments.names or recipe[0] in arguments.names]
    failed = 0
    use_element()
    os.environ["GST_PRESET_PATH"] = str(COOKBOOK.parent.parent / "presets")
    with tempfile.TemporaryDirectory() as scratch:
        for name, made in SOURCES.items():
            ffmpeg(*made, pathlib.Path(scratch) / name)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = pool.map(lambda recipe: run_recipe(recipe, pathlib.Path(scratch), arguments.write), chosen)
            for (name, _, _), fault in zip(chosen, wrong):
                failed += bool(fault)
                print(f"{'FAILED' if fault else 'ok'}: {name}" + (f": {fault}" if fault else ""), flush=True)
    print(f"{len(chosen)} recipes, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

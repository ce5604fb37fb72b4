#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times pipelines/archive beside a plain pipeline: archive.py measure -o result.json; archive.py plot -o picture.svg result.json.
On a machine with GPUs: archive.py gpus SOURCE.mp4 -o result.json times 1, 2, 4 and 8 workers, which share the GPUs.

All runs of one measurement stand in turns, so that whoever else uses the machine slows all of them alike; the result
holds every run, and the figures are medians. What halo and seams cost is told by the processor's time, which others' work
does not lengthen as it does the clock's. The model that the plot carries to a thousand workers is

    seconds(N) = rounds(N) * (s + (L * f + h) / r),   rounds(N) = ceil(D / (L * N))

for D seconds of video at f frames a second in segments of L seconds, h frames of halo, r frames a second of one worker
and s seconds of its start and end. s and r are fitted to the processor's time of one segment at several lengths.
Needs the plugin in GST_PLUGIN_PATH, FFmpeg, and for the plot matplotlib.
"""
import argparse
import datetime
import hashlib
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ROOT / "pipelines" / "archive" / "videoconvolve-job"
FILTER = "preset=temporal-denoise temporal-radius=2 n-threads=1"
RATE, GOP, SECONDS = 25, 25, 16
SIZE = "480x270"
LENGTHS = (1, 2, 4)
ENCODER = "avenc_ffv1"


def run(*command):
    """Runs a command; the wall clock's seconds, and the processor's of it and its children."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    taken, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"seconds": taken, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def plain(source, target):
    return run("gst-launch-1.0", "-q", "filesrc", f"location={source}", "!", "decodebin", "!", "queue", "!", "videoconvert", "!",
               "videoconvolve", *FILTER.split(), "!", "queue", "!", "videoconvert", "!", *ENCODER.split(), "!", "matroskamux", "!",
               "filesink", f"location={target}")


def plan(source, folder, seconds, text=FILTER, encoder=(ENCODER, "--lossless")):
    run(sys.executable, COMMAND, "plan", source, "--filter", text, "--encoder", *encoder, "--seconds", seconds, "-o", folder)
    return json.loads((folder / "job.json").read_text())


def frames_of(parts):
    """The hashes of all frames that went to the encoders, in order."""
    return [digest for part in sorted(parts.glob("*.json")) for _, digest in json.loads(part.read_text())["frames"]]


def whole_job(source, work, seconds, workers, **what):
    """One job from plan to its last part: times, counts, and one hash over the hashes of its frames."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        job = plan(source, pathlib.Path(folder) / "job", seconds, **what)
        taken = run(sys.executable, COMMAND, "run", f"{folder}/job", "--engine", "local", "--workers", workers)
        halo = sum(s["range"]["halo_before"] + s["range"]["halo_after"] for s in job["segments"])
        parts = pathlib.Path(folder) / "job" / "parts"
        frames = frames_of(parts)
        return {**taken, "segments": len(job["segments"]), "halo_frames": halo, "bytes": sum(p.stat().st_size for p in parts.glob("*.mkv")),
                "frames": len(frames), "digest": hashlib.sha256("".join(frames).encode()).hexdigest()[:16]}


def one_segment(source, work, seconds):
    """The second segment of a plan: it has a halo on both sides."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        wanted = plan(source, pathlib.Path(folder) / "job", seconds)["segments"][1]["range"]
        return {**run(sys.executable, COMMAND, "run", f"{folder}/job", "--segment", 1),
                "frames": wanted["frames"] + wanted["halo_before"] + wanted["halo_after"]}


def fit(points):
    """Least squares of seconds over frames: (start in s, frames a second)."""
    x, y = zip(*points)
    mean_x, mean_y = statistics.mean(x), statistics.mean(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in points) / sum((a - mean_x) ** 2 for a in x)
    return mean_y - slope * mean_x, 1 / slope


def measure(options):
    rows = []
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work) / "source.mp4"
        run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={SIZE}:r={RATE}:d={SECONDS},noise=alls=12:allf=t", "-c:v", "libx264",
            "-preset", "veryfast", "-g", GOP, "-bf", "3", source)
        for turn in range(options.turns):
            rows.append({"case": "plain", "turn": turn, **plain(source, f"{work}/plain.mkv")})
            for workers in (1, 2):
                rows.append({"case": "job", "turn": turn, "workers": workers, "length": 4, **whole_job(source, work, 4, workers)})
            for length in LENGTHS:
                rows.append({"case": "job by length", "turn": turn, "workers": 1, "length": length, **whole_job(source, work, length, 1)})
                rows.append({"case": "one segment", "turn": turn, "length": length, **one_segment(source, work, length)})
    frames = RATE * SECONDS
    result = {**machine(), "source": f"{SIZE} H.264, {frames} frames, a key frame every {GOP}", "filter": FILTER, "encoder": ENCODER, "frames": frames, "rows": rows}
    options.output.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


def machine():
    """Date, commit and processor, as every result names them."""
    cpu = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "?")
    commit = os.environ.get("COMMIT") or subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                                                        check=True).stdout.strip()
    return {"date": datetime.date.today().isoformat(), "commit": commit, "cpu": cpu, "cores": os.cpu_count()}


GPU_FILTER, GPU_ENCODER, GPU_SECONDS = "preset=temporal-denoise temporal-radius=2 backend=cuda", ("x264enc speed-preset=ultrafast threads=2",), 2


def measure_gpus(options):
    """Whole jobs with 1, 2, 4 and 8 workers, in turns, each worker on one of the machine's GPUs."""
    listed = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for turn in range(options.turns):
            for workers in (1, 2, 4, 8):
                rows.append({"case": "job", "turn": turn, "workers": workers,
                             **whole_job(options.source, work, GPU_SECONDS, workers, text=GPU_FILTER, encoder=GPU_ENCODER)})
                print(f"{workers} workers: {rows[-1]['seconds']:.1f} s", file=sys.stderr, flush=True)
    result = {**machine(), "gpus": listed.stdout.splitlines(), "source": options.source.name, "filter": GPU_FILTER, "encoder": GPU_ENCODER[0],
              "frames": rows[0]["frames"], "rows": rows}
    options.output.write_text(json.dumps(result, indent=1) + "\n")
    print(gpu_table(result))
    if len({row["digest"] for row in rows}) != 1:
        sys.exit("the frames are not the same in all runs")


def gpu_table(result):
    turns = len(result["rows"]) // 4
    how = f"Medians of {turns} turns" if turns > 1 else "One run of each"
    first = median(result, "job", workers=1)
    lines = [f"# Archive jobs on GPUs, {result['date']}, commit {result['commit']}", "",
             f"{len(result['gpus'])} x {result['gpus'][0]}; {result['cpu']}, {result['cores']} cores. {result['source']}: {result['frames']} frames in "
             f"{result['rows'][0]['segments']} segments; `{result['filter']}`; `{result['encoder']}`; `--engine local`.",
             f"{how}. The frames that went to the encoders were the same in all runs, hash for hash.", "",
             "| workers | frames/s | times one worker | processor's seconds |", "|---|---|---|---|"]
    for workers in (1, 2, 4, 8):
        taken = median(result, "job", workers=workers)
        lines.append(f"| {workers} | {result['frames'] / taken:.0f} | {first / taken:.2f} | {median(result, 'job', 'cpu', workers=workers):.1f} |")
    return "\n".join(lines)


def median(result, case, key="seconds", **wanted):
    return statistics.median(r[key] for r in result["rows"] if r["case"] == case and all(r[k] == v for k, v in wanted.items()))


def model(result):
    """Start (s), rate (frames/s) of one worker, from the medians of single segments."""
    return fit([(median(result, "one segment", "frames", length=n), median(result, "one segment", "cpu", length=n)) for n in LENGTHS])


def table(result):
    frames, whole, whole_cpu = result["frames"], median(result, "plain"), median(result, "plain", "cpu")
    lines = [f"# Archive jobs, {result['date']}, commit {result['commit']}", "",
             f"{result['cpu']}, {result['cores']} cores, shared with others; {result['source']}; `{result['filter']}`; `{result['encoder']}`.",
             "Medians; all runs of a turn stand side by side.", "", "| what | frames/s | of plain | processor's time, of plain |", "|---|---|---|---|",
             f"| plain pipeline | {frames / whole:.0f} | 1.00 | 1.00 |"]
    for workers in (1, 2):
        taken = median(result, "job", workers=workers)
        lines.append(f"| job, {workers} worker{'s' * (workers > 1)}, 4 s segments | {frames / taken:.0f} | {whole / taken:.2f} "
                     f"| {median(result, 'job', 'cpu', workers=workers) / whole_cpu:.2f} |")
    lines += ["", "| segment at least | segments | halo frames | halo, % of all | bytes, of those in 4 s | processor's time, of plain |", "|---|---|---|---|---|---|"]
    for n in LENGTHS:
        halo = median(result, "job by length", "halo_frames", length=n)
        size = median(result, "job by length", "bytes", length=n) / median(result, "job by length", "bytes", length=LENGTHS[-1])
        lines.append(f"| {n} s | {median(result, 'job by length', 'segments', length=n):.0f} | {halo:.0f} | {100 * halo / frames:.1f} | {size:.3f} "
                     f"| {median(result, 'job by length', 'cpu', length=n) / whole_cpu:.2f} |")
    start, rate = model(result)
    lines += ["", f"One segment takes {start:.2f} s + frames / {rate:.0f} s of a core (halo included), fitted to segments of {LENGTHS[0]} to {LENGTHS[-1]} s."]
    return "\n".join(lines)


def plot(options):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    result = json.loads(options.result.read_text())
    start, rate = model(result)
    halo = 5  # temporal-radius=2: three frames before and two after
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4.2))
    lengths = [2 ** (n / 4) for n in range(0, 41)]
    panels[0].semilogx(lengths, [100 * (n * RATE / rate) / (start + (n * RATE + halo) / rate) for n in lengths], label="formula")
    own = [median(result, "one segment", "frames", length=n) - halo for n in LENGTHS]
    panels[0].semilogx([frames / RATE for frames in own],
                       [100 * frames / rate / median(result, "one segment", "cpu", length=n) for frames, n in zip(own, LENGTHS)], "o", label="measured")
    panels[0].set(xlabel="segment length, s", ylabel="time on the segment's own frames, %", ylim=(0, 105))
    workers = [2 ** (n / 4) for n in range(0, 41)]
    for hours, style in ((2, "-"), (1000, "--")):
        for seconds in (10, 60, 300):
            total = hours * 3600
            each = start + (seconds * RATE + halo) / rate
            panels[1].loglog(workers, [total * RATE / rate / (math.ceil(total / seconds / n) * each) for n in workers], style,
                             label=f"{hours} h in segments of {seconds} s")
    panels[1].set(xlabel="workers, each with a core of its own", ylabel="times as fast as one worker's frames alone (formula)")
    for panel in panels:
        panel.grid(True, which="both", alpha=0.25)
        panel.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(options.output, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    taking = commands.add_parser("measure")
    taking.add_argument("-o", "--output", type=pathlib.Path, required=True)
    taking.add_argument("--turns", type=int, default=5)
    taking.set_defaults(call=measure)
    gpus = commands.add_parser("gpus")
    gpus.add_argument("source", type=pathlib.Path)
    gpus.add_argument("-o", "--output", type=pathlib.Path, required=True)
    gpus.add_argument("--turns", type=int, default=3)
    gpus.set_defaults(call=measure_gpus)
    drawing = commands.add_parser("plot")
    drawing.add_argument("result", type=pathlib.Path)
    drawing.add_argument("-o", "--output", type=pathlib.Path, required=True)
    drawing.set_defaults(call=plot)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    sys.exit(main())

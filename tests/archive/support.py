# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of pipelines/archive share: clips, the command, and a plain pipeline to compare with.

The oracle shares no code with the package: gst-launch-1.0 filters the whole file in one go, and FFmpeg decodes and hashes
what both wrote.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ROOT / "pipelines" / "archive" / "videoconvolve-job"
FILTER = "preset=temporal-denoise temporal-radius=2"
PICTURE = "testsrc2=s=160x90:r=25:d=8,noise=alls=25:allf=t"
TIMEOUT_S = 120

CLIPS = {
    # B-frames, open GOPs, sound, subtitles; MP4's edit list shifts its times.
    "open-gop.mp4": ["-f", "lavfi", "-i", PICTURE, "-f", "lavfi", "-i", "sine=d=8", "-c:v", "libx264", "-preset", "veryfast",
                     "-g", "28", "-bf", "3", "-x264-params", "open-gop=1:scenecut=0", "-c:a", "aac"],
    "variable.mkv": ["-f", "lavfi", "-i", PICTURE, "-vf", "select='not(between(mod(n,10),3,5))',setpts='PTS+mod(N,4)*0.2/25/TB'",
                     "-fps_mode", "vfr", "-c:v", "libx264", "-preset", "veryfast", "-g", "20", "-bf", "2"],
    "broadcast.ts": ["-f", "lavfi", "-i", PICTURE, "-c:v", "mpeg2video", "-q:v", "4", "-g", "12", "-bf", "2", "-f", "mpegts"],
    "one-key.mp4": ["-f", "lavfi", "-i", PICTURE, "-c:v", "libx264", "-preset", "veryfast", "-g", "9999",
                    "-x264-params", "scenecut=0"],
    "baseline.mp4": ["-f", "lavfi", "-i", PICTURE, "-c:v", "libx264", "-profile:v", "baseline", "-g", "25"],
    # Many intra pictures that are no points of random access: later pictures refer to what stands before them.
    "false-keys.ts": ["-f", "lavfi", "-i", PICTURE + ",negate=enable='mod(floor(t*2),2)'", "-c:v", "libx264", "-preset", "veryfast", "-x264-params",
                      "keyint=150:min-keyint=76:scenecut=100:ref=4:bframes=0", "-f", "mpegts"],
}


def run(*command, check=True, **options):
    """Runs a command; its output is in the failure's message."""
    done = subprocess.run([str(c) for c in command], check=False, capture_output=True, text=True, timeout=TIMEOUT_S, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def job(*arguments, **options):
    return run(COMMAND, *arguments, **options)


def clip(name, folder):
    """Makes one of CLIPS in the folder."""
    path = folder / name
    run("ffmpeg", "-v", "error", "-y", *CLIPS[name], path)
    return path


def hashes(path):
    """The SHA-256 of each frame of a video, as FFmpeg decodes it."""
    text = run("ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framehash", "-hash", "sha256", "-").stdout
    return [line.split(",")[-1].strip() for line in text.splitlines() if not line.startswith("#")]


def times(path):
    """When each frame of a video is shown, in ms from the first."""
    text = run("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "frame=pts_time", "-of", "csv=p=0", path).stdout
    found = [round(float(line.strip(",")) * 1000) for line in text.split()]
    return [t - found[0] for t in found]


def plain(source, target, filter_text=FILTER):
    """The whole file through one pipeline, to a lossless file."""
    run("gst-launch-1.0", "-q", "filesrc", f"location={source}", "!", "decodebin", "!", "videoconvert", "!", "videoconvolve",
        *filter_text.split(), "!", "videoconvert", "!", "avenc_ffv1", "!", "matroskamux", "!", "filesink", f"location={target}")
    return hashes(target)


def segments(folder):
    return json.loads((folder / "job.json").read_text())["segments"]


class ArchiveTest(unittest.TestCase):
    """A test with a folder of its own and the means to plan, run and join in it."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.job = self.folder / "job"

    def plan(self, *sources, seconds=1, **options):
        return job("plan", *sources, "--filter", FILTER, "--seconds", seconds, "-o", self.job, **options)

    def joined(self):
        """The frames of the job's one joined video."""
        out = self.folder / "joined.mkv"
        job("join", self.job, out)
        job("verify", self.job, out)
        return hashes(out)

    def assert_same_frames(self, actual, expected):
        self.assertGreater(len(expected), 20)
        for number, (a, e) in enumerate(zip(actual, expected)):
            self.assertEqual(a, e, f"frame {number} of {len(expected)} is not that of the plain pipeline")
        self.assertEqual(len(actual), len(expected))


def without_index(**more):
    """The environment without the variables that number a task."""
    return {**{k: v for k, v in os.environ.items() if k not in ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX")}, **more}

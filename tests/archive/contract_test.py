#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""contract_test.py: decoded frames are those of one plain pipeline, hash for hash, however a job is cut and run."""
import os
import pathlib
import signal
import subprocess
import time
import unittest
from unittest import mock

from support import (COMMAND, FILTER, ROOT, ArchiveTest, clip, job, plain, run, segments, times, without_index)


class SameFrames(ArchiveTest):
    def check(self, name, least_segments, most_segments=1000):
        source = clip(name, self.folder)
        self.plan(source)
        count = len(segments(self.job))
        self.assertGreaterEqual(count, least_segments)
        self.assertLessEqual(count, most_segments)
        job("run", self.job, "--workers", 2)
        self.assert_same_frames(self.joined(), plain(source, self.folder / "plain.mkv"))
        self.assertEqual(times(self.folder / "joined.mkv"), times(self.folder / "plain.mkv"))

    def test_b_frames_and_open_gops_in_seven_segments(self):
        self.check("open-gop.mp4", 7, 7)

    def test_variable_frame_rate(self):
        self.check("variable.mkv", 5)

    def test_mpeg2_transport_stream(self):
        self.check("broadcast.ts", 6)

    def test_a_decoder_that_takes_parameter_sets_from_packets_alone(self):
        # As decoders on GPUs do: their caps make parsers give byte-stream, which has no codec_data.
        ranks = {"GST_PLUGIN_FEATURE_RANK": "avdec_h264:NONE,openh264dec:MAX"}
        if run("gst-inspect-1.0", "--exists", "openh264dec", check=False).returncode != 0:
            self.skipTest("openh264dec is not installed")
        with mock.patch.dict(os.environ, ranks):
            self.check("baseline.mp4", 5)

    def test_one_key_frame_is_one_segment(self):
        self.check("one-key.mp4", 1, 1)

    def test_intra_pictures_that_are_no_key_frames(self):
        # IDR pictures stand at least 3 s apart, intra pictures every half second.
        source = clip("false-keys.ts", self.folder)
        kinds = run("ffprobe", "-v", "error", "-show_entries", "frame=pict_type", "-of", "csv=p=0", source).stdout.split()
        self.assertGreater(sum(kind.startswith("I") for kind in kinds), 8)
        self.check("false-keys.ts", 2, 3)

    def test_causal_window_of_even_depth(self):
        source = clip("open-gop.mp4", self.folder)
        text = "kernel=<<<1>>,<<2>>,<<3>>,<<4>>> normalize=true window=causal"
        job("plan", source, "--filter", text, "--seconds", 1, "-o", self.job)
        job("run", self.job)
        self.assert_same_frames(self.joined(), plain(source, self.folder / "plain.mkv", text))

    def check_filter(self, name, text):
        source = clip(name, self.folder)
        job("plan", source, "--filter", text, "--seconds", 1, "-o", self.job)
        self.assertGreater(len(segments(self.job)), 1)
        job("run", self.job)
        expected = plain(source, self.folder / "plain.mkv", text)
        self.assert_same_frames(self.joined(), expected)
        return expected

    def test_scenes_that_are_kept_apart(self):
        # The clip turns to its negative and back every half second: cuts within segments and near their seams.
        text = "preset=temporal-mean temporal-radius=3 backend=cpu"
        apart = self.check_filter("false-keys.ts", f"{text} scene-threshold=0.1")
        mixed = plain(self.folder / "false-keys.ts", self.folder / "mixed.mkv", text)
        self.assertGreater(sum(a != m for a, m in zip(apart, mixed)), 20)

    def test_regions_that_are_held(self):
        self.check_filter("open-gop.mp4", "preset=temporal-mean regions=inside region-boxes=<<20,10,40,30>,<70,40,50,50>> "
                          "region-feather=8 region-hold=300000000 backend=cpu")

    def test_stream_that_starts_between_key_frames(self):
        whole = clip("false-keys.ts", self.folder)
        source = self.folder / "tuned-in.ts"
        data = whole.read_bytes()
        source.write_bytes(data[len(data) // 6 // 188 * 188:])
        self.plan(source)
        job("run", self.job)
        # Frames before the first key frame cannot be decoded; from one window after it on, all are those of the whole.
        actual, expected = self.joined(), plain(whole, self.folder / "plain.mkv")
        self.assertLess(len(actual), len(expected))
        self.assert_same_frames(actual[2:], expected[len(expected) - len(actual) + 2:])


class Failures(ArchiveTest):
    def test_killed_worker_is_taken_up_again(self):
        source = clip("open-gop.mp4", self.folder)
        self.plan(source)
        worker = subprocess.Popen([COMMAND, "run", self.job, "--segment", "3"], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not list((self.job / "parts").glob("000003.mkv.*.part")) and worker.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        os.kill(worker.pid, signal.SIGKILL)
        self.assertEqual(worker.wait(), -signal.SIGKILL, "the worker was to die in the midst of its work")
        self.assertFalse((self.job / "parts" / "000003.json").exists())
        self.assertEqual(len(list((self.job / "parts").glob("*.part"))), 1)
        job("run", self.job, "--engine", "local")
        self.assertEqual(list((self.job / "parts").glob("*.part")), [])
        self.assert_same_frames(self.joined(), plain(source, self.folder / "plain.mkv"))

    def test_engine_starts_a_killed_worker_anew(self):
        source = clip("open-gop.mp4", self.folder)
        self.plan(source)
        engine = subprocess.Popen([COMMAND, "run", self.job, "--engine", "local"], stderr=subprocess.DEVNULL)
        killed, deadline = False, time.monotonic() + 60
        while not killed and engine.poll() is None and time.monotonic() < deadline:
            for leftover in (self.job / "parts").glob("*.mkv.*.part"):
                os.kill(int(leftover.name.removesuffix(".part").rpartition("-")[2]), signal.SIGKILL)
                killed = True
                break
        self.assertTrue(killed, "no worker was found at its work")
        self.assertEqual(engine.wait(timeout=100), 0)
        self.assert_same_frames(self.joined(), plain(source, self.folder / "plain.mkv"))

    def test_done_is_done_and_damage_is_done_again(self):
        self.plan(clip("open-gop.mp4", self.folder))
        job("run", self.job, env=without_index())
        part = self.job / "parts" / "000002.mkv"
        before = part.stat().st_mtime_ns
        self.assertIn("done already", job("run", self.job, "--segment", 2).stdout)
        self.assertEqual(part.stat().st_mtime_ns, before)
        data = bytearray(part.read_bytes())
        data[len(data) // 2] ^= 1
        part.write_bytes(data)
        failed = job("join", self.job, self.folder / "out.mkv", check=False)
        self.assertIn("segments 2 of 7 are not done, or damaged", failed.stderr)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("segment 2: done\n", job("run", self.job, "--segment", 2).stdout)
        self.assertIn("200 frames are as recorded", job("verify", self.job).stdout)

    def test_array_variables_name_the_segment(self):
        self.plan(clip("open-gop.mp4", self.folder))
        for number, name in enumerate(("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX")):
            self.assertIn(f"segment {number}: done", job("run", self.job, env=without_index(**{name: str(number)})).stdout)
        self.assertIn("2 of 7 segments", job("status", self.job, check=False).stdout)
        wrong = job("run", self.job, check=False, env=without_index(JOB_COMPLETION_INDEX="7"))
        self.assertEqual(wrong.returncode, 3)
        self.assertIn("segments 0 to 6", wrong.stderr)

    def test_broken_files_fail_alone_and_are_named(self):
        good = clip("open-gop.mp4", self.folder)
        garbage, absent, cut_off = (self.folder / n for n in ("garbage.mp4", "absent.mp4", "cut-off.mkv"))
        garbage.write_bytes(os.urandom(100_000))
        run("ffmpeg", "-v", "error", "-i", good, "-c", "copy", cut_off)
        planned = self.plan(garbage, good, absent, cut_off, check=False)
        self.assertEqual(planned.returncode, 4)
        self.assertIn("garbage.mp4", planned.stderr)
        self.assertIn("absent.mp4: no such file", planned.stderr)
        self.assertNotIn("cut-off.mkv", planned.stderr)
        # This one breaks after the plan: the size stays, a run of bytes in the middle does not.
        data = bytearray(cut_off.read_bytes())
        middle = len(data) // 2
        data[middle:middle + 3000] = os.urandom(3000)
        cut_off.write_bytes(data)
        done = job("run", self.job, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertIn("cut-off.mkv: its video is not what it was", done.stderr)
        state = job("status", self.job, check=False)
        self.assertEqual(state.returncode, 4)
        self.assertIn("open-gop.mp4: 7 of 7 segments, 200 frames", state.stdout)
        joined = job("join", self.job, f"{self.folder}/out/", check=False)
        self.assertEqual(joined.returncode, 4)
        self.assertIn("cut-off.mkv: segments", joined.stderr)
        self.assertEqual([p.name for p in (self.folder / "out").iterdir()], ["open-gop.mkv"])

    def test_a_picture_that_changes_its_size_is_told_with_the_time_and_what_to_do(self):
        def of_size(size, *codec):
            piece = self.folder / f"{size}.ts"
            run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25:d=2", *codec, "-f", "mpegts", piece)
            return piece.read_bytes()

        changing = self.folder / "changing.ts"
        for codec in (("-c:v", "mpeg2video", "-g", "12"), ("-c:v", "libx264", "-preset", "veryfast", "-g", "25")):
            changing.write_bytes(of_size("160x90", *codec) + of_size("192x108", *codec))
            planned = self.plan(changing, check=False)
            self.assertEqual(planned.returncode, 3)
            self.assertRegex(planned.stderr, r"changing\.ts: its picture changes from 160x90 to 192x108 after 50 frames \(\d+\.\d+ s\); split the file there")

    def test_full_disk(self):
        source = clip("open-gop.mp4", self.folder)
        self.plan(source)
        parts = self.job / "parts"
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", parts], capture_output=True, check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            failed = job("run", self.job, "--segment", 0, check=False)
            self.assertEqual(failed.returncode, 1, failed.stderr)
            self.assertIn("the disk is full", failed.stderr)
            self.assertEqual([p.name for p in parts.iterdir() if p.suffix != ".txt"], [])
            run("mount", "-o", "remount,size=200m", parts)
            job("run", self.job)
            self.assert_same_frames(self.joined(), plain(source, self.folder / "plain.mkv"))
        finally:
            run("umount", parts)


class Examples(unittest.TestCase):
    def test_kubernetes_manifest_is_an_indexed_job(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        manifest = yaml.safe_load((ROOT / "pipelines/archive/examples/kubernetes-job.yaml").read_text())
        self.assertEqual((manifest["apiVersion"], manifest["kind"]), ("batch/v1", "Job"))
        spec = manifest["spec"]
        self.assertEqual(spec["completionMode"], "Indexed")
        worker = spec["template"]["spec"]["containers"][0]
        self.assertEqual(worker["args"][0], "run")
        self.assertEqual(spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["containerName"], worker["name"])


class Joined(ArchiveTest):
    def test_lossy_video_with_b_frames_and_sound_in_mp4(self):
        source = clip("open-gop.mp4", self.folder)
        job("plan", source, "--filter", FILTER, "--seconds", 1, "--encoder", "x264enc speed-preset=ultrafast bframes=2", "-o", self.job)
        job("run", self.job)
        for name in ("out.mp4", "out.mkv"):
            out = self.folder / name
            job("join", self.job, out)
            self.assertIn("200 frames are as recorded", job("verify", self.job, out).stdout)
            self.assertEqual(times(out), times(source))
            streams = run("ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", out).stdout.split()
            self.assertEqual(sorted(streams), ["aac", "h264"])
        # An edit list hides the packet that only primes the decoder, and what is hidden is not copied.
        before, after = self.sound(source), self.sound(self.folder / "out.mp4")
        self.assertGreaterEqual(len(after), len(before) - 2)
        start = before.index(after[0])
        self.assertEqual(after, before[start:start + len(after)])

    @staticmethod
    def sound(path):
        """The hashes of the coded sound, packet by packet."""
        text = run("ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-c", "copy", "-f", "framemd5", "-").stdout
        return [line.split(",")[-1] for line in text.splitlines() if not line.startswith("#")]

    def test_verify_names_the_first_wrong_frame(self):
        source = clip("open-gop.mp4", self.folder)
        self.plan(source)
        job("run", self.job)
        wrong = self.folder / "wrong.mkv"
        plain(source, wrong, "preset=sharpen")
        failed = job("verify", self.job, wrong, check=False)
        self.assertEqual(failed.returncode, 4)
        self.assertIn("wrong.mkv: frame 0, at 0.000 s, is not the one that was recorded", failed.stderr)


class Refusals(ArchiveTest):
    def refuse(self, message, *arguments):
        source = pathlib.Path(self.folder / "open-gop.mp4")
        if not source.exists():
            clip("open-gop.mp4", self.folder)
        failed = job("plan", source, "-o", self.job, *arguments, check=False)
        self.assertEqual(failed.returncode, 3, failed.stderr)
        self.assertIn(message, failed.stderr)
        self.assertFalse((self.job / "job.json").exists())

    def test_faults_of_the_filter_and_the_encoder(self):
        self.refuse("no property", "--filter", "strength=3")
        self.refuse("videoflip", "--filter", "preset=sharpen ! videoflip")
        self.refuse("nosuchenc", "--filter", "preset=sharpen", "--encoder", "nosuchenc")
        self.refuse("give the whole path", "--filter", "kernel-location=taps.txt")


if __name__ == "__main__":
    unittest.main(verbosity=2)

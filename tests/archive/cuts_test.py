#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cuts_test.py: where a video is cut, on packets made by hand; times that joined packets get."""
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from support import FILTER, ROOT, ArchiveTest, clip, job, run

sys.path.insert(0, str(ROOT / "pipelines" / "archive"))

from videoconvolve_job import engine_local, plan, worker  # noqa: E402
from videoconvolve_job.cuts import cut, why_whole  # noqa: E402
from videoconvolve_job.errors import InputError  # noqa: E402
from videoconvolve_job.gst import Gst  # noqa: E402
from videoconvolve_job.halo import Halo, elements, halo_of  # noqa: E402
from videoconvolve_job.job import load  # noqa: E402
from videoconvolve_job.join import decoding_times  # noqa: E402
from videoconvolve_job.keyframes import Coding  # noqa: E402

ORDER = [0, 3, 1, 2]  # one I, one P and two B pictures: the P is decoded before the Bs that it comes after


def packets(groups, length=4):
    """pts (10 ns a frame), keys and shown of `groups` closed groups in the order of decoding."""
    pts = [10 * (g * length + i) for g in range(groups) for i in ORDER]
    return pts, [n % length == 0 for n in range(len(pts))], [True] * len(pts)


class Cuts(unittest.TestCase):
    def check_whole(self, ranges, frames):
        """The ranges hold each frame once, and what the filter gets for each covers it."""
        self.assertEqual(sum(r.frames for r in ranges), frames)
        for one, following in zip(ranges, ranges[1:]):
            self.assertEqual(one.end, following.start)
        self.assertIsNone(ranges[-1].end)

    def test_halo_starts_at_a_key_frame(self):
        ranges = cut(*packets(10), Halo(2, 1, 0), 100)
        self.check_whole(ranges, 40)
        self.assertEqual([(r.halo_start, r.start, r.halo_end) for r in ranges], [(0, 0, 110), (80, 100, 230), (200, 220, 350), (320, 340, None)])
        self.assertEqual([(r.halo_before, r.halo_after) for r in ranges], [(0, 1), (2, 1), (2, 1), (2, 0)])
        # Frame 10 is the halo after the first range, and the last of its group to be decoded: packet 11.
        self.assertEqual((ranges[0].first_packet, ranges[0].packets), (0, 12))
        self.assertEqual(ranges[1].first_packet, 8)

    def test_held_regions_lengthen_the_halo(self):
        for r in cut(*packets(10), Halo(1, 0, 55), 100)[1:]:
            self.assertLessEqual(r.halo_start + 55, r.start)
            self.assertEqual(r.halo_before, 6)

    def test_short_rest_goes_to_the_last_range(self):
        ranges = cut(*packets(10), Halo(0, 0, 0), 300)
        self.assertEqual([r.frames for r in ranges], [40])

    def test_open_group_is_no_obstacle(self):
        # Two B pictures stand before the second key frame and are decoded after it.
        pts = [0, 30, 10, 20, 60, 40, 50, 90, 70, 80]
        ranges = cut(pts, [True, False, False, False, True] + [False] * 5, [True] * 10, Halo(1, 1, 0), 30)
        self.check_whole(ranges, 10)
        self.assertEqual((ranges[1].halo_start, ranges[1].start, ranges[1].first_packet), (60, 70, 4))

    def test_frames_before_the_first_key_frame_are_left_out(self):
        ranges = cut([0, 10, 20, 30], [False, False, True, False], [True] * 4, Halo(1, 1, 0), 1000)
        self.assertEqual((ranges[0].start, ranges[0].frames, ranges[0].first_packet), (20, 2, 2))

    def test_reasons_not_to_cut(self):
        shown = [True, True]
        self.assertIsNone(why_whole([0, 1], [True, False], shown))
        for reason, pts, keys in (("no packet", [0, 1], [False, False]), ("without a timestamp", [0, None], [True, False]),
                                  ("share a timestamp", [1, 1], [True, False])):
            self.assertIn(reason, why_whole(pts, keys, shown))


class HaloOfElements(unittest.TestCase):
    def test_depths(self):
        for text, before, after in (("preset=temporal-denoise temporal-radius=3", 4, 3), ("preset=sharpen", 1, 0),
                                    ("preset=temporal-mean temporal-radius=3 window=causal", 7, 0),
                                    ("kernel=<<<1>>,<<1>>,<<1>>,<<1>>>", 2, 1),
                                    ("preset=temporal-mean ! videoconvolve preset=temporal-mean temporal-radius=2", 5, 3)):
            self.assertEqual(halo_of(text), Halo(before, after, 0), text)

    def test_regions_and_scenes_where_the_element_has_them(self):
        element = elements("")[1][0]
        for name, text, halo in (("region-hold", "preset=sharpen region-hold=40", Halo(1, 0, 40)),
                                 ("scene-threshold", "preset=temporal-mean scene-threshold=0.1", Halo(3, 2, 0))):
            with self.subTest(name):
                if element.find_property(name) is None:
                    self.skipTest(f"this version of the element has no {name}")
                self.assertEqual(halo_of(text), halo)


class KeyFrames(unittest.TestCase):
    def test_h264(self):
        for units, key in ((b"\0\0\1\x67sps\0\0\1\x65idr", True), (b"\0\0\1\x09\x10\0\0\1\x41slice", False),
                           (b"\0\0\1\x06\x06\x01\x84\x80\0\0\1\x41intra", True),     # recovery point of 0 frames
                           (b"\0\0\1\x06\x06\x01\x40\x80\0\0\1\x41intra", False),    # of one frame: a gradual refresh
                           (b"\0\0\1\x06\x05\x02\xff\xff\x06\x01\x84\x80\0\0\1\x41intra", True)):
            self.assertEqual(Coding("video/x-h264", "byte-stream", None).is_random_access(units), key, units)
        avc = Coding("video/x-h264", "avc", b"\1\x64\0\x1f\xff")
        self.assertTrue(avc.is_random_access(b"\0\0\0\2\x09\x10\0\0\0\4\x65idr"))
        self.assertFalse(avc.is_random_access(b"\0\0\0\2\x09\x10\0\0\0\4\x41abc"))

    def test_hevc(self):
        hevc = Coding("video/x-h265", "byte-stream", None)
        for kind, key in ((1, False), (19, True), (21, True), (9, False)):
            self.assertEqual(hevc.is_random_access(b"\0\0\1" + bytes([kind << 1, 1]) + b"slice"), key, kind)

    def test_other_formats_keep_their_flag(self):
        self.assertTrue(Coding("video/x-vp9", None, None).is_random_access(b"anything"))


class ByTheIndex(ArchiveTest):
    def test_the_index_leads_to_the_packets_that_reading_from_the_start_finds(self):
        for name in ("open-gop.mp4", "variable.mkv"):
            with self.subTest(name):
                source = clip(name, self.folder)
                folder = self.folder / f"{name}-job"
                job("plan", source, "--filter", FILTER, "--seconds", 1, "-o", folder)
                planned = load(folder)
                last = planned.segments[-1]
                self.assertGreater(last.range.first_packet, 100)
                for by_index in (True, False):
                    found = list(worker.segment_packets(planned.inputs[0], last, by_index))
                    self.assertEqual(len(found), last.range.packets)


class DecodingTimes(unittest.TestCase):
    def test_they_rise_and_no_packet_is_late(self):
        pts = [t for group in range(3) for t in (group * 40 + 5 * n for n in (0, 6, 1, 3))]
        found = decoding_times(pts)
        self.assertEqual(found, sorted(set(found)))
        self.assertTrue(all(d <= p for d, p in zip(found, pts)))
        self.assertTrue(any(d == p for d, p in zip(found, pts)))


class LocalEngine(unittest.TestCase):
    """Which GPU each worker sees. The workers are stand-ins that write down what they were given."""

    def devices_of(self, visible, count, **how):
        """CUDA_VISIBLE_DEVICES of `count` segments that are all at work at once."""
        with tempfile.TemporaryDirectory() as folder:
            seen, ended = pathlib.Path(folder) / "seen", []
            # Each waits until all have begun, so that no worker does two of them.
            stand_in = pathlib.Path(folder) / "python"
            stand_in.write_text(f"#!/bin/sh\necho \"${{CUDA_VISIBLE_DEVICES-none}}\" >>{seen}\n"
                                f"n=0; while [ \"$(wc -l <{seen})\" -lt {count} ] && [ $n -lt 200 ]; do sleep 0.05; n=$((n + 1)); done\n")
            stand_in.chmod(0o755)
            with mock.patch.object(engine_local.sys, "executable", str(stand_in)), mock.patch.dict(os.environ):
                os.environ.pop("CUDA_VISIBLE_DEVICES", None)
                if visible is not None:
                    os.environ["CUDA_VISIBLE_DEVICES"] = visible
                engine_local.run_local(pathlib.Path(folder), range(count), how.get("workers"), how.get("per_gpu"), 0, False,
                                       lambda number, reason: ended.append((number, reason)))
            self.assertEqual(sorted(ended), [(n, None) for n in range(count)])
            return sorted(seen.read_text().split())

    def test_workers_are_spread_over_the_visible_gpus(self):
        self.assertEqual(self.devices_of("4,7", 5, workers=5), ["4", "4", "4", "7", "7"])

    def test_each_gpu_gets_as_many_workers_as_may_share_it(self):
        self.assertEqual(self.devices_of("0,1", 6, per_gpu=3), ["0"] * 3 + ["1"] * 3)

    def test_fewer_than_no_retries_are_refused(self):
        done = job("run", "nowhere", "--retries", "-1", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("-1: give 0 or more", done.stderr)

    def test_without_a_visible_gpu_the_variable_is_left_alone(self):
        self.assertEqual(self.devices_of("-1", 2, workers=2), ["-1", "-1"])


class ChangingPicture(ArchiveTest):
    def test_what_changes_before_the_segments_first_frame_is_no_fault(self):
        def negotiated(mode):
            caps = Gst.Caps.from_string(f"video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1,interlace-mode={mode}")
            recorder.negotiated(None, mock.Mock(**{"get_event.return_value": Gst.Event.new_caps(caps)}))

        recorder = worker._Recorder(mock.Mock(), "a.ts")
        negotiated("interleaved")
        negotiated("progressive")
        self.assertIsNone(recorder.fault)
        self.assertIn("progressive", recorder.caps)
        frame = Gst.Buffer.new_wrapped(bytes(16))
        frame.pts = 3 * Gst.SECOND
        recorder.encoding(None, mock.Mock(**{"get_buffer.return_value": frame}))
        negotiated("interleaved")
        self.assertRegex(str(recorder.fault), r"a\.ts: its video changes from .*progressive.* to .*interleaved.* after 3\.0* s")

    def test_a_worker_tells_what_the_parser_did_not(self):
        changing = self.folder / "changing.ts"
        with changing.open("wb") as file:
            for size in ("160x90", "192x108"):
                piece = self.folder / f"{size}.ts"
                run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25:d=2", "-c:v", "mpeg2video", "-g", "12", "-f", "mpegts", piece)
                file.write(piece.read_bytes())
        with mock.patch.object(plan, "picture", lambda caps: ()):
            plan.plan([changing], self.job, FILTER, 100)
        with self.assertRaisesRegex(InputError, r"changing\.ts: its picture changes from 160x90 \w+ to 192x108 \w+ after \d+\.\d+ s; split the file there"):
            worker.run_segment(self.job, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)

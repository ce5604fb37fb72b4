#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""scripts_test.py BENCH: the scripts work on a fresh run and on every committed result file."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import asked
import choose
import collect
import compare
import pages
import results

HERE = pathlib.Path(__file__).resolve().parent
COMMITTED = sorted(HERE.glob("results/*.json"))
CHOICE = HERE / "../../kernels/cuda/choice.hpp"
BENCH = sys.argv.pop(1)


def script(name, *arguments):
    return subprocess.run([sys.executable, HERE / name, *arguments], check=True, capture_output=True, text=True).stdout


def drawn(plot, where, *files):
    """The picture's text; skips the test where matplotlib is absent."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise unittest.SkipTest("matplotlib is not installed")
    script("plot.py", plot, "-o", where, *files)
    return pathlib.Path(where).read_text(encoding="utf-8")


# Sides by taps: of one frame, of five, 31x31, of the taps that factor from 63x63 to 255x255; and two banks.
CASES = 6 * 6 + 3 * 4 + 6 + 3 * 3 + 2


class FreshRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        raw, cls.result = f"{cls.folder.name}/raw.json", f"{cls.folder.name}/result.json"
        subprocess.run([BENCH, "--quick", "--backend=cpu", "--benchmark_filter=cpu./auto/GRAY8/", f"--benchmark_out={raw}"],
                       check=True, capture_output=True)
        script("collect.py", "-o", cls.result, "-c", "hardware=test", raw)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_rows_keep_their_names_and_figures(self):
        context, rows = results.load([self.result])
        self.assertEqual(context["hardware"], "test")
        self.assertEqual(context["frame"], "128x72")
        self.assertEqual(len(rows), 2 * CASES)  # one thread and all
        for kernel, row in results.kernels(rows):
            self.assertGreater(row["us"], 0, vars(kernel))
            self.assertGreater(row["times_copy"], 0, vars(kernel))

    def test_the_table_has_a_line_a_case(self):
        text = pathlib.Path(self.result).with_suffix(".md").read_text(encoding="utf-8")
        self.assertEqual(text.count("| GRAY8 |"), CASES)

    def test_plot(self):
        self.assertIn("<svg", drawn("cpu", f"{self.folder.name}/cpu.svg", self.result))


class Choose(unittest.TestCase):
    @staticmethod
    def case(side, rank=7, depth=1):
        return choose.Case(rank=rank, depth=depth, components=1, type=0, accumulator=0, side=side)

    def rows(self, cases):
        cases = {(case, frozenset(times)): times for case, times in cases.items()}
        rows = choose.simplified(choose.first_rows(cases), cases)
        self.assertTrue(choose.good(rows, cases))
        return rows

    def test_each_table_is_near_the_fastest_of_the_newest_run_on_its_capability(self):
        text = CHOICE.read_text(encoding="utf-8")
        newest, some = {}, {}  # COMMITTED is in the order of dates
        for path in COMMITTED:
            context, rows = results.load([path])
            capability = int(context.get("compute_capability", "0").replace(".", ""))
            if len(cases := choose.measured(rows)) > 200:
                newest[capability] = context, rows
            elif cases:
                some[capability] = rows  # a run of some cases: the newest counts for those
        for capability, (context, rows) in newest.items():
            newest[capability] = context, choose.measured(choose.with_later(rows, some.get(capability, {})))
        # What `describe_choice` calls measured has a run, and a run of all algorithms has its table.
        self.assertEqual(choose.tables(text).keys(), newest.keys())
        for capability, name in choose.tables(text).items():
            table = choose.parsed(text, name)
            self.assertEqual([str(row) for row in choose.parsed("std::array choices{" + "\n".join(map(str, table)))],
                             [str(row) for row in table])
            context, cases = newest[capability]
            self.assertEqual(choose.check(text, context, cases), [])

    def check(self, context, times):
        case = {"rank": 1, "depth": 1, "components": 1, "type": 0, "accumulator": 0, "side": 3}
        with tempfile.TemporaryDirectory() as folder:
            results.save(f"{folder}/run.json", context,
                         {f"cuda/{algorithm}/GRAY8/3x3/integer": {"us": us, **case} for algorithm, us in times.items()})
            return subprocess.run([sys.executable, HERE / "choose.py", "--check", CHOICE, f"{folder}/run.json"],
                                  capture_output=True, text=True)

    def test_check_names_a_slow_choice(self):
        run = self.check({"compute_capability": "9.0"}, {"matrix": 3, "tiled": 2})
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("matrix, 1.50 times the fastest\n1 cases, 1 slow choices", run.stdout)
        self.assertEqual(self.check({"compute_capability": "9.0"}, {"matrix": 2, "tiled": 3}).returncode, 0)

    def test_a_row_for_a_kernel_is_met_by_a_case_whose_label_names_it(self):
        case = {"rank": 1, "depth": 1, "components": 4, "type": 0, "accumulator": 1, "side": 9}
        for kernel, label, chosen in (("tensor_cores", "tensor cores, half precision", "separable"), ("tensor_cores", "shared memory", "matrix"),
                                      ("stream_of_rows", "stream of rows in half precision, 17 rows a warp", "separable"),
                                      ("stream_of_rows", "tensor cores, half precision", "matrix")):
            rows = choose.parsed(f"std::array choices{{\n    ChoiceRow{{.algorithm = Algorithm::separable, .{kernel} = true}},\n"
                                 "    ChoiceRow{.algorithm = Algorithm::matrix},\n};")
            label = f"separable 9x9, {label}"
            cases = choose.measured({"cuda/separable/YUY2/9x9/separable-real": {"us": 1 if chosen == "matrix" else 2, "label": label, **case},
                                     "cuda/matrix/YUY2/9x9/separable-real": {"us": 1 if chosen == "separable" else 2, **case}})
            self.assertEqual([slow for _, slow, _ in choose.slow_choices(rows, cases)], [chosen])

    def test_check_of_what_says_nothing_is_no_success(self):
        for context, times, message in (
            ({"compute_capability": "9.0"}, {"auto": 2}, "nothing to check"),
            ({"compute_capability": "8.6"}, {"matrix": 2, "tiled": 3}, "8.6 has no table in choice_tables"),
            ({}, {"matrix": 2, "tiled": 3}, "unknown has no table in choice_tables"),
        ):
            run = self.check(context, times)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(message, run.stderr)

    def test_the_rows_of_one_table_are_not_those_of_the_next(self):
        text = "std::array first{\n    ChoiceRow{.algorithm = Algorithm::basic},\n};\nstd::array second{\n    " \
               "ChoiceRow{.algorithm = Algorithm::tiled},\n};\nChoiceTable{80, first},\nChoiceTable{90, second},"
        self.assertEqual(choose.tables(text), {80: "first", 90: "second"})
        self.assertEqual(choose.parsed(text, "first"), [choose.Row("basic")])
        self.assertEqual(choose.parsed(text, "second"), [choose.Row("tiled")])

    def test_one_winner_is_one_row(self):
        rows = self.rows({self.case(3): {"matrix": 1, "tiled": 2}, self.case(7): {"matrix": 1, "tiled": 3}})
        self.assertEqual(rows, [choose.Row("matrix")])

    def test_layouts_of_one_case_that_other_algorithms_serve_each_get_their_own(self):
        case = self.case(3)._replace(components=3)
        rgb = {"register": 125, "separable": 445, "cached-halo": 736}
        yuy2 = {"separable": 298, "cached-halo": 859}
        cases = choose.measured({
            f"cuda/{algorithm}/{layout}/3x3x5/real": {"us": us, **case._asdict()}
            for layout, times in (("RGB", rgb), ("YUY2", yuy2)) for algorithm, us in times.items()
        })
        rows = choose.simplified(choose.first_rows(cases), cases)
        self.assertTrue(choose.good(rows, cases))
        self.assertEqual([row.algorithm for row in rows], ["register", "separable"])

    def test_sides_and_rank_part_the_winners(self):
        cases = {
            self.case(3): {"register": 1, "matrix": 2},
            self.case(7): {"register": 4, "matrix": 2},
            self.case(7, rank=1): {"register": 4, "matrix": 2, "separable": 1},
        }
        chosen = [next(row for row in self.rows(cases) if row.algorithm in times and row.matches(case)).algorithm
                  for case, times in cases.items()]
        self.assertEqual(chosen, ["register", "matrix", "separable"])

    def test_one_frame_and_several_are_apart(self):
        rows = self.rows({self.case(15): {"separable": 1, "tiled": 2}, self.case(3, depth=5): {"tiled": 1}})
        unmeasured = self.case(15, depth=5)
        self.assertEqual([row.algorithm for row in rows if row.matches(unmeasured)], ["tiled"])

    def test_a_near_tie_adds_no_row(self):
        rows = self.rows({self.case(3): {"matrix": 1.02, "tiled": 1}, self.case(7): {"matrix": 1, "tiled": 3}})
        self.assertEqual(len(rows), 1)


class Compare(unittest.TestCase):
    @staticmethod
    def compare(folder, old, new, *more):
        paths = []
        for name, times in ("old", old), ("new", new):
            paths.append(f"{folder}/{name}.json")
            results.save(paths[-1], {"gpu": name}, {row: {"us": us} for row, us in times.items()})
        return subprocess.run([sys.executable, HERE / "compare.py", *paths, *more], capture_output=True, text=True)

    def test_rows_past_the_limit_are_printed_the_worst_first(self):
        with tempfile.TemporaryDirectory() as folder:
            run = self.compare(folder, {"a": 100, "b": 100, "c": 100, "gone": 1}, {"a": 102.9, "b": 103.2, "c": 150, "come": 9})
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stdout.splitlines(), [
            "gpu differs: old and new", "c: 100 us, now 150 (+50.0 %)", "b: 100 us, now 103.2 (+3.2 %)",
            "2 of 3 rows are slower by more than 3 %; 1 rows of the old file and 1 of the new one were not compared"])

    def test_no_slower_row_is_success_and_no_row_at_all_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.compare(folder, {"a": 100}, {"a": 104}, "--limit=5").returncode, 0)
            self.assertEqual(self.compare(folder, {"a": 100}, {"b": 100}).returncode, 2)

    def test_a_committed_file_is_as_fast_as_itself(self):
        for path in COMMITTED:
            rows = results.load([path])[1]
            self.assertEqual(compare.slower(rows, rows, 0), [])
            self.assertGreater(len(compare.both(rows, rows)), 0, path.name)


class Asked(unittest.TestCase):
    GPU = {"cuda/auto/GRAY8/15x15/separable-real": {"us": 7.0, "times_copy": 1.2},
           "cuda/auto/RGB/5x5/real": {"us": 30.0, "times_copy": 1.5},
           "npp/FilterGauss/GRAY8/15x15/separable-real": {"us": 200.0, "times_copy": 30.0},
           "cvcuda/averageblur/GRAY8/15x15/box": {"us": 1.0, "times_copy": 0.1},
           "cvcuda/conv2d/RGB/5x5/real": {"us": 29.0, "times_copy": 1.4},
           "regions-cuda/blur/NV12/10%-1": {"us": 3.0, "times_copy": 0.26, "enqueue_us": 9},
           "changes/cuda-memory/NV12/1080p/3x3": {"change_us": 31, "plain_thread_cpu_us": 7, "p50_us": 20},
           "changes/cuda-system/RGBA/4K/3x3": {"change_us": 552, "plain_thread_cpu_us": 791, "p50_us": 1341},
           "changes/cpu1/NV12/1080p/3x3": {"change_us": 208, "plain_thread_cpu_us": 1361, "p50_us": 1563}}
    CPU = {"cpu1/auto/GRAY8/3x3/integer": {"us": 100, "times_copy": 1, "TMACps": 1, "vs_filter2D": 3.5, "label": "direct, avx2, x"},
           "cpu1/auto/GRAY8/3x3/sobel-magnitude": {"us": 100, "times_copy": 1, "TMACps": 1, "vs_Sobel_magnitude": 2.9, "label": "bank, vnni, x"},
           "ffmpeg/sobel/GRAY8/3x3/sobel-magnitude": {"us": 310},
           "vapoursynth/Convolution/GRAY8/3x3/integer": {"us": 160, "ours_us": 100, "label": "beside direct, avx2, x"},
           "vapoursynth/Convolution/GRAY8/5x5/integer": {"us": 160, "ours_us": 100, "label": "beside direct, vnni, x"}}

    def test_a_row_misses_its_limit_and_falls_behind_a_peer(self):
        missed = [(name, limit) for name, _, limit, met in asked.cuda_lines(self.GPU) if not met]
        self.assertEqual(missed, [
            ("RGB 5x5 real", "1.4 at most"), ("RGB 5x5 real", "ahead of cvcuda conv2d: 29.0"),
            ("regions-cuda/blur/NV12/10%-1", "0.25 at most"), ("changes/cuda-memory/NV12/1080p/3x3", "30 at most")])

    def test_a_change_of_frames_in_system_memory_is_told_and_not_asked(self):
        lines = list(asked.not_asked(self.GPU))
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith("changes/cuda-system/RGBA/4K/3x3: 552 us; nothing is asked"), lines[0])
        self.assertIn("791 us without a change", lines[0])

    def test_the_cpu_is_asked_by_its_instructions(self):
        lines = {(name, figure.split()[0]): met for name, figure, _, met in asked.cpu_lines(self.CPU)}
        self.assertEqual(lines, {
            ("GRAY8 3x3 integer", "vs_filter2D"): True,  # 5 where there is more than AVX2
            ("GRAY8 3x3 sobel-magnitude", "vs_Sobel_magnitude"): False,
            ("GRAY8 3x3 sobel-magnitude", "vs_FFmpeg_sobel"): True,
            ("GRAY8 3x3 integer", "vs_VapourSynth"): True,
            ("GRAY8 5x5 integer", "vs_VapourSynth"): False})

    def test_the_script_names_what_misses(self):
        with tempfile.TemporaryDirectory() as folder:
            results.save(f"{folder}/run.json", {}, self.GPU | self.CPU)
            run = subprocess.run([sys.executable, HERE / "asked.py", f"{folder}/run.json"], capture_output=True, text=True)
            script("collect.py", "-o", f"{folder}/run.json", f"{folder}/run.json")
            table = pathlib.Path(folder, "run.md").read_text(encoding="utf-8")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("RGB 5x5 real: 1.50 copies; 1.4 at most\n", run.stdout)
        self.assertIn("6 of 12 are met\n", run.stdout)
        self.assertIn("| x VapourSynth |", table)
        self.assertIn("| 1.60 |", table)
        self.assertIn("| cuda-memory/NV12/1080p/3x3 | 31 | 30 | 7 |", table)


class Pages(unittest.TestCase):
    def test_the_pages_have_what_their_result_files_give(self):
        self.assertEqual(list(pages.wrong()), [])

    def test_another_figure_is_found(self):
        text = (pages.ROOT / "README.md").read_text(encoding="utf-8")
        (whole, name, result), = pages.blocks(text)
        self.assertEqual(whole, pages.block("README.md", name, result))
        run = pages.Run(result)
        run.rows["cuda/auto/GRAY8/5x5/real"]["times_copy"] += 1
        self.assertNotIn("\n".join(pages.readme(run)), whole)

    def test_the_fastest_peer_of_the_same_class_stands_beside_ours(self):
        run = pages.Run.__new__(pages.Run)
        run.rows = Asked.GPU
        run.peers = asked.cuda_peers(run.rows)
        self.assertEqual(run.cell("GRAY8", "15x15", "separable-real"), "1.20 (NPP 30)")  # the faster box is none
        self.assertEqual(run.cell("RGB", "5x5", "real"), "1.50 (CV-CUDA 1.40)")


class Committed(unittest.TestCase):
    def test_every_file_makes_its_table_again(self):
        for path in COMMITTED:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                script("collect.py", "-o", f"{folder}/{path.name}", str(path))
                self.assertEqual(pathlib.Path(folder, path.name).with_suffix(".md").read_text(encoding="utf-8"),
                                 path.with_suffix(".md").read_text(encoding="utf-8"))

    def test_files_with_cuda_rows_choose_and_plot(self):
        for path in COMMITTED:
            _, rows = results.load([path])
            if not any(kernel.runner == "cuda" for kernel, _ in results.kernels(rows)):
                continue
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                # Some runs are of `auto` alone, which leaves nothing to choose from.
                if any(kernel.runner == "cuda" and kernel.algorithm != "auto" for kernel, _ in results.kernels(rows)):
                    self.assertIn("ChoiceRow{.algorithm", script("choose.py", str(path)))
                for plot in ("times", "roofline"):
                    self.assertIn("<svg", drawn(plot, f"{folder}/{plot}.svg", str(path)))


if __name__ == "__main__":
    assert collect.main  # every script imports
    unittest.main(verbosity=2)

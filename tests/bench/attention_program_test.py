"""Test of the program behind tools/bench attention, at short lengths."""

import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = "tests/bench/attention"
UPDATE = "tests/bench/update"
FIGURES = ("attention_ratio", "attention_memory")


def run(*arguments, program=PROGRAM):
    environment = dict(os.environ, OMP_NUM_THREADS="1",
                       OMP_WAIT_POLICY="passive")
    return subprocess.run([program, *arguments], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)


class QuickRunTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"])
        cls.json = os.path.join(cls.folder.name, "json")
        cls.plots = os.path.join(cls.folder.name, "new", "plots")
        cls.ran = run("--quick", "--device", "cpu", "--lengths", "24,65",
                      "--encodings", "t5,rope", "--json", cls.json,
                      "--plots", cls.plots)
        if cls.ran.returncode != 0:
            raise AssertionError(cls.ran.stderr)
        with open(cls.json) as lines:
            cls.figures = [json.loads(line) for line in lines]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def values(self, metric):
        """{(encoding, kernel, type, N): figure} of the standard shape."""
        return {(p["encoding"], p["kernel"], p["type"], p["N"]): figure
                for figure in self.figures for p in [figure["params"]]
                if figure["metric"] == metric and p["B"] == "2"}

    def test_lines_have_the_fields_of_all_benchmarks(self):
        for figure in self.figures:
            self.assertEqual(figure["benchmark"], "attention")
            self.assertLessEqual({"metric", "unit", "params"}, set(figure))
            self.assertGreater(figure["min"], 0, figure)
            self.assertLessEqual(figure["min"], figure["value"], figure)
            self.assertLessEqual(figure["value"], figure["max"], figure)
            self.assertEqual(figure["params"]["quick"], "true")
            self.assertEqual(figure["params"]["device"], "cpu")

    def test_one_row_of_each_class_has_its_ratios(self):
        for metric in ("fwd_ratio", "fwd_bwd_ratio"):
            found = sorted((e, t, n) for e, _, t, n in self.values(metric))
            self.assertEqual(found, sorted(
                (e, t, n) for e in ("rope", "t5") for t in ("fp32", "bf16")
                for n in ("24", "65")))

    def test_ratios_are_between_those_of_the_extreme_times(self):
        times = self.values("fwd_bwd_seconds")
        ratios = {**self.values("fwd_bwd_ratio"),
                  **self.values("row_fwd_bwd_ratio")}
        self.assertEqual(len(ratios) + 8, len(times))
        for (encoding, kernel, kind, n), ratio in ratios.items():
            own = times[encoding, kernel, kind, n]
            flash = times[encoding, "libtorch_flash", kind, n]
            self.assertEqual(ratio["reference"], "libtorch_flash")
            self.assertGreaterEqual(ratio["min"] * 1.001,
                                    own["min"] / flash["max"])
            self.assertLessEqual(ratio["max"],
                                 own["max"] / flash["min"] * 1.001)

    def test_lines_of_the_table_fit_a_terminal(self):
        for line in self.ran.stdout.splitlines():
            self.assertLessEqual(len(line), 120, line)

    def test_the_table_names_every_kernel(self):
        for _, kernel, _, _ in self.values("fwd_bwd_seconds"):
            self.assertIn(kernel, self.ran.stdout)
        self.assertIn("peak memory, MiB", self.ran.stdout)

    def test_figures_are_drawn(self):
        for name in FIGURES:
            path = os.path.join(self.plots, name)
            svg = xml.etree.ElementTree.parse(path + ".svg").getroot()
            self.assertGreater(len(list(svg.iter())), 50, name)
            with open(path + ".png", "rb") as png:
                data = png.read()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(len(data), 10000, name)


class UpdateTest(unittest.TestCase):

    def test_kernels_stand_beside_plain_operations(self):
        path = os.path.join(os.environ["TEST_TMPDIR"], "update.json")
        plots = os.path.join(os.environ["TEST_TMPDIR"], "update")
        ran = run("--quick", "--json", path, "--plots", plots, program=UPDATE)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with open(path) as lines:
            figures = [json.loads(line) for line in lines]
        kernels = {figure["params"]["kernel"] for figure in figures
                   if figure["metric"] == "fwd_bwd_ratio"}
        self.assertNotIn("libtorch_plain", kernels)
        self.assertEqual(len(kernels), 1)
        for kernel in kernels:
            self.assertIn(kernel, ran.stdout)
        for name in ("update_ratio", "update_bytes"):
            svg = xml.etree.ElementTree.parse(
                os.path.join(plots, name + ".svg")).getroot()
            self.assertGreater(len(list(svg.iter())), 50, name)
            with open(os.path.join(plots, name + ".png"), "rb") as png:
                self.assertEqual(png.read(8), b"\x89PNG\r\n\x1a\n")


class ArgumentsTest(unittest.TestCase):

    def assert_refused(self, arguments, message, program=PROGRAM):
        ran = run(*arguments, program=program)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertIn(message, ran.stderr)

    def test_mistakes_are_named(self):
        self.assert_refused(["--encodings", "rop"],
                            "--encodings: 'rop' is not one of rope, ")
        self.assert_refused(["--lengths", "12,x"],
                            "--lengths: 'x' is not a number in 1..65536")
        self.assert_refused(["--types", "fp32,fp61"],
                            "--types: 'fp61' is not one of fp32, bf16, fp16")
        for program in (PROGRAM, UPDATE):
            self.assert_refused(["--device", "tpu"], "--device must be cpu, ",
                                program=program)
        self.assert_refused(["--jsn", "x"], "unknown flag '--jsn'",
                            program=UPDATE)
        self.assert_refused(["--jsn", "x"], "unknown flag '--jsn'")

    def test_what_cannot_be_written_is_refused_before_it_measures(self):
        for program in (PROGRAM, UPDATE):
            for flag in ("--json", "--plots"):
                ran = run("--quick", flag, "/proc/none/figures",
                          program=program)
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn(flag + ": ", ran.stderr)
                self.assertEqual(ran.stdout, "")

    def test_help_names_each_flag(self):
        for program, flags in (
                (PROGRAM, ("--device NAME", "--encodings A,B", "--lengths N,N",
                           "--types A,B", "--json FILE", "--plots DIR",
                           "--quick", "--list", "--help")),
                (UPDATE, ("--device NAME", "--json FILE", "--plots DIR",
                          "--quick", "--help"))):
            ran = run("--help", program=program)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            for flag in flags:
                self.assertIn("\n  " + flag + " ", ran.stdout)

    def test_types_without_a_kernel_are_an_error(self):
        ran = run("--quick", "--types", "fp16", "--encodings", "rope")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("no kernel does this in fp16; ", ran.stderr)

    def test_classes_are_listed(self):
        ran = run("--list")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("rope ", ran.stdout)


if __name__ == "__main__":
    unittest.main()

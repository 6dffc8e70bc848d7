"""The golden files are what the generator makes."""

import os
import tempfile
import unittest

from tools.golden import logits

GOLDEN = "tests/golden"


def read(path):
    with open(path, "rb") as file:
        return file.read()


class LogitsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        logits.write(self.folder)

    def test_configurations_and_weights_are_the_same_bytes(self):
        for name in logits.MODELS:
            for file in ("config.json", "model.safetensors"):
                path = os.path.join(name, file)
                self.assertEqual(read(os.path.join(self.folder, path)),
                                 read(os.path.join(GOLDEN, path)), path)

    def test_cases_are_the_same_up_to_rounding(self):
        for name in logits.MODELS:
            path = os.path.join(name, "cases.safetensors")
            made = logits.read_safetensors(os.path.join(self.folder, path))
            kept = logits.read_safetensors(os.path.join(GOLDEN, path))
            self.assertEqual(made.keys(), kept.keys())
            for key, (dtype, shape, values) in made.items():
                self.assertEqual((dtype, shape), kept[key][:2])
                for a, b in zip(values, kept[key][2]):
                    self.assertAlmostEqual(a, b, 10, name + " " + key)

    def test_logits_differ_between_the_cases(self):
        # So that none of them proves nothing; position ids mean nothing to
        # "none".
        for name in logits.MODELS:
            tensors = logits.read_safetensors(
                os.path.join(self.folder, name, "cases.safetensors"))
            plain = tensors["logits.plain"][2]
            for case in ("masked", "placed"):
                worst = max(abs(a - b) for a, b in zip(
                    plain, tensors["logits." + case][2]) if b != 0.0)
                if name == "none" and case == "placed":
                    self.assertEqual(worst, 0.0)
                else:
                    self.assertGreater(worst, 1e-2, name + " " + case)


if __name__ == "__main__":
    unittest.main()

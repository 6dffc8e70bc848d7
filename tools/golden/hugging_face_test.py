"""The golden files are what the generator makes."""

import filecmp
import os
import tempfile
import unittest

from tools.golden import hugging_face
from tools.golden import logits

GOLDEN = "tests/golden"


class HuggingFaceTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        hugging_face.write(self.folder)

    def test_configurations_and_weights_are_the_same_bytes(self):
        for name in hugging_face.MODELS:
            made = os.path.join(self.folder, name)
            for file in sorted(os.listdir(made)):
                if file != "cases.safetensors":
                    self.assertTrue(
                        filecmp.cmp(os.path.join(made, file),
                                    os.path.join(GOLDEN, name, file),
                                    shallow=False), name + "/" + file)

    def test_cases_are_the_same_up_to_rounding(self):
        for name in hugging_face.MODELS:
            path = os.path.join(name, "cases.safetensors")
            made = logits.read_safetensors(os.path.join(self.folder, path))
            kept = logits.read_safetensors(os.path.join(GOLDEN, path))
            self.assertEqual(made.keys(), kept.keys())
            for key, (dtype, shape, values) in made.items():
                self.assertEqual((dtype, shape), kept[key][:2])
                for a, b in zip(values, kept[key][2]):
                    self.assertAlmostEqual(a, b, 10, name + " " + key)

    def test_scalings_differ_from_plain_rope(self):
        plain = hugging_face.MODELS["hf_llama"]
        for name, config in hugging_face.MODELS.items():
            if "rope_scaling" not in config and "rope_parameters" not in config:
                continue
            made, factor = hugging_face.frequencies(config, 4)
            usual, _ = hugging_face.frequencies(plain, 4)
            self.assertGreater(
                max(abs(a * factor - b) for a, b in zip(made, usual)), 1e-3,
                name)


if __name__ == "__main__":
    unittest.main()

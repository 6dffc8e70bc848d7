import glob
import subprocess
import unittest

from tests.docs import examples


class ExamplesTest(unittest.TestCase):

    def test_sizes_are_made_small(self):
        self.assertEqual(
            examples.small(
                "model: {layers: 12, width: 768, heads: 12}\n"
                "training: {steps: 1000, batch_size: 64}\n"
                "checkpoint: {every_steps: 200}\n"
                "params: {max_digits: 40, samples: 100, length: 512}\n"
                "seeds: [1, 2, 3]\nresources: {threads: 2}\n"),
            "model: {layers: 1, width: 16, heads: 2}\n"
            "training: {steps: 20, batch_size: 4}\n"
            "checkpoint: {every_steps: 10}\n"
            "params: {max_digits: 2, samples: 2, length: 32}\n"
            "seeds: [1]\nresources: {threads: 1}\n")

    def test_lengths_of_other_things_stay(self):
        self.assertEqual(examples.small("{max_length: 20, from_steps: 7}"),
                         "{max_length: 20, from_steps: 7}")

    def test_small_examples_are_jobs_still(self):
        paths = glob.glob("examples/*.yaml")
        self.assertTrue(paths)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = examples.small(file.read())
            done = subprocess.run(
                ["./ordo", "submit", "--dry-run", "-"], input=text, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            self.assertEqual(done.returncode, 0, path + "\n" + done.stdout)


if __name__ == "__main__":
    unittest.main()

"""Golden files from code that the tests cannot run say where they are from."""

import glob
import json
import os
import unittest

from tools.golden import formulas
from tools.golden import hugging_face
from tools.golden import hugging_face_logits
from tools.golden import logits
from tools.golden import published
from tools.golden import tape_release

GOLDEN = "tests/golden"


def read(*names):
    with open(os.path.join(GOLDEN, *names), encoding="utf-8") as file:
        return file.read()


class PublishedTest(unittest.TestCase):

    def test_hugging_faces_own_logits_are_those_of_the_formulas(self):
        for name in hugging_face.MODELS:
            made = {file: logits.read_safetensors(
                os.path.join(GOLDEN, name, file))
                    for file in ("cases.safetensors",
                                 hugging_face_logits.PUBLISHED)}
            cases, published = made.values()
            self.assertEqual(cases["tokens"], published["tokens"], name)
            for a, b in zip(cases["logits"][2], published["logits"][2]):
                self.assertAlmostEqual(a, b, delta=1e-5, msg=name)
            self.assertRegex(read(name, "made_with.txt"),
                             r"^published.safetensors: transformers [\d.]+, "
                             r"torch [\d.]+\n$")

    def test_tape_releases_files_are_those_of_the_script(self):
        self.assertEqual(
            {os.path.basename(path)
             for path in glob.glob(os.path.join(GOLDEN, "vita_*"))},
            {"vita_" + name for name in tape_release.MODELS})
        for name, model in tape_release.MODELS.items():
            folder = "vita_" + name
            self.assertEqual(json.loads(read(folder, "encoding.json")),
                             model.encoding)
            config = json.loads(read(folder, "config.json"))
            self.assertEqual(config["rpe_type"], model.module)
            self.assertRegex(read(folder, "made_with.txt"),
                             r"^VITA-Group/TAPE [0-9a-f]{40}, "
                             r"transformers [\d.]+, torch [\d.]+\n$")

    def test_formulas_are_those_of_the_script(self):
        kept = json.loads(read("encodings", "formulas.json"))["cases"]
        made = formulas.all_cases()
        self.assertEqual(len(kept), len(made))
        for a, b in zip(kept, made):
            self.assert_same(a, b, a["encoding"]["name"])

    def assert_same(self, a, b, where):
        """Up to rounding."""
        if isinstance(a, float):
            self.assertAlmostEqual(a, b, delta=1e-12, msg=where)
        elif isinstance(a, (dict, list)):
            self.assertEqual(len(a), len(b), where)
            for key in (a if isinstance(a, dict) else range(len(a))):
                self.assert_same(a[key], b[key], where)
        else:
            self.assertEqual(a, b, where)

    def test_published_cases_name_code_and_version(self):
        sources = set()
        for case in json.loads(read("encodings", "published.json"))["cases"]:
            self.assertRegex(case["made_with"],
                             r"^[\w-]+ \w+ ([\d.]+|[0-9a-f]{40})$")
            sources.add(case["made_with"].split()[0])
        self.assertEqual(sources, set(published.SOURCES) | set(
            published.PACKAGES))


if __name__ == "__main__":
    unittest.main()

"""The golden frequencies are those of the generator's cases."""

import json
import unittest

from tools.golden import rope_scaling

GOLDEN = "tests/golden/rope_scaling/cases.json"


class RopeScalingTest(unittest.TestCase):

    def setUp(self):
        with open(GOLDEN) as file:
            self.golden = json.load(file)

    def test_the_file_has_the_generators_cases(self):
        self.assertEqual(
            [(case.name, case.params, case.head_width, case.length)
             for case in rope_scaling.cases()],
            [(case["encoding"]["name"], case["encoding"]["params"],
              case["head_width"], case["length"])
             for case in self.golden["cases"]])

    def test_the_file_says_what_made_it(self):
        self.assertRegex(self.golden["made_with"],
                         r"^transformers [0-9.]+, torch [0-9]")


if __name__ == "__main__":
    unittest.main()

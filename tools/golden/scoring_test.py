"""The golden scores are those of the generator's cases."""

import json
import unittest

from tools.golden import scoring

GOLDEN = "tests/golden/scoring/cases.json"


class ScoringTest(unittest.TestCase):

    def setUp(self):
        with open(GOLDEN) as file:
            self.golden = json.load(file)

    def test_the_file_has_the_generators_cases(self):
        self.assertEqual(
            scoring.cases(),
            [(case["prediction"], case["references"])
             for case in self.golden["cases"]])

    def test_matches_are_made_again(self):
        for case in self.golden["cases"]:
            answer = (case["prediction"], case["references"])
            self.assertEqual(scoring.exact_match(*answer),
                             case["scores"]["exact_match"])
            self.assertEqual(scoring.f1(*answer), case["scores"]["f1"])

    def test_the_file_says_what_made_it(self):
        self.assertRegex(self.golden["made_with"],
                         r"^rouge_score [0-9.]+, Python 3")


if __name__ == "__main__":
    unittest.main()

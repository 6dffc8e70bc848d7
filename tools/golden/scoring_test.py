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

    def test_the_file_has_the_generators_questions(self):
        self.assertEqual(scoring.questions(),
                         [(one["group"], one["choices"],
                           one["log_likelihoods"], one["gold"])
                          for one in self.golden["questions"]["items"]])

    def test_the_file_has_the_generators_continuations(self):
        self.assertEqual(scoring.continuations(),
                         [(one["context"], one["continuation"])
                          for one in self.golden["continuations"]])
        for one in self.golden["continuations"]:
            self.assertEqual(
                scoring.tokens(one["context"] + one["continuation"]),
                one["whole"])

    def test_the_file_has_what_the_generator_asks(self):
        for case, golden in zip(scoring.asked(),
                                self.golden["asked"],
                                strict=True):
            self.assertEqual(len(golden.pop("asked")), len(case["lines"]))
            self.assertEqual(case, golden)

    def test_the_file_says_what_made_it(self):
        self.assertRegex(
            self.golden["made_with"],
            r"^rouge_score [0-9.]+, lm_eval [0-9.]+, Python 3")


if __name__ == "__main__":
    unittest.main()

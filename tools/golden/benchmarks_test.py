"""The golden scores of benchmarks are those of the cases."""

import json
import unittest

from tools.golden import benchmark_cases
from tools.golden import benchmarks

GOLDEN = "tests/golden/scoring/benchmarks.json"


class BenchmarksTest(unittest.TestCase):

    def setUp(self):
        with open(GOLDEN) as file:
            self.golden = json.load(file)

    def test_the_file_has_the_sets_of_scrolls(self):
        kept = [(one["set"], [tuple(line.values()) for line in one["lines"]],
                 {item["id"]: item["prediction"] for item in one["items"]})
                for one in self.golden["scrolls"]]
        self.assertEqual(benchmark_cases.scrolls_sets(), kept)

    def test_sets_that_scrolls_shows_have_the_numbers_that_it_shows(self):
        scores = {one["set"]: one["scores"] for one in self.golden["scrolls"]}
        shown = {
            "rouge1": 72.2222,
            "rouge2": 33.3333,
            "rougeL": 72.2222,
            "geometric_mean": 55.8136
        }
        self.assertEqual(scores["qmsum"], shown)
        kept = scores["narrative_qa"]
        self.assertEqual(kept["f1"], 72.2222)
        self.assertAlmostEqual(kept["exact_match"], 33.3333, 4)

    def test_the_file_has_the_answers_to_ruler(self):
        kept = [(one["task"], [(item["prediction"], item["references"])
                               for item in one["items"]])
                for one in self.golden["ruler"]["scores"]]
        self.assertEqual(benchmark_cases.ruler_answers(), kept)

    def test_prompts_of_ruler_have_no_drawn_words(self):
        prompts = self.golden["ruler"]["prompts"]
        self.assertEqual(len(prompts), 11)
        for one in prompts:
            for part in (one["before"], one["after"]):
                self.assertNotRegex(part, "[0-9]{3}|[a-z]-[a-z]", one["task"])

    def test_the_file_has_what_the_generator_says_to_passkeys(self):
        lengths = self.golden["passkey"]
        self.assertEqual(len(lengths), benchmark_cases.PASSKEY_LENGTHS)
        rows = [row for one in lengths for row in one["tests"]]
        for index, row in enumerate(rows):
            self.assertEqual(row["test"], index % benchmark_cases.PASSKEY_TESTS)
            self.assertEqual(row["expected"], " %d" % row["key"])
            self.assertEqual(row["generated"],
                             benchmark_cases.generated(index, row["expected"]))

    def test_the_file_says_what_made_it(self):
        for repository in benchmarks.SOURCES.values():
            self.assertRegex(self.golden["made_with"],
                             repository + " [0-9a-f]{40}, ")
        self.assertRegex(self.golden["made_with"],
                         r" rouge_score [0-9.]+, .* Python 3")


if __name__ == "__main__":
    unittest.main()

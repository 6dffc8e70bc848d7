import unittest

from tools.reference import write_pages


class WritePagesTest(unittest.TestCase):

    def test_the_committed_pages_are_what_protos_and_program_say(self):
        self.maxDiff = 4000
        for path, text in write_pages.texts("./ordo").items():
            self.assertEqual(write_pages.read(path), text,
                             "run: bazel run //tools/reference")

    def test_a_page_that_differs_or_is_missing_is_stale(self):
        path = "docs/cli.md"
        self.assertEqual(write_pages.stale({path: write_pages.read(path)}), [])
        self.assertEqual(write_pages.stale({path: "", "docs/no.md": ""}),
                         [path, "docs/no.md"])


if __name__ == "__main__":
    unittest.main()

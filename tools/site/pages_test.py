import unittest

from tools.site import pages


class SplitTextTest(unittest.TestCase):

    TEXT = "# Ordo\n\nWords.\n\n## Use\n\na\n\n## Change\n\nb\n"

    def test_a_file_is_its_pages(self):
        self.assertEqual(
            pages.split_text(self.TEXT, [("index.md", None, None),
                                         ("more.md", "Change", "More")]),
            {"index.md": "# Ordo\n\nWords.\n\n## Use\n\na\n\n",
             "more.md": "# More\n\n## Change\n\nb\n"})

    def test_a_file_may_be_one_page(self):
        self.assertEqual(pages.split_text(self.TEXT, [("a.md", None, None)]),
                         {"a.md": self.TEXT})

    def test_a_heading_that_is_gone_is_an_error(self):
        with self.assertRaisesRegex(pages.SiteError, "no heading 'Gone'"):
            pages.split_text(self.TEXT, [("index.md", None, None),
                                         ("more.md", "Gone", None)])


class ExpandTest(unittest.TestCase):

    def test_patterns_take_what_is_named_nowhere(self):
        nav = [{"Start": "index.md"}, "*.md",
               {"How to": ["how_to/*.md"]}, {"More": ["how_to/b.md"]},
               {"Runbooks": ["runbooks/*.md"]}]
        self.assertEqual(
            pages.expand(nav, {"index.md", "z.md", "y.md", "how_to/c.md",
                               "how_to/b.md", "how_to/a.md"}),
            [{"Start": "index.md"}, "y.md", "z.md",
             {"How to": ["how_to/a.md", "how_to/c.md"]},
             {"More": ["how_to/b.md"]}])

    def test_a_page_without_a_place_is_an_error(self):
        with self.assertRaisesRegex(pages.SiteError, "no place for new/a.md"):
            pages.expand(["*.md"], {"a.md", "new/a.md"})

    def test_a_name_without_a_page_is_an_error(self):
        with self.assertRaisesRegex(pages.SiteError, "a.md which is not there"):
            pages.expand([{"A": ["a.md"]}], {"b.md"})
        with self.assertRaisesRegex(pages.SiteError, "names a.md twice"):
            pages.expand(["a.md", {"A": "a.md"}], {"a.md"})


class FitLinksTest(unittest.TestCase):

    SITES = {"README.md": "index.md", "docs/how_to/a.md": "how_to/a.md",
             "docs/ci/b.yaml": "ci/b.yaml", "tests/sim/README.md": "sim.md"}

    def fit(self, text, page, source):
        return pages.fit_links(text, page, source, self.SITES)

    def test_links_of_a_page_outside_of_docs_lead_into_the_site(self):
        self.assertEqual(
            self.fit("[a](docs/how_to/a.md#b) [s](tests/sim/README.md)",
                     "index.md", "README.md"),
            "[a](how_to/a.md#b) [s](sim.md)")

    def test_links_out_of_docs_lead_into_the_site(self):
        self.assertEqual(
            self.fit("[r](../../README.md) [b](../ci/b.yaml)", "how_to/a.md",
                     "docs/how_to/a.md"),
            "[r](../index.md) [b](../ci/b.yaml)")

    def test_what_the_site_does_not_have_is_shown_as_a_path(self):
        self.assertEqual(
            self.fit("[x](../../base/x.h)", "how_to/a.md", "docs/how_to/a.md"),
            "x (`base/x.h`)")

    def test_links_elsewhere_and_within_stay(self):
        text = "[a](https://example.org/a) [b](#b)"
        self.assertEqual(self.fit(text, "index.md", "README.md"), text)

    def test_a_page_that_is_gone_is_an_error(self):
        with self.assertRaisesRegex(pages.SiteError,
                                    "README.md: link to docs/z.md, which is"):
            self.fit("[z](docs/z.md)", "index.md", "README.md")


if __name__ == "__main__":
    unittest.main()

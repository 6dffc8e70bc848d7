"""Builds the site and looks at what came out."""

import html.parser
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

MKDOCS = shutil.which("mkdocs", path="/usr/bin:" + os.environ.get("PATH", ""))
SECONDS = 240
# What a page fetches when it is shown.
_ASSETS = {"script": "src", "link": "href", "img": "src", "iframe": "src",
           "source": "src", "video": "src", "audio": "src", "object": "data"}
# What pages are made of; what else stands like a tag is text that was lost.
_TAGS = set(
    "a b blockquote body br button code dd div dl dt em footer form h1 h2 h3 h4 "
    "h5 h6 head hr html i img input kbd label li link meta nav ol p pre script "
    "small span strong style sup table tbody td th thead title tr ul".split())
_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class _Page(html.parser.HTMLParser):
    """Links, assets and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.assets, self.anchors = [], [], set()
        self.tags = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.add(tag)
        self.anchors.update(value for name, value in attrs
                            if name in ("id", "name"))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if attributes.get(_ASSETS.get(tag)):
            self.assets.append(attributes[_ASSETS[tag]])


def _files(folder, suffix):
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(suffix):
                yield os.path.join(path, name)


def _is_remote(url):
    return bool(re.match(r"(?:[a-z]+:)?//", url))


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@unittest.skipUnless(MKDOCS, "mkdocs is not installed (tools/setup does it)")
class SiteTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.maxDiff = None
        cls.site = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        cls.built = subprocess.run(
            [MKDOCS, "build", "--strict", "--site-dir", cls.site],
            timeout=SECONDS, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        cls.pages = {path: _Page(_read(path))
                     for path in _files(cls.site, ".html")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.site)

    def test_it_builds_without_a_warning(self):
        self.assertEqual(self.built.returncode, 0, self.built.stdout)
        self.assertNotIn("WARNING", self.built.stdout)

    def test_every_page_of_docs_is_in_the_navigation(self):
        start = os.path.join(self.site, "index.html")
        reached = {os.path.normpath(os.path.join(
            self.site, urllib.parse.urlsplit(link).path))
            for link in self.pages[start].links if not _is_remote(link)}
        for page in _files("docs", ".md"):
            name = os.path.relpath(page, "docs")[:-len(".md")]
            name = re.sub(r"(^|/)README$", r"\1index", name)
            self.assertIn(os.path.join(self.site, name + ".html"), reached)

    def test_nothing_is_fetched_from_a_network(self):
        for path, page in self.pages.items():
            self.assertEqual([url for url in page.assets if _is_remote(url)],
                             [], path)
        for path in _files(self.site, ".css"):
            urls = ["".join(found) for found in _CSS_URL.findall(_read(path))]
            self.assertEqual([url for url in urls if _is_remote(url)], [], path)

    def test_what_pages_fetch_is_there(self):
        for path, page in self.pages.items():
            for url in page.assets:
                parts = urllib.parse.urlsplit(url)
                if parts.scheme == "data":
                    continue
                # The page for what is not found names files from the root.
                base = self.site if parts.path.startswith("/") else (
                    os.path.dirname(path))
                self.assertTrue(os.path.exists(os.path.join(
                    base, urllib.parse.unquote(parts.path).lstrip("/"))),
                    "%s: %s" % (path, url))

    def test_links_lead_to_pages_and_headings_that_are_there(self):
        for path, page in self.pages.items():
            if path.endswith("/404.html"):
                continue
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = path
                if parts.path not in ("", "."):
                    target = os.path.normpath(os.path.join(
                        os.path.dirname(path),
                        urllib.parse.unquote(parts.path)))
                self.assertTrue(os.path.exists(target), "%s: %s" % (path, link))
                if parts.fragment and target in self.pages:
                    self.assertIn(parts.fragment, self.pages[target].anchors,
                                  "%s: %s" % (path, link))

    def test_no_text_is_taken_for_a_tag(self):
        for path, page in self.pages.items():
            self.assertEqual(page.tags - _TAGS, set(), path)

    def test_the_readme_is_two_pages(self):
        start = _read(os.path.join(self.site, "index.html"))
        more = _read(os.path.join(self.site, "contributing.html"))
        self.assertIn('id="five-minutes"', start)
        self.assertNotIn('id="working-on-it"', start)
        self.assertIn('id="working-on-it"', more)

    def test_no_build_file_is_a_page(self):
        self.assertEqual(list(_files(self.site, "BUILD.bazel")), [])


if __name__ == "__main__":
    unittest.main()

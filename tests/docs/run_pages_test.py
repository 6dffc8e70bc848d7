"""Every command of every page is run, or left out with a reason."""

import os
import shutil
import tempfile
import unittest

from tests.docs import blocks
from tests.docs import examples
from tests.docs import pages
from tests.docs import run_page

ROOTS = ("docs", "model", "tests", "tools")


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def all_pages():
    """Every page of Markdown that is there."""
    found = ["README.md"]
    for root in ROOTS:
        for folder, _, names in os.walk(root, followlinks=True):
            found += [os.path.join(folder, name) for name in names
                      if name.endswith(".md")]
    return sorted(found)


def all_commands():
    """Commands by page, of pages that have any."""
    found = {path: blocks.commands(path, _read(path)) for path in all_pages()}
    return {path: commands for path, commands in found.items() if commands}


def reason(path, command):
    """Why a command is not run; empty: it is."""
    for beginning, why in (pages.PAGES.get(path, pages.Page()).left_out +
                           pages.LEFT_OUT):
        if command.text.startswith(beginning):
            return why
    return ""


class ListTest(unittest.TestCase):
    """What pages.py says is of commands that are there."""

    def setUp(self):
        self.commands = all_commands()

    def texts(self, path):
        return [command.text for command in self.commands.get(path, [])]

    def test_pages_are_there_and_have_commands(self):
        for path in list(pages.PAGES) + list(pages.ELSEWHERE):
            self.assertIn(path, self.commands)

    def test_entries_of_a_page_fit_its_commands(self):
        for path, page in pages.PAGES.items():
            texts = self.texts(path)
            for beginning, _ in page.before + page.codes + page.left_out:
                self.assertTrue(any(text.startswith(beginning)
                                    for text in texts), (path, beginning))
            for word, _ in page.words:
                self.assertTrue(any(word in text for text in texts),
                                (path, word))

    def test_what_is_left_out_everywhere_is_somewhere(self):
        texts = [text for path in self.commands for text in self.texts(path)]
        for beginning, _ in pages.LEFT_OUT:
            self.assertTrue(any(text.startswith(beginning) for text in texts),
                            beginning)


class RunTest(unittest.TestCase):
    """A method of its own for each page: at the end of the file."""

    def run_page(self, path):
        commands = [command for command in all_commands()[path]
                    if not reason(path, command)]
        home = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        work = os.path.join(home, "work")
        for folder in ("examples", "model/recipes"):
            for parent, _, names in os.walk(folder, followlinks=True):
                for name in names:
                    if not name.endswith(".yaml"):
                        continue
                    target = os.path.join(work, parent, name)
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    with open(target, "w", encoding="utf-8") as file:
                        text = _read(os.path.join(parent, name))
                        file.write(examples.small(text)
                                   if folder == "examples" else text)
        well, output = run_page.run(
            pages.PAGES.get(path, pages.Page()), commands,
            {"home": home, "pages": os.path.abspath("docs"),
             "programs": os.path.abspath(os.environ.get("PROGRAMS", "."))})
        print(output)
        self.assertTrue(well)


def _add_methods():
    for path, commands in all_commands().items():
        if path in pages.ELSEWHERE or all(reason(path, command)
                                          for command in commands):
            continue
        name = "test_" + path.replace("/", "_").replace(".", "_")
        setattr(RunTest, name, lambda self, path=path: self.run_page(path))


_add_methods()

if __name__ == "__main__":
    unittest.main()

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


def together(path):
    """The folder of FOLDERS that the page is run with, or the page itself."""
    if path in pages.PAGES:
        return path
    return next((folder for folder in pages.FOLDERS
                 if path.startswith(folder)), path)


def about(name):
    """What is said of a page or folder."""
    return {**pages.FOLDERS, **pages.PAGES}.get(name, pages.Page())


def commands_of(name):
    """The commands that run together under a name, page by page."""
    return [command for path, commands in all_commands().items()
            if together(path) == name for command in commands]


def reason(path, command):
    """Why a command is not run; empty: it is."""
    for beginning, why in about(together(path)).left_out + pages.LEFT_OUT:
        if command.text.startswith(beginning):
            return why
    return ""


class ListTest(unittest.TestCase):
    """What pages.py says is of commands that are there."""

    def setUp(self):
        self.commands = all_commands()

    def test_pages_are_there_and_have_commands(self):
        for path in list(pages.PAGES) + list(pages.ELSEWHERE):
            self.assertIn(path, self.commands)
        for folder in pages.FOLDERS:
            self.assertTrue(commands_of(folder), folder)

    def test_entries_of_a_page_fit_its_commands(self):
        for path in list(pages.PAGES) + list(pages.FOLDERS):
            page = about(path)
            texts = [command.text for command in commands_of(path)]
            for beginning, _ in page.before + page.codes + page.left_out:
                self.assertTrue(any(text.startswith(beginning)
                                    for text in texts), (path, beginning))
            for word, _ in page.words:
                self.assertTrue(any(word in text for text in texts),
                                (path, word))

    def test_lines_are_commands_or_known_not_to_be(self):
        # Design notes have indented prose, the catalogue formulas, and the
        # gallery what programs printed.
        others = [other for path in all_pages()
                  if not path.startswith(("docs/design/", "docs/gallery/")) and
                  path not in ("docs/encodings.md", "docs/tasks.md")
                  for other in blocks.others(path, _read(path))]
        unknown = [str(other) for other in others
                   if not other.text.strip().startswith(pages.NO_COMMANDS)]
        self.assertEqual(unknown, [])
        for beginning in pages.NO_COMMANDS:
            self.assertTrue(any(other.text.strip().startswith(beginning)
                                for other in others), beginning)

    def test_what_is_left_out_everywhere_is_somewhere(self):
        texts = [command.text for commands in self.commands.values()
                 for command in commands]
        for beginning, _ in pages.LEFT_OUT:
            self.assertTrue(any(text.startswith(beginning) for text in texts),
                            beginning)


class RunTest(unittest.TestCase):
    """A method for each page or folder: at the end of the file."""

    def run_page(self, name):
        commands = [command for command in commands_of(name)
                    if not reason(command.path, command)]
        home = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        work = os.path.join(home, "work")
        for folder in ("examples", "model/recipes"):
            for parent, _, names in os.walk(folder, followlinks=True):
                for file_name in names:
                    if not file_name.endswith((".yaml", ".jsonl")):
                        continue
                    target = os.path.join(work, parent, file_name)
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    with open(target, "w", encoding="utf-8") as file:
                        text = _read(os.path.join(parent, file_name))
                        is_small = (folder == "examples" and
                                    file_name.endswith(".yaml"))
                        file.write(examples.small(text) if is_small else text)
        well, output = run_page.run(
            about(name), commands,
            {"home": home, "pages": os.path.abspath("docs"),
             "programs": os.path.abspath(os.environ.get("PROGRAMS", "."))})
        print(output)
        self.assertTrue(well)


def _add_methods():
    names = {together(path) for path, commands in all_commands().items()
             if path not in pages.ELSEWHERE and
             not all(reason(path, command) for command in commands)}
    for name in sorted(names):
        method = "test_" + name.rstrip("/").replace("/", "_").replace(".", "_")
        setattr(RunTest, method, lambda self, name=name: self.run_page(name))


_add_methods()

if __name__ == "__main__":
    unittest.main()

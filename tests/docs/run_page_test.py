import os
import tempfile
import unittest

from tests.docs import blocks
from tests.docs import pages
from tests.docs import run_page

# In the place of the program: says what it was asked, and fails at `fail`.
_ORDO = """#!/bin/bash
case $1 in
  up) mkdir -p "$HOME/.local/share/ordo"
    echo '{"api": "127.0.0.1:9"}' >"$HOME/.local/share/ordo/endpoints.json" ;;
  fail) exit 3 ;;
esac
echo "asked: $* ($ORDO_SERVER)"
"""


class RunPageTest(unittest.TestCase):

    def run_page(self, page, text):
        with tempfile.TemporaryDirectory(
                dir=os.environ.get("TEST_TMPDIR")) as folder:
            programs = os.path.join(folder, "programs")
            home = os.path.join(folder, "home")
            os.makedirs(programs)
            os.makedirs(home)
            with open(os.path.join(programs, "ordo"), "w",
                      encoding="utf-8") as file:
                file.write(_ORDO)
            os.chmod(os.path.join(programs, "ordo"), 0o755)
            well, output = run_page.run(
                page, blocks.commands("a.md", text),
                {"home": home, "programs": programs, "pages": folder})
            return well, output.replace(home, "HOME")

    def test_commands_run_in_one_shell_and_find_the_scheduler(self):
        well, output = self.run_page(
            pages.Page(), "    A=one\n    ordo show $A   # words\n")
        self.assertTrue(well, output)
        self.assertIn("+ a.md:2\nasked: show one (127.0.0.1:9)\n", output)

    def test_a_command_that_fails_is_named_and_the_others_run(self):
        well, output = self.run_page(
            pages.Page(), "    ordo fail\n    ordo list\n")
        self.assertFalse(well)
        self.assertIn("FAILED with 3 at a.md:1\n", output)
        self.assertIn("asked: list", output)

    def test_an_exit_code_may_be_the_one_that_is_meant(self):
        page = pages.Page(codes=(("ordo fail", (3, 4)), ("ordo list", (5,))))
        self.assertTrue(self.run_page(page, "    ordo fail\n")[0])
        well, output = self.run_page(page, "    ordo list\n")
        self.assertFalse(well)
        self.assertIn("FAILED with 0 at a.md:1\n", output)

    def test_names_of_a_reader_and_folders_of_a_machine_are_replaced(self):
        page = pages.Page(words=(("JOB...", "a b"), ("JOB", "a")),
                          before=(("ordo show", "ordo before"),))
        well, output = self.run_page(
            page, "    ordo hold JOB... JOBS\n    ordo show jobs/JOB:x "
            "/srv/text:/srv/more\n")
        self.assertTrue(well, output)
        self.assertIn("asked: hold a b JOBS (", output)
        self.assertIn("asked: before (127.0.0.1:9)\n+ a.md:2\n"
                      "asked: show jobs/a:x HOME/srv/text:HOME/srv/more (",
                      output)

    def test_what_a_page_leaves_running_is_ended(self):
        well, output = self.run_page(
            pages.Page(), "    for i in 1; do\n"
            "      python3 -c 'import time; time.sleep(600)' $HOME/x &\n"
            "    done\n    ordo list\n")
        self.assertTrue(well, output)


if __name__ == "__main__":
    unittest.main()

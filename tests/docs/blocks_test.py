import unittest

from tests.docs import blocks


def texts(page):
    return [(command.line, command.text)
            for command in blocks.commands("a.md", page)]


class BlocksTest(unittest.TestCase):

    def test_indented_lines_that_name_a_program_are_commands(self):
        self.assertEqual(
            texts("Words: ordo up\n\n    ordo up --detach    # here\n"
                  "    evaluations: [{task: nope}]\n    ordo list\n\n"
                  "ordo down\n"),
            [(3, "ordo up --detach    # here"), (5, "ordo list")])

    def test_fenced_lines_are_too(self):
        self.assertEqual(
            texts("```\nordo up\n{\"a\": 1}\n```\nordo list\n"),
            [(2, "ordo up")])

    def test_a_language_says_what_a_block_is(self):
        self.assertEqual(texts("```yaml\nordo up\n```\n"), [])
        self.assertEqual(texts("```bash\n# words\nnew-program --x\n```\n"),
                         [(3, "new-program --x")])

    def test_assignments_are_commands_and_fields_are_not(self):
        self.assertEqual(
            texts("    C=~/a\n    name: x\n    {\"b\": 2}\n"
                  "    A=7 bazel run //x\n    - {task: a}\n"
                  "    no worker has it\n    ExecStart=/bin/sleep infinity\n"
                  "    User=ordo\n    d=/x/y   # words\n    a=b c\n"),
            [(1, "C=~/a"), (4, "A=7 bazel run //x"), (9, "d=/x/y   # words")])

    def test_what_is_no_file_either_is_found(self):
        self.assertEqual(
            [str(other) for other in blocks.others(
                "a.md", "    name: x\n    - {task: a}\n    [Unit]\n    new-tool "
                "--x\n    {\"a\": 1}\n    ordo up\n")],
            ["a.md:4: new-tool --x"])

    def test_lines_go_on(self):
        self.assertEqual(
            texts("    ordo gate \\\n      --out gate\n    ordo list\n"),
            [(1, "ordo gate \\\n  --out gate"), (3, "ordo list")])
        self.assertEqual(
            texts("    for i in 0 1; do\n      ordo show $i &\n    done\n"
                  "    wait\n"),
            [(1, "for i in 0 1; do\n  ordo show $i &\ndone"), (4, "wait")])

    def test_programs_of_ours_by_any_name(self):
        self.assertEqual(
            [text for _, text in texts(
                "    ordo-trainer probe\n    tools/test --all\n"
                "    ordonnance\n    bazel-bin/ordo up\n")],
            ["ordo-trainer probe", "tools/test --all", "bazel-bin/ordo up"])


if __name__ == "__main__":
    unittest.main()

import unittest

from tools.reference import pages
from tools.reference import protos

OVERVIEW = """Ordo trains.

  ordo COMMAND ...          ordo help COMMAND says more

  up          start it
  submit      create jobs | from files

Every command takes:
  -o, --output FORM       table (default) or json
  -h, --help              print this

Exit codes: 0 ok, 1 job failed, 8 refused by a limit, a
full disk, 70 a bug of ours.
"""
HELP = {
    "up": """ordo up

start it

Options:
  -o, --output FORM  table (default) or json
  -h, --help         print this
""",
    "submit": """ordo submit FILE...

create jobs | from files

Some words.

Options:
      --dry-run      as --output, but not
  -o, --output FORM  table (default) or json
  -h, --help         print this
""",
}


class PagesTest(unittest.TestCase):

    def test_commands_are_those_of_the_overview(self):
        self.assertEqual(pages.commands(OVERVIEW),
                         [("up", "start it"),
                          ("submit", "create jobs | from files")])
        with self.assertRaises(pages.HelpError):
            pages.commands("nothing")

    def test_exit_codes_may_have_commas(self):
        self.assertEqual(pages.exit_codes(OVERVIEW),
                         [("0", "ok"), ("1", "job failed"),
                          ("8", "refused by a limit, a full disk"),
                          ("70", "a bug of ours")])

    def test_a_command_shows_its_own_options_alone(self):
        page = pages.cli(OVERVIEW, HELP)
        self.assertIn("```text\n  -o, --output FORM       table (default) or "
                      "json\n  -h, --help              print this\n```", page)
        self.assertIn("| [submit](#submit) | create jobs \\| from files |", page)
        self.assertIn("| 8 | refused by a limit, a full disk |", page)
        self.assertIn("## up\n\n```text\nordo up\n\nstart it\n```\n", page)
        self.assertTrue(page.endswith(
            "Some words.\n\nOptions:\n"
            "      --dry-run      as --output, but not\n```\n"), page)

    def test_tasks_show_parameters_and_scores(self):
        page = pages.tasks({"tasks": [
            {"kind": "training task", "name": "copy", "text": "Copies a_b.",
             "source": "A 2020", "params": [
                 {"name": "lengths", "type": "list of numbers",
                  "default": [2.0, 0.5], "range": "a | b", "unit": "tokens",
                  "text": "How long."}]},
            {"kind": "evaluation task", "name": "copy", "text": "Asks.",
             "source": "B 2021", "item_scores": "right or wrong, 1 or 0",
             "scores": ["score", "shift_l<layer>"], "params": []}]})
        self.assertTrue(page.endswith("""\
## Training tasks

### copy

Copies a\\_b.

- source: A 2020

| parameter | type | default | range | unit | meaning |
|---|---|---|---|---|---|
| `lengths` | list of numbers | [2,0.5] | a \\| b | tokens | How long. |

## Evaluation tasks

### copy

Asks.

- an item scores: right or wrong, 1 or 0
- scores: `score`, `shift_l<layer>`
- source: B 2021
"""), page)

    def test_the_job_file_has_an_example_of_each_kind(self):
        known = protos.Protos({
            "a": "package ordo.jobs.v1; // A job.\nmessage JobSpec {}"})
        page = pages.job_file(known, {path: "kind: %s\n" % kind
                                      for kind, path in pages.EXAMPLES})
        for kind, path in pages.EXAMPLES:
            self.assertIn("`ordo submit %s`:\n\n```yaml\nkind: %s\n```" %
                          (path, kind), page)


if __name__ == "__main__":
    unittest.main()

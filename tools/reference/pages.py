"""The pages of docs/ that are written by machine, but for docs/encodings.md."""

import re

from tools.reference import fields

_MADE = "This page is written by\n`bazel run //tools/reference`"

JOB_PROTOS = (
    "proto/ordo/jobs/v1/job_spec.proto",
    "proto/ordo/training/v1/component.proto",
    "proto/ordo/training/v1/spec.proto",
)
CONFIGURATION_PROTOS = "proto/ordo/config/v1/*.proto"
# An example of each kind of job.
EXAMPLES = (
    ("train", "examples/addition-tape.yaml"),
    ("benchmark", "examples/attention-benchmark.yaml"),
    ("sweep", "examples/sweep.yaml"),
    ("compare", "examples/compare.yaml"),
    ("pipeline", "examples/pipeline.yaml"),
    ("gate", "examples/gate.yaml"),
)

_JOB_FILE = """# Job file

A job file is one `JobSpec`, in YAML, JSON or textproto by its extension; a YAML
file may have several, divided by `---`. `ordo submit FILE --dry-run` checks it
without a server and prints it with every default filled in.

- Names of enum values are in lower or upper case: `kind: train`.
- Durations are `30s`, `1.5h`, `2m30s`.
- Whole numbers may be written `1e3`.
- A path of a field, as `--set` and `matrix` take it, is the names on the way to
  it: `training.learning_rate`, `evaluations[0].params.samples`.

Defaults and limits are those that the comments of `proto/ordo/jobs/v1` and
`proto/ordo/training/v1` name; what stands empty has none, or follows from the
meaning. What encodings and tasks take as `params`: [encodings](encodings.md),
[tasks](tasks.md). %s out of those comments.

"""

_CONFIGURATION = """# Configuration

What `ordo-scheduler --config FILE` and `ordo-worker --config FILE` read: one
message each, as textproto, YAML or JSON by the file's extension. It is read
once, checked whole, and printed at the start; all that is wrong with it is said
at once. `ordo up` writes both files itself, and `ordo up --set
scheduler.FIELD=VALUE` or `--set worker.FIELD=VALUE` changes a field there.
Durations are `30s`, `1.5h`. %s out of the comments of
`proto/ordo/config/v1`.

"""

_CLI = """# Command line

What `ordo help` and `ordo help COMMAND` print. Options stand before or after
arguments, as `--name value` or `--name=value`; `--` ends them. %s.

Every command takes:

```text
%s
```

"""

_TASKS = """# Tasks

Every task that a job may name, from the catalogue; `ordo list tasks` prints the
same. A job trains on one and is evaluated by any number of others:

    data: {task: addition, params: {max_digits: 5}}
    evaluations: [{task: addition_grid, params: {max_digits: 10}}]

Scores are the names that `metric` fields take, those of the defaults; a part in
angle brackets stands for a number. %s.

"""


def job_file(known, examples):
    """docs/job_file.md. `examples`: contents by path of EXAMPLES."""
    page = fields.Page(known, ["ordo.jobs.v1.JobSpec"])
    parts = [_JOB_FILE % _MADE]
    for kind, path in EXAMPLES:
        parts.append("## Example: %s\n\n`ordo submit %s`:\n\n```yaml\n%s```\n\n" %
                     (kind, path, examples[path]))
    return "".join(parts) + page.tables()


def configuration(known):
    """docs/configuration.md."""
    page = fields.Page(known, ["ordo.config.v1.SchedulerConfig",
                               "ordo.config.v1.WorkerConfig"])
    return _CONFIGURATION % _MADE + page.tables()


class HelpError(Exception):
    """What `ordo help` prints is not laid out as it was."""


def commands(overview):
    """(name, summary) of each command, from what `ordo help` prints."""
    found = re.findall(r"^  ([a-z][a-z-]*) {2,}(\S.*)$", overview, re.MULTILINE)
    if not found:
        raise HelpError("`ordo help` names no commands")
    return found


def exit_codes(overview):
    """(number, meaning) of each exit code."""
    text = re.search(r"Exit codes: (.*)\.\s*$", overview, re.DOTALL)
    if text is None:
        raise HelpError("`ordo help` names no exit codes")
    words = " ".join(text.group(1).split())
    return [tuple(part.split(" ", 1))
            for part in re.split(r", (?=\d+ )", words)]


def cli(overview, help_of):
    """docs/cli.md.

    Args:
      overview: what `ordo help` prints.
      help_of: what `ordo help NAME` prints, by name.
    """
    common = re.search(r"Every command takes:\n(.*?)\n\n", overview, re.DOTALL)
    if common is None:
        raise HelpError("`ordo help` has no options that every command takes")
    every = common.group(1)
    # By name: how wide the column is differs from command to command.
    shared = set(re.findall(r"--[a-z-]+", every))
    parts = [_CLI % (_MADE, every)]
    parts.append("## Exit codes\n\n| code | what happened |\n|---|---|\n")
    parts += ["| %s | %s |\n" % (code, fields.cell(meaning))
              for code, meaning in exit_codes(overview)]
    parts.append("\n## Commands\n\n| command | what it does |\n|---|---|\n")
    parts += ["| [%s](#%s) | %s |\n" % (name, name, fields.cell(summary))
              for name, summary in commands(overview)]
    for name, _ in commands(overview):
        lines = help_of[name].rstrip("\n").split("\n")
        at = lines.index("Options:")
        own = [line for line in lines[at + 1:]
               if not shared & set(re.findall(r"--[a-z-]+", line[:25])[:1])]
        lines = lines[:at] + (["Options:"] + own if own else [])
        parts.append("\n## %s\n\n```text\n%s\n```\n" %
                     (name, "\n".join(lines).rstrip("\n")))
    return "".join(parts)


def _number(value):
    """As a spec writes it: 5 for 5.0."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, list):
        return "[%s]" % ",".join(_number(item) for item in value)
    return '"%s"' % value if isinstance(value, str) else str(value)


def tasks(catalogue):
    """docs/tasks.md, from what `ordo list tasks -o json` prints."""
    parts = [_TASKS % _MADE]
    for kind in ("training task", "evaluation task"):
        parts.append("## %ss\n\n" % kind.capitalize())
        for entry in catalogue["tasks"]:
            if entry["kind"] == kind:
                parts.append(_task(entry))
    return "".join(parts).rstrip("\n") + "\n"


def _task(entry):
    lines = ["### %s" % entry["name"], "", fields.cell(entry["text"]), ""]
    if entry.get("item_scores"):
        lines.append("- an item scores: " + fields.cell(entry["item_scores"]))
    if entry.get("scores"):
        lines.append("- scores: " +
                     ", ".join("`%s`" % name for name in entry["scores"]))
    lines += ["- source: " + fields.cell(entry["source"]), ""]
    if entry["params"]:
        lines += ["| parameter | type | default | range | unit | meaning |",
                  "|---|---|---|---|---|---|"]
        for param in entry["params"]:
            lines.append("| `%s` | %s | %s | %s | %s | %s |" % (
                param["name"], param["type"], fields.cell(
                    _number(param["default"])), fields.cell(param["range"]),
                param["unit"], fields.cell(param["text"])))
        lines.append("")
    return "\n".join(lines) + "\n"

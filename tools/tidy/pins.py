"""Lists that only change on purpose: flags, metrics, fields of the log."""

import re

from tools.tidy.source import Finding

FLAGS_FILE = "tools/tidy/flags.txt"

_FLAG = re.compile(r"\bABSL_FLAG\(\s*[^,]+,\s*(\w+)\s*,", re.DOTALL)
# Programs that read their command line themselves: every flag is a literal.
_OWN_PARSERS = ("worker/supervisor/options.cc", "worker/trainer/command_line.cc")
_LITERAL_FLAG = re.compile(r'"(--[a-z][a-z-]*)"')
_METRIC = re.compile(r'"(ordo_[a-z0-9_]+)"')
_METRIC_FORM = re.compile(
    r"ordo_(scheduler|worker|trainer|rpc)_[a-z0-9]+(_[a-z0-9]+)*")
FIELDS_FILE = "base/log/fields.h"
_LOG_CALL = re.compile(r"\bLog(?:Debug|Info|Warning|Error)\(")
_STRING_OR_PARENTHESIS = re.compile(r'"(?:[^"\\]|\\.)*"|[()]')
_FIELD = re.compile(r'(?:\{|IfAny\()\s*"([a-z_]+)"\s*,')
# Base units, and the nouns that are counted.
_UNITS = ("_seconds", "_bytes", "_total", "_ratio", "_info", "_jobs", "_steps",
          "_tokens_per_second", "_checkpoints", "_workers", "_devices",
          "_attempts", "_nats", "_tasks", "_streams", "_kernels", "_celsius", "_watts")


def flags(tree):
    """'file: flag' of each flag that the code defines, sorted."""
    found = []
    for file in tree.code():
        if file.is_test or file.path.startswith("third_party/"):
            continue
        for name in _FLAG.findall("\n".join(file.code[0])):
            found.append("%s: --%s" % (file.path, name))
        if file.path in _OWN_PARSERS:
            found += [
                "%s: %s" % (file.path, name)
                for name in _LITERAL_FLAG.findall("\n".join(file.code[0]))
            ]
    return sorted(set(found))


def check_flags(tree):
    findings = []
    for line in flags(tree):
        path = line.split(":")[0]
        if not path.endswith("main.cc") and path not in _OWN_PARSERS:
            findings.append(
                Finding(path, 1, "flags live in main.cc; a library takes an "
                        "Options struct"))
    pinned = []
    if FLAGS_FILE in tree.files:
        pinned = [
            line for line in tree.files[FLAGS_FILE].lines
            if line and not line.startswith("#")
        ]
    for line in sorted(set(flags(tree)) - set(pinned)):
        findings.append(
            Finding(FLAGS_FILE, 1, "new flag `%s`: does it have to be a flag, "
                    "not a field of config/v1? If so, add the line" % line))
    for line in sorted(set(pinned) - set(flags(tree))):
        findings.append(
            Finding(FLAGS_FILE, 1, "`%s` is gone: drop the line if nobody's "
                    "script uses it" % line))
    return findings


def check_metrics(tree):
    findings = []
    declared = {}
    for file in tree.code():
        if file.is_test or file.path.startswith(("third_party/", "tools/")):
            continue
        for number, line in enumerate(file.code[0], 1):
            for name in _METRIC.findall(line):
                if name.endswith("_"):
                    continue
                if not file.path.endswith("metrics.h"):
                    findings.append(
                        Finding(file.path, number, "metric %s: declare it in "
                                "the program's metrics.h" % name))
                elif not (_METRIC_FORM.fullmatch(name) and
                          name.endswith(_UNITS)):
                    findings.append(
                        Finding(file.path, number, "metric %s: the form is "
                                "ordo_<part>_<what>_<unit>, in base units" %
                                name))
                elif name in declared:
                    findings.append(
                        Finding(file.path, number, "metric %s: is in %s too" %
                                (name, declared[name])))
                declared[name] = file.path
    return findings


def _calls(text):
    """(offset, arguments) of each call that logs a line."""
    for call in _LOG_CALL.finditer(text):
        depth, end = 1, call.end()
        for part in _STRING_OR_PARENTHESIS.finditer(text, call.end()):
            depth += {"(": 1, ")": -1}.get(part.group(), 0)
            if depth == 0:
                end = part.start()
                break
        yield call.start(), text[call.end():end]


def check_log_fields(tree):
    known = set()
    if FIELDS_FILE in tree.files:
        known = set(_FIELD.findall("\n".join(tree.files[FIELDS_FILE].lines)))
    findings = []
    for file in tree.code():
        if file.is_test or file.path.startswith(
            ("base/log/", "tests/", "third_party/", "tools/")):
            continue
        text = "\n".join(file.code[0])
        for start, arguments in _calls(text):
            for name in _FIELD.findall(arguments):
                if name not in known:
                    findings.append(
                        Finding(file.path, text.count("\n", 0, start) + 1,
                                "log field '%s': take one of %s, or say there "
                                "what it means" % (name, FIELDS_FILE)))
    return findings


RULES = (check_flags, check_metrics, check_log_fields)

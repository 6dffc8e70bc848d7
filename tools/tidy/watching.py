"""What watches a deployment names what there is: metrics, pages, commands."""

import re

from tools.tidy.source import Finding

METRICS_PAGE = "docs/metrics.md"
RULES_FOLDER = "deploy/prometheus/rules/"
RUNBOOKS_FOLDER = "docs/runbooks/"
ORDO_FLAGS = "tools/tidy/ordo_flags.txt"

# Where metrics are asked for.
_ASKING = ("deploy/prometheus/", "deploy/grafana/", "tools/dashboards/tables/",
           RUNBOOKS_FOLDER, "docs/how_to/watch.md")
_ROW = re.compile(r"\| `(ordo_\w+)` \| (\w+) \| ([^|]*) \|")
_LABEL = re.compile(r"`(\w+)`(?:: ([^;]*))?")
# A metric, and its matchers in braces; quotes in JSON are escaped.
_USE = re.compile(r"\b(ordo_(?:scheduler|worker)_[a-z0-9_]+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+) *(=~|!~|!=|=) *\\?"([^"\\]*)\\?"')
# Of targets, and of histograms.
_OTHER_LABELS = ("job", "instance", "worker", "node", "le", "__name__")

_ALERT = re.compile(r"- alert: Ordo(\w+)")
_SEVERITY = re.compile(r"severity: (\w+)")
_RUNBOOK = re.compile(r'runbook="(\w+)"')

_COMMAND = re.compile(r'command\.name = "([\w-]+)"')
# In a code block, or between backticks.
_CODE = re.compile(r"^    (.*)$|`([^`]+)`")
_CALL = re.compile(r"(?:^|[|;] *|\$ *)ordo ([a-z]+)([^|;#]*)")
_FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
# Those that every command has.
_COMMON_FLAGS = ("--server", "--help")


def _metrics(tree):
    """Metric -> label -> its closed set of values, or None."""
    found = {}
    for line in tree.files[METRICS_PAGE].lines:
        row = _ROW.match(line)
        if not row:
            continue
        name, kind, labels = row.groups()
        values = {label: set(each.strip().split(", ")) if each else None
                  for label, each in _LABEL.findall(labels)}
        for suffix in (("_bucket", "_sum", "_count")
                       if kind == "histogram" else ("",)):
            found[name + suffix] = values
    return found


def _matcher_faults(metric, known, matchers):
    for label, operator, text in _MATCHER.findall(matchers or ""):
        if label not in known:
            if label not in _OTHER_LABELS:
                yield "%s has no label %s" % (metric, label)
            continue
        asked = text.split("|") if operator.endswith("~") else [text]
        for value in asked:
            if (known[label] is not None and re.fullmatch(r"\w+", value) and
                    value not in known[label]):
                yield "%s of %s is never %s" % (label, metric, value)


def check_metrics_asked_for(tree):
    if METRICS_PAGE not in tree.files:
        return []
    metrics = _metrics(tree)
    findings = []
    for path, file in sorted(tree.files.items()):
        if not path.startswith(_ASKING):
            continue
        for number, line in enumerate(file.lines, 1):
            for name, matchers in _USE.findall(line):
                if name not in metrics:
                    findings.append(
                        Finding(path, number, "metric %s is not in %s" %
                                (name, METRICS_PAGE)))
                    continue
                findings += [
                    Finding(path, number, fault)
                    for fault in _matcher_faults(name, metrics[name], matchers)
                ]
    return findings


def page_of(alert):
    """The runbook of an alert without `Ordo`: DeviceLost -> device_lost."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", alert).lower()


def _alerts(tree):
    """(file, line, alert without Ordo, its lines as one text)."""
    for path, file in sorted(tree.files.items()):
        if not path.startswith(RULES_FOLDER):
            continue
        starts = [(number, _ALERT.search(line).group(1))
                  for number, line in enumerate(file.lines, 1)
                  if _ALERT.search(line)]
        ends = [number for number, _ in starts[1:]] + [len(file.lines) + 1]
        for (number, alert), end in zip(starts, ends):
            yield (path, number, alert,
                   "\n".join(file.lines[number - 1:end - 1]))


def check_runbooks(tree):
    """Each alert has a page, each page an alert, each link an end."""
    findings = []
    pages = set()
    for path, number, alert, text in _alerts(tree):
        page = RUNBOOKS_FOLDER + page_of(alert) + ".md"
        pages.add(page)
        if "}}/runbooks/%s.html" % page_of(alert) not in text:
            findings.append(
                Finding(path, number, "runbook_url of Ordo%s must end with "
                        "/runbooks/%s.html" % (alert, page_of(alert))))
        severity = _SEVERITY.search(text)
        says = "Alert `Ordo%s`, %s." % (alert,
                                        severity[1] if severity else "none")
        if page not in tree.files:
            findings.append(
                Finding(path, number, "Ordo%s has no page: write %s" %
                        (alert, page)))
        elif says not in tree.files[page].text:
            findings.append(Finding(page, 3, "must say '%s'" % says))
    for path, file in sorted(tree.files.items()):
        if path.startswith(RUNBOOKS_FOLDER) and path not in pages:
            findings.append(
                Finding(path, 1, "is the page of no alert of " + RULES_FOLDER))
        if path.startswith("tools/dashboards/tables/"):
            for number, line in enumerate(file.lines, 1):
                for page in _RUNBOOK.findall(line):
                    if RUNBOOKS_FOLDER + page + ".md" not in pages:
                        findings.append(
                            Finding(path, number, "there is no runbook " +
                                    page))
    return findings


def check_commands(tree):
    """Commands of `ordo` in runbooks, and their flags, are those it has."""
    commands = set()
    for path, file in tree.files.items():
        if path.startswith("services/cli/commands/"):
            commands |= set(_COMMAND.findall(file.text))
    flags = (tree.files[ORDO_FLAGS].lines if ORDO_FLAGS in tree.files else [])
    findings = []
    for path, file in sorted(tree.files.items()):
        if not path.startswith(RUNBOOKS_FOLDER):
            continue
        for number, line in enumerate(file.lines, 1):
            for block, inline in _CODE.findall(line):
                for command, rest in _CALL.findall(block or inline):
                    if command not in commands:
                        findings.append(
                            Finding(path, number, "there is no command 'ordo "
                                    "%s'" % command))
                    findings += [
                        Finding(path, number, "'ordo %s' has no %s" %
                                (command, flag))
                        for flag in _FLAG.findall(rest)
                        if flag not in _COMMON_FLAGS and
                        "%s: %s" % (command, flag) not in flags
                    ]
    return findings


RULES = (check_metrics_asked_for, check_runbooks, check_commands)

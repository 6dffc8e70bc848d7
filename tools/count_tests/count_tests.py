"""Counts the test cases of one Bazel run.

  python3 tools/count_tests/count_tests.py EVENTS.json EXIT_CODE [FAILED_STEP...]

EVENTS.json is what `bazel test --build_event_json_file` wrote, EXIT_CODE how
it ended; each FAILED_STEP (a format check, say) is one failed case more. Prints
the failed cases, why scripts skipped some (GoogleTest's reasons are in its
logs), how many were skipped, and last the line `N passed, N failed`.
A target that does not build, times out or crashes counts as one failed case
at least. Ends with 1 when a case failed or there was none at all.
"""

import collections
import dataclasses
import json
import pathlib
import re
import sys
import urllib.parse
import xml.etree.ElementTree


# What unittest says of a case by -v; what a shell script says of a part.
_UNITTEST_SKIPS = re.compile(r"(?:\.\.\. |^)skipped (?:'(.*)'|\"(.*)\")$",
                             re.MULTILINE)
_SHELL_SKIPS = re.compile(r"^SKIPPED: (.*)$", re.MULTILINE)
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)


@dataclasses.dataclass
class Counts:
    passed: int = 0
    skipped: int = 0
    failures: list = dataclasses.field(default_factory=list)
    # Why scripts skipped some.
    reasons: list = dataclasses.field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures
        self.reasons += other.reasons


def _count_log(label, text):
    """The cases of a script that went well, by what it printed."""
    ran = _UNITTEST_RAN.search(text)
    reasons = ["".join(found) for found in _UNITTEST_SKIPS.findall(text)]
    if not ran:
        reasons = _SHELL_SKIPS.findall(text)
    return Counts(passed=int(ran[1]) - len(reasons) if ran else 1,
                  skipped=len(reasons),
                  reasons=["%s: %s" % (label, reason) for reason in reasons])


def count_xml(label, text):
    """The cases of one test.xml (GoogleTest's form or Bazel's own)."""
    counts = Counts()
    root = xml.etree.ElementTree.fromstring(text)
    log = root.find("testsuite/system-out")
    if log is not None and root.find(".//testcase[error]") is None:
        return _count_log(label, "".join(log.itertext()))
    for case in root.iter("testcase"):
        name = ".".join(
            part for part in (case.get("classname"), case.get("name")) if part)
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failures.append("%s %s" % (label, name))
        elif case.get("status") == "notrun":
            continue
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def count_result(label, status, text):
    """The cases of one run of one test; `text` is its test.xml or ""."""
    counts = Counts()
    try:
        counts = count_xml(label, text) if text else Counts()
    except xml.etree.ElementTree.ParseError:
        pass  # The program died while it wrote the file.
    if status not in ("PASSED", "FLAKY") and not counts.failures:
        counts.failures.append("%s (%s)" % (label, status))
    if status == "PASSED" and not counts.passed and not counts.skipped:
        counts.failures.append("%s (ran no test case)" % label)
    return counts


def _xml_of(result):
    for output in result.get("testActionOutput", []):
        if output.get("name") == "test.xml":
            path = urllib.parse.unquote(
                urllib.parse.urlparse(output.get("uri", "")).path)
            try:
                return pathlib.Path(path).read_text(errors="replace")
            except OSError:
                return ""
    return ""


def count_events(lines, xml_of=_xml_of):
    """The cases of a whole run, from the lines of its event file."""
    results = {}
    broken = set()
    for line in lines:
        event = json.loads(line)
        kind = next(iter(event["id"]))
        key = event["id"][kind]
        if kind == "testResult":
            # Later attempts of a run replace earlier ones.
            run = (key["label"], key.get("run"), key.get("shard"))
            results[run] = event["testResult"]
        elif kind == "targetCompleted":
            if not event.get("completed", {}).get("success"):
                broken.add(key["label"])
        elif kind == "pattern" and "aborted" in event:
            broken.add("//" + "".join(key.get("pattern", [])))
    counts = Counts()
    for (label, _, _), result in sorted(results.items(), key=str):
        counts.add(count_result(label, result["status"], xml_of(result)))
    tested = {label for label, _, _ in results}
    for label in sorted(broken - tested):
        counts.failures.append("%s (does not build)" % label)
    return counts


def main(arguments):
    counts = Counts(failures=arguments[3:])
    try:
        with open(arguments[1], encoding="utf-8") as events:
            counts.add(count_events(events))
    except (OSError, ValueError, KeyError) as error:
        counts.failures.append("cannot read the events of the run: %s" % error)
    if not counts.failures and arguments[2] != "0":
        counts.failures.append("bazel ended with %s" % arguments[2])
    if not counts.failures and not counts.passed:
        counts.failures.append("no test ran")
    for failure in counts.failures:
        print("FAILED " + failure)
    for reason, count in sorted(collections.Counter(counts.reasons).items()):
        print("SKIPPED %d of %s" % (count, reason))
    if counts.skipped:
        print("%d skipped" % counts.skipped)
    print("%d passed, %d failed" % (counts.passed, len(counts.failures)))
    return 1 if counts.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

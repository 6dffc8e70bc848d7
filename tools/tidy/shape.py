"""The shape of files: size, functions, guards, a test beside each."""

import os
import re

from tools.tidy.source import Finding

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 80

_TYPE = re.compile(r"\b(class|struct|union|enum)\b[^()]*$")
_MAIN = re.compile(r"^int main\(", re.MULTILINE)
_URL = re.compile(r"https?://")


def check_size(tree):
    findings = []
    for file in tree.code():
        if len(file.lines) > MAX_FILE_LINES and not file.is_test:
            findings.append(
                Finding(file.path, MAX_FILE_LINES + 1,
                        "%d lines, at most %d: does it answer one question?" %
                        (len(file.lines), MAX_FILE_LINES)))
        for number, line in enumerate(file.lines, 1):
            if (len(line) > MAX_COLUMNS and not _URL.search(line) and
                    not line.startswith("#include") and 'R"' not in line):
                findings.append(
                    Finding(file.path, number,
                            "%d columns, at most %d" % (len(line), MAX_COLUMNS)))
    return findings


def functions(lines):
    """(first line, number of lines, head) of each function body in `lines`.

    `lines` are without comments and string literals. A brace opens a function
    if it stands in namespaces and types only and a parameter list precedes it.
    """
    found = []
    stack = []  # (kind, line of the opening brace, head)
    head = ""
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        for character in line:
            if character == "{":
                stack.append((_kind(stack, head), number, head.strip()))
                head = ""
            elif character == "}":
                if stack:
                    kind, first, opened = stack.pop()
                    if kind == "function":
                        found.append((first, number - first + 1, opened))
                head = ""
            elif character == ";":
                head = ""
            else:
                head += character
        head += " "
    return found


def _kind(stack, head):
    if any(kind in ("function", "other") for kind, _, _ in stack):
        return "other"
    if re.search(r"\bnamespace\b", head) or 'extern ""' in head:
        return "namespace"
    if _TYPE.search(head.rsplit(">", 1)[-1]) and "(" not in head:
        return "type"
    if "(" in head and "=" not in head.split("(", 1)[0]:
        return "function"
    return "other" if "(" in head or "=" in head else "type"


def check_functions(tree):
    findings = []
    for file in tree.code():
        if file.is_test:
            continue
        for first, length, head in functions(file.code[1]):
            if length > MAX_FUNCTION_LINES:
                findings.append(
                    Finding(file.path, first, "function of %d lines, at most "
                            "%d: %s" % (length, MAX_FUNCTION_LINES, head[-60:])))
    return findings


def check_guards(tree):
    findings = []
    for file in tree.code():
        if not file.path.endswith((".h", ".cuh")):
            continue
        guard = "ORDO_%s_" % re.sub(r"[/.]", "_", file.path).upper()
        if "#ifndef %s" % guard not in file.text:
            findings.append(Finding(file.path, 1, "its guard must be " + guard))
    return findings


def check_tests_beside(tree):
    """A test beside each .cc; programs and what only tests use excepted."""
    findings = []
    for file in tree.code():
        if not file.path.endswith(".cc") or file.is_test:
            continue
        if _MAIN.search("\n".join(file.code[1])):
            if not file.text.startswith("//"):
                findings.append(
                    Finding(file.path, 1,
                            "begin with a comment: what it is, and an example "
                            "command line"))
            continue
        test = os.path.splitext(file.path)[0] + "_test.cc"
        if test not in tree.files:
            findings.append(
                Finding(file.path, 1, "has no test beside it: write " + test))
    return findings


RULES = (check_size, check_functions, check_guards, check_tests_beside)

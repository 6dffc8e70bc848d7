"""The shape of files: size, functions, guards, a test beside each."""

import os
import re

from tools.tidy.source import Finding

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 80
MAX_PARAMETERS = 4

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
    return [(first, last - first + 1, head)
            for kind, first, last, head, _ in blocks(lines)
            if kind == "function"]


def blocks(lines):
    """(kind, first line, last line, head, depth) of what `lines` open and close.

    The kinds are "namespace", "type", "function" and "other", and
    "declaration" for what ends with a semicolon outside of functions; depth is
    the number of blocks around it.
    """
    found = []
    stack = []  # (kind, line of the opening brace, head)
    head = ""
    directive = False
    for number, line in enumerate(lines, 1):
        # A macro's definition goes on behind a backslash.
        directive = directive or line.lstrip().startswith("#")
        if directive:
            directive = line.endswith("\\")
            continue
        for character in line:
            if character == "{":
                stack.append((_kind(stack, head), number, head.strip()))
                head = ""
            elif character == "}":
                if stack:
                    kind, first, opened = stack.pop()
                    found.append((kind, first, number, opened, len(stack)))
                head = ""
            elif character == ";":
                if all(kind in ("namespace", "type") for kind, _, _ in stack):
                    found.append(("declaration", number, number, head.strip(),
                                  len(stack)))
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


# What has parentheses before a function's own, or instead of them.
_OTHER_CALL = re.compile(r"(ORDO_\w+|alignas|decltype|noexcept|static_assert)$")
_OPERATOR = re.compile(r"\boperator\s*(\(\)|[^\s\w(]+)")


def parameters(head):
    """(name, number of parameters) of a function's head, or None of others."""
    head = _OPERATOR.sub("operator_", head)
    depth = 0
    at = 0
    while at < len(head):
        character = head[at]
        if character == "<":
            depth += 1
        elif character == ">" and head[at - 1] != "-":
            depth -= 1
        elif character == "=" and depth == 0:
            return None  # A variable.
        elif character == "(" and depth == 0:
            name = re.search(r"\w*$", head[:at].rstrip()).group(0)
            commas, end = _list(head, at)
            if not name:
                return None
            if not _OTHER_CALL.match(name):
                return name, commas + 1 if head[at + 1:end].strip() else 0
            at = end
        at += 1
    return None


def _list(head, opening):
    """Number of commas of the list that opens there, and where it ends."""
    depth = 0
    commas = 0
    for at in range(opening, len(head)):
        if head[at] in "(<{[":
            depth += 1
        elif head[at] in ")}]" or (head[at] == ">" and head[at - 1] != "-"):
            depth -= 1
            if depth == 0:
                return commas, at
        elif head[at] == "," and depth == 1:
            commas += 1
    return commas, len(head)


def check_parameters(tree):
    findings = []
    for file in tree.code():
        for kind, line, _, head, _ in blocks(file.code[1]):
            if kind not in ("function", "declaration"):
                continue
            found = parameters(head)
            if found and found[1] > MAX_PARAMETERS:
                findings.append(
                    Finding(file.path, line, "%s has %d parameters, at most %d: "
                            "take an options struct" %
                            (found + (MAX_PARAMETERS,))))
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


# A kernel, named after its technique, and what shows that it is right: the one
# test of its folder walks the table.
_KERNEL = re.compile(r"kernels/(\w+)/(?:check/|cpu_|cuda_)\w+[.]cc$")


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
        kernel = _KERNEL.match(file.path)
        if kernel and test not in tree.files:
            test = "kernels/%s/%s_test.cc" % (kernel[1], kernel[1])
        if test not in tree.files:
            findings.append(
                Finding(file.path, 1, "has no test beside it: write " + test))
    return findings


RULES = (check_size, check_functions, check_parameters, check_guards,
         check_tests_beside)

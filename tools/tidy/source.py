"""The checkout as tidy sees it: files, their code without comments, BUILD files.

A rule is a function from a Tree to findings. Everything that reads the disk is
here, so the rules are tested on trees made of strings.
"""

import ast
import dataclasses
import os
import re

CODE_SUFFIXES = (".cc", ".h", ".cu", ".cuh")
SKIPPED_FOLDERS = ("bazel-", ".git")


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self):
        return "%s:%d: %s" % (self.path, self.line, self.message)


class SourceFile:
    """One text file; `path` is relative to the repository's root."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        self._code = None

    @property
    def folder(self):
        return os.path.dirname(self.path)

    @property
    def is_test(self):
        """Whether the file is only ever part of a test program."""
        stem = os.path.splitext(self.path)[0]
        return (stem.endswith("_test") or "/testing/" in self.path or
                self.path.startswith("tests/"))

    @property
    def code(self):
        """Two lists of lines: code with string literals, and without."""
        if self._code is None:
            self._code = (_blank(self.text, strings=False).splitlines(),
                          _blank(self.text, strings=True).splitlines())
        return self._code


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\s\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def _blank(text, strings):
    """`text` with comments, and string literals if asked, made empty."""

    def replace(match):
        token = match.group(0)
        if token.startswith("/"):
            return "\n" * token.count("\n")
        if strings:
            return '""' + "\n" * token.count("\n")
        return token

    return _TOKEN.sub(replace, text)


@dataclasses.dataclass
class Target:
    """One rule of a BUILD file."""
    package: str
    kind: str
    name: str
    line: int
    arguments: dict

    @property
    def label(self):
        return "//%s:%s" % (self.package, self.name)

    def labels(self, argument):
        """The labels of a list argument, made absolute."""
        values = self.arguments.get(argument) or []
        return [absolute_label(self.package, value) for value in values]


def absolute_label(package, label):
    if label.startswith(":"):
        return "//" + package + label
    if label.startswith("//") and ":" not in label:
        return label + ":" + label.split("/")[-1]
    if not label.startswith(("//", "@")):
        return "//%s:%s" % (package, label)
    return label


class BuildFile:
    """A BUILD.bazel file: Starlark, read as the Python it looks like."""

    def __init__(self, path, text):
        self.path = path
        self.package = os.path.dirname(path)
        self.targets = []
        self.default_visibility = None
        tree = ast.parse(text)
        self.strings = {
            node.value for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        self.globs = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _name(node.func) == "glob":
                self.globs += _strings(node.args[0]) if node.args else []
        for statement in tree.body:
            if (isinstance(statement, ast.Expr) and
                    isinstance(statement.value, ast.Call)):
                self._add(statement.value)

    def _add(self, call):
        arguments = {
            keyword.arg: _value(keyword.value)
            for keyword in call.keywords if keyword.arg
        }
        kind = _name(call.func)
        if kind == "package":
            self.default_visibility = arguments.get("default_visibility")
        elif "name" in arguments:
            self.targets.append(
                Target(self.package, kind, arguments["name"], call.lineno,
                       arguments))

    def names(self, relative_path):
        """Whether a rule of this file lists the file of its package."""
        return relative_path in self.strings or any(
            re.fullmatch(_glob_pattern(glob), relative_path)
            for glob in self.globs)


def _glob_pattern(glob):
    pattern = re.escape(glob).replace(r"\*\*/", "(.*/)?")
    return pattern.replace(r"\*\*", ".*").replace(r"\*", "[^/]*")


def _name(node):
    return node.id if isinstance(node, ast.Name) else ""


def _strings(node):
    return [
        child.value for child in ast.walk(node)
        if isinstance(child, ast.Constant) and isinstance(child.value, str)
    ]


def _value(node):
    """A literal's value; of a computed list, the strings inside."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _strings(node)


class Tree:
    """All files of a checkout, by path."""

    def __init__(self, texts):
        self.files = {
            path: SourceFile(path, text) for path, text in texts.items()
        }
        self.builds = {
            os.path.dirname(path): BuildFile(path, text)
            for path, text in texts.items()
            if os.path.basename(path) == "BUILD.bazel"
        }

    def code(self):
        """The C++ files, in order."""
        return [
            file for path, file in sorted(self.files.items())
            if path.endswith(CODE_SUFFIXES) and
            not path.startswith("third_party/")
        ]

    def targets(self):
        return [
            target for _, build in sorted(self.builds.items())
            for target in build.targets
        ]

    def package_of(self, path):
        """The BuildFile of the package that holds `path`, or None."""
        folder = os.path.dirname(path)
        while folder not in self.builds:
            if not folder:
                return None
            folder = os.path.dirname(folder)
        return self.builds[folder]


def read_tree(root):
    """The Tree of the checkout at `root`."""
    texts = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [
            name for name in folders if not name.startswith(SKIPPED_FOLDERS) and
            name != "__pycache__"
        ]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or os.path.getsize(path) > 1 << 20:
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    texts[os.path.relpath(path, root)] = file.read()
            except UnicodeDecodeError:
                continue
    return Tree(texts)

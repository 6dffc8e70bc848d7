"""Trees made of strings, for tests of the rules."""

import textwrap

from tools.tidy import source


def tree(**files):
    """A Tree; in names, __ stands for / and a last _x for .x."""
    return source.Tree({
        path_of(name): textwrap.dedent(text) for name, text in files.items()
    })


def path_of(name):
    if name.endswith("BUILD"):
        return name.replace("__", "/") + ".bazel"
    stem, _, suffix = name.rpartition("_")
    return stem.replace("__", "/") + "." + suffix


def messages(findings):
    return ["%s:%d: %s" % (f.path, f.line, f.message) for f in findings]

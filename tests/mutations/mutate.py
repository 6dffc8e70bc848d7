"""Puts mistakes into copies of sources, each to be chosen at run time.

  python3 tests/mutations/mutate.py OUT.cc LIST.txt...

A list names sources and, for each, mistakes that a reader of the paper might
make (README.md has the form). OUT.cc holds a copy of every source, in which

  right   became   (ORDO_MUTANT(7) ? (wrong) : (right))

and the table that mutants.h declares. So all mistakes together cost one
compilation. Ends with a message where a list does not fit the sources.
"""

import dataclasses
import os
import re
import sys

_PREAMBLE = """\
// Made by tests/mutations/mutate.py.
#include "tests/mutations/mutants.h"

#define ORDO_MUTANT(number) (::ordo::tests::mutations::active == (number))
"""


class Wrong(Exception):
    """A list that does not fit; the message says where and why."""


@dataclasses.dataclass
class Mistake:
    what: str
    tests: str
    place: str  # LIST.txt:LINE
    right: str = ""
    wrong: str = None
    number: int = 0


def read_list(name, text):
    """[(source, its mistakes)] of one list."""
    sources = []
    tests = None
    for count, line in enumerate(text.splitlines(), 1):
        place = "%s:%d" % (name, count)
        key, _, value = line.partition(" ")
        last = sources[-1][1][-1] if sources and sources[-1][1] else None
        if not line.strip() or key == "#":
            continue
        if key == "file":
            sources.append((value, []))
            tests = None
        elif key == "tests":
            tests = value
        elif key == "mistake":
            if not sources or not tests:
                raise Wrong(place + ": say `file` and `tests` first")
            sources[-1][1].append(Mistake(value, tests, place))
        elif key == "-" and last and last.wrong is None:
            last.right += " " + value
        elif key == "+" and last and last.right:
            last.wrong = ((last.wrong or "") + " " + value).strip()
        else:
            raise Wrong("%s: `%s` is none of file, tests, mistake, -, +, or "
                        "not in this order" % (place, line))
    for _, mistakes in sources:
        for mistake in mistakes:
            if mistake.wrong is None:
                raise Wrong("%s: `%s` has no line +" %
                            (mistake.place, mistake.what))
    return sources


_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\d[\w.]*|\w+|\S')


def pattern_of(code):
    """What matches `code` however it is broken into lines."""
    pattern = ""
    before = ""
    for token in _TOKEN.findall(code):
        words = re.match(r"\w", token) and re.search(r"\w$", before)
        pattern += (r"\s+" if words else r"\s*" if before else "")
        pattern += re.escape(token)
        before = token
    if re.match(r"\w", code.strip()):
        pattern = r"(?<!\w)" + pattern
    if re.search(r"\w$", code):
        pattern += r"(?!\w)"
    return re.compile(pattern)


@dataclasses.dataclass
class Span:
    start: int
    end: int
    mistakes: list
    inner: list = dataclasses.field(default_factory=list)


def spans_of(source, text, mistakes):
    """The places to change, smaller ones inside larger ones."""
    by_place = {}
    absent = []
    for mistake in mistakes:
        found = list(pattern_of(mistake.right).finditer(text))
        if len(found) == 1:
            by_place.setdefault(found[0].span(), []).append(mistake)
        else:
            absent.append("%s: %s has `%s` %d times, not once: correct the list" %
                          (mistake.place, source, mistake.right.strip(),
                           len(found)))
    if absent:
        raise Wrong("\n".join(absent))
    outermost = Span(0, len(text), [])
    for start, end in sorted(by_place, key=lambda place: (place[0], -place[1])):
        outer = outermost
        while outer.inner and start < outer.inner[-1].end:
            outer = outer.inner[-1]
            if end > outer.end:
                raise Wrong("%s: `%s` and `%s` overlap in %s" %
                            (by_place[start, end][0].place,
                             by_place[start, end][0].what,
                             outer.mistakes[0].what, source))
        outer.inner.append(Span(start, end, by_place[start, end]))
    return outermost.inner


def changed(text, start, end, spans):
    """text[start:end] with its mistakes."""
    pieces = []
    for span in spans:
        right = changed(text, span.start, span.end, span.inner)
        pieces += [text[start:span.start], choice(span.mistakes, right)]
        start = span.end
    return "".join(pieces + [text[start:end]])


def choice(mistakes, right):
    if right.rstrip().endswith(";"):
        wrong = "".join("if (ORDO_MUTANT(%d)) { %s } else " %
                        (mistake.number, mistake.wrong) for mistake in mistakes)
        return "{ %s{ %s } }" % (wrong, right)
    wrong = "".join("ORDO_MUTANT(%d) ? (%s) : " % (mistake.number, mistake.wrong)
                    for mistake in mistakes)
    return "(%s(%s))" % (wrong, right)


_UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$",
                      re.MULTILINE | re.DOTALL)
_NAMES = (
    re.compile(r"^(?:enum class|class|struct|enum) (\w+)", re.MULTILINE),
    re.compile(r"^(?:constexpr|const)\b[^=({]*?(\w+)(?:\[\])? = ", re.MULTILINE),
    re.compile(r"^using (\w+) = ", re.MULTILINE),
    re.compile(r"^(?!template|using|struct|class|enum|const)[\w:][\w:<>,&* ]*?"
               r"(\w+)\(", re.MULTILINE),
)


def local_names(text):
    """What a source declares for itself alone, in its unnamed namespace."""
    inside = "".join(_UNNAMED.findall(text))
    return {name for pattern in _NAMES for name in pattern.findall(inside)}


_INCLUDE = re.compile(r"^#include.*$", re.MULTILINE)


def copies(sources):
    """One file of all sources, [(path, text, mistakes)]."""
    number = 0
    for _, _, mistakes in sources:
        for mistake in mistakes:
            number += 1
            mistake.number = number
    includes = sorted({line for _, text, _ in sources
                       for line in _INCLUDE.findall(text)})
    names = [local_names(text) for _, text, _ in sources]
    parts = [_PREAMBLE, "\n".join(includes), "\n"]
    for index, (path, text, mistakes) in enumerate(sources):
        others = set().union(*names[:index], *names[index + 1:])
        stem = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
        shared = sorted(names[index] & others)
        # What several sources have in their unnamed namespaces.
        parts += ["#define %s %s_of_%s\n" % (name, name, stem)
                  for name in shared]
        body = _INCLUDE.sub("", text)
        parts += ['#line 1 "%s"\n' % path,
                  changed(body, 0, len(body), spans_of(path, body, mistakes))]
        parts += ["#undef %s\n" % name for name in shared]
    parts.append(table([(path, mistake) for path, _, mistakes in sources
                        for mistake in mistakes]))
    return "".join(parts)


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def table(rows):
    lines = ["    {%d, %s, %s, %s}," % (mistake.number, _quoted(path),
                                        _quoted(mistake.what),
                                        _quoted(_filter(mistake.tests)))
             for path, mistake in rows]
    return "\n".join(
        ["namespace ordo::tests::mutations {", "int active = 0;",
         "const std::vector<Mutant>& Mutants() {",
         "  static const auto* const mutants = new std::vector<Mutant>{"] +
        lines + ["  };", "  return *mutants;", "}",
                 "}  // namespace ordo::tests::mutations", ""])


def _filter(tests):
    """`Suite` and `Suite.Test` as a filter of GoogleTest."""
    return ":".join(name if "." in name else name + ".*"
                    for name in tests.split())


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(arguments):
    try:
        lists = [source for path in arguments[2:]
                 for source in read_list(path, read(path))]
        paths = [path for path, _ in lists]
        for path in paths:
            if paths.count(path) > 1:
                raise Wrong("%s is named twice: put its mistakes together" %
                            path)
        result = copies([(path, read(path), mistakes)
                         for path, mistakes in lists])
    except (Wrong, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

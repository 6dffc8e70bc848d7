"""Reads messages and enums of .proto files, with the comments above them.

It knows what those of this repository are made of: proto3 with options in
brackets, comments on lines of their own above what they are about, no groups,
no extensions.
"""

import dataclasses
import re


@dataclasses.dataclass
class Field:
    name: str
    type: str  # As in the file: "int32", "Model", "map<string, string>".
    label: str  # "optional", "repeated", or empty.
    behaviour: str  # "REQUIRED", "OPTIONAL", "OUTPUT_ONLY", or empty.
    comment: str


@dataclasses.dataclass
class Message:
    name: str  # With its package and the messages around it.
    comment: str
    fields: list


@dataclasses.dataclass
class Enum:
    name: str
    comment: str
    values: list  # (name, comment).


class ProtoError(Exception):
    """The file has something that this does not know."""


_TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|[\w.]+|[-{}\[\]()<>=;:,*]|\S')
_BEHAVIOUR = re.compile(r"field_behavior\s*\)\s*=\s*(\w+)")


class _Reader:

    def __init__(self, text, name):
        self.name = name
        self.tokens = _TOKEN.findall(text)
        self.at = 0
        self.package = ""
        self.messages = {}
        self.enums = {}

    def comment(self):
        """The comment before the next token, as one line."""
        lines = []
        while self.tokens[self.at:] and self.tokens[self.at].startswith("//"):
            lines.append(self.tokens[self.at][2:].strip())
            self.at += 1
        return " ".join(lines)

    def take(self, wanted=None):
        if self.at == len(self.tokens):
            raise ProtoError("%s: ends too early" % self.name)
        token = self.tokens[self.at]
        if wanted is not None and token != wanted:
            raise ProtoError("%s: '%s' where '%s' belongs" %
                             (self.name, token, wanted))
        self.at += 1
        return token

    def until(self, end):
        """All tokens before `end`, which is taken too."""
        taken = []
        while self.tokens[self.at:] and self.tokens[self.at] != end:
            taken.append(self.take())
        self.take(end)
        return taken

    def block(self):
        """Passes over what stands in braces."""
        depth = 0
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return

    def file(self):
        while self.at < len(self.tokens):
            comment = self.comment()
            if self.at == len(self.tokens):
                return
            word = self.take()
            if word == "package":
                self.package = self.until(";")[0]
            elif word in ("syntax", "import", "option"):
                self.until(";")
            elif word == "message":
                self.message(self.package, comment)
            elif word == "enum":
                self.enum(self.package, comment)
            elif word == "service":
                self.take()
                self.block()
            else:
                raise ProtoError("%s: '%s' is unknown" % (self.name, word))

    def message(self, scope, comment):
        name = scope + "." + self.take()
        fields = []
        self.messages[name] = Message(name, comment, fields)
        self.take("{")
        one_of = 0
        while True:
            comment = self.comment()
            word = self.take()
            if word == "}":
                if one_of == 0:
                    return
                one_of -= 1
            elif word == "message":
                self.message(name, comment)
            elif word == "enum":
                self.enum(name, comment)
            elif word == "oneof":
                one_of += 1
                self.until("{")
            elif word in ("reserved", "option"):
                self.until(";")
            else:
                fields.append(self.field(word, comment))

    def field(self, word, comment):
        label = ""
        if word in ("optional", "repeated"):
            label, word = word, self.take()
        if word == "map":
            self.take("<")
            word = "map<%s>" % "".join(self.until(">")).replace(",", ", ")
        name = self.take()
        self.take("=")
        options = " ".join(self.until(";"))
        behaviour = _BEHAVIOUR.search(options)
        return Field(name, word, label, behaviour.group(1) if behaviour else "",
                     comment)

    def enum(self, scope, comment):
        name = scope + "." + self.take()
        values = []
        self.take("{")
        while True:
            comment_of_value = self.comment()
            word = self.take()
            if word == "}":
                break
            if word in ("reserved", "option"):
                self.until(";")
                continue
            self.until(";")
            values.append((word, comment_of_value))
        self.enums[name] = Enum(name, comment, values)


class Protos:
    """Messages and enums of several files, by their whole names."""

    def __init__(self, texts):
        """`texts`: contents by path."""
        self.messages = {}
        self.enums = {}
        for path, text in texts.items():
            reader = _Reader(text, path)
            reader.file()
            self.messages.update(reader.messages)
            self.enums.update(reader.enums)

    def find(self, name, scope):
        """The message or enum that `name` means inside of `scope`, or None."""
        parts = scope.split(".")
        for count in range(len(parts), -1, -1):
            whole = ".".join(parts[:count] + [name])
            if whole in self.messages:
                return self.messages[whole]
            if whole in self.enums:
                return self.enums[whole]
        return None

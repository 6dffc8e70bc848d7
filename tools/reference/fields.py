"""Pages about messages: a table of the fields of each, from its .proto file."""

import re

from tools.reference import protos

_WORDS_OF_TYPE = {
    "bool": "true or false",
    "double": "number",
    "float": "number",
    "int32": "integer",
    "int64": "integer",
    "string": "text",
    "uint32": "integer",
    "uint64": "integer",
    "google.protobuf.Duration": "duration",
    "google.protobuf.Value": "any value",
}
_MAP = re.compile(r"map<(\S+), (\S+)>$")

_DEFAULT = (
    re.compile(r"(`[^`]+`) \(default\b"),
    re.compile(r"(?<!the )(?<!its )(?<!their )\b[Dd]efault(?::? (?=\S))"
               r"((?:on a \w+: )?[^;]*?)(?=\.(?:\s|$)|;|: |$)"),
)
_NUMBER = r"-?\d[\d.^]*(?:e-?\d+)?(?: 000)*"
_UNIT = r"(?: (?:ms|s|h|days|MiB|bytes)\b)?"
_LIMITS = (
    re.compile(r"%s%s(?:\.\.| to )%s%s" % (_NUMBER, _UNIT, _NUMBER, _UNIT)),
    re.compile(r"[\[(]%s, ?%s[\])]" % (_NUMBER, _NUMBER)),
    re.compile(r"\b[Aa]t (?:most|least) \d[\d ]*(?: ?[A-Za-z]+)?"),
)


def default_of(comment):
    """What a comment says of the default; empty where it says nothing."""
    for pattern in _DEFAULT:
        found = pattern.search(comment)
        if found:
            return found.group(1).strip()
    return ""


def limits_of(comment):
    """Ranges and counts that a comment names, in its order."""
    found = {}
    for pattern in _LIMITS:
        for match in pattern.finditer(comment):
            text = re.sub(r"(\d)\.$", r"\1", match.group(0).strip())
            found.setdefault(match.start(), text[0].lower() + text[1:])
    return "; ".join(dict.fromkeys(text for _, text in sorted(found.items())))


def cell(text):
    """Text of a comment as it stands in a table of Markdown."""
    parts = re.split(r"(`[^`]*`)", text)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"([*_<>])", _escape, parts[index])
    return "".join(parts).replace("|", "\\|")


def _escape(match):
    sign = match.group(1)
    return {"<": "&lt;", ">": "&gt;"}.get(sign, "\\" + sign)


class Page:
    """Tables of a message and of all that it is made of."""

    def __init__(self, known, roots):
        """`known`: Protos; `roots`: whole names, each first of its own part."""
        self.known = known
        self.found = []
        for root in roots:
            self._collect(known.messages[root])

    def _collect(self, item):
        # Breadth first: what a file names before what that is made of.
        queue = [item]
        while queue:
            item = queue.pop(0)
            if item in self.found:
                continue
            self.found.append(item)
            if isinstance(item, protos.Enum):
                continue
            for field in self._shown(item):
                for name in self._types(field):
                    part = self.known.find(name, item.name)
                    if part is not None:
                        queue.append(part)

    @staticmethod
    def _shown(message):
        return [field for field in message.fields
                if field.behaviour != "OUTPUT_ONLY"]

    @staticmethod
    def _types(field):
        in_map = _MAP.match(field.type)
        return in_map.groups() if in_map else (field.type,)

    @staticmethod
    def title(item):
        """The name without its package: "Sweep.Values"."""
        return ".".join(part for part in item.name.split(".")
                        if part[0].isupper())

    def _type(self, name, scope):
        item = self.known.find(name, scope)
        if item is None:
            return _WORDS_OF_TYPE.get(name, name)
        title = self.title(item)
        return "[%s](#%s)" % (title, title.lower().replace(".", ""))

    def _type_of(self, field, scope):
        types = [self._type(name, scope) for name in self._types(field)]
        if len(types) == 2:
            return "map of %s by %s" % (types[1], types[0])
        return ("list of " if field.label == "repeated" else "") + types[0]

    def tables(self):
        return "\n".join(self._table(item) for item in self.found)

    def _table(self, item):
        head = "## %s\n\n%s\n\n" % (self.title(item), cell(item.comment))
        if isinstance(item, protos.Enum):
            lines = ["| value | meaning |", "|---|---|"]
            # As people write them, without the one that stands for "not given".
            lines += ["| `%s` | %s |" % (name.lower(), cell(comment))
                      for name, comment in item.values
                      if not name.endswith("_UNSPECIFIED")]
        else:
            lines = ["| field | type | default | limits | meaning |",
                     "|---|---|---|---|---|"]
            for field in self._shown(item):
                default = ("required" if field.behaviour == "REQUIRED"
                           else default_of(field.comment))
                lines.append("| `%s` | %s | %s | %s | %s |" % (
                    field.name, self._type_of(field, item.name), cell(default),
                    cell(limits_of(field.comment)), cell(field.comment)))
        return head + "\n".join(lines) + "\n"

"""The commands of a page of Markdown.

They stand in indented or fenced blocks. A line of such a block is a command
when its first word is a program (or an assignment); all lines of a block that
says `bash` or `sh` are. Files and output, which are not, stand beside them.
"""

import dataclasses
import re

_SHELLS = ("bash", "sh", "shell", "console")
_NO_SHELLS = ("yaml", "json", "text", "toml", "ini", "mermaid", "css")
_PROGRAMS = (
    "apt", "apt-get", "bazel", "buildah", "cat", "cd", "chmod", "cmake", "cp",
    "curl", "docker", "dpkg", "export", "for", "git", "grafana", "grep", "helm",
    "install", "journalctl", "kubectl", "ldd", "ls", "make", "mkdir", "mkdocs",
    "mv", "openssl", "podman", "prometheus", "promtool", "ps", "python3", "rm",
    "rsync", "sbatch", "scp", "sed", "skopeo", "source", "squeue", "srun",
    "ssh", "sudo", "systemctl", "tar", "unzip", "useradd", "wait", "wget",
    "while")
_COMMAND = re.compile(
    # Assignments, which are all of a line or stand before a program; names with
    # both cases are fields of a unit.
    r"(?:(?:[a-z_][a-z_0-9]*|[A-Z][A-Z_0-9]*)=\S+(?:\s+(?:#.*)?|$))*"
    r"(?:(?:%s)(?=\s|$)|(?:\./|bazel-bin/)?ordo(?:-\w+)*(?=\s|$)|tools/\w|$)" %
    "|".join(map(re.escape, _PROGRAMS)))

_DATA = re.compile(r"""\s*(?:- *)?(?:[\w."'-]+:(?:\s|$)|[{\[<}\]])""")


@dataclasses.dataclass(frozen=True)
class Command:
    path: str
    line: int
    text: str  # As it stands there, without the block's indentation.

    def __str__(self):
        return "%s:%d: %s" % (self.path, self.line, self.text)


def _blocks(text):
    """(language, [(number, line)]) of each block."""
    found, fence, indented = [], None, False
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.lstrip()
        if fence is not None:
            if stripped.startswith(fence):
                fence = None
            else:
                found[-1][1].append((number, line))
        elif stripped.startswith(("```", "~~~")):
            fence = stripped[:3]
            found.append((stripped[3:].strip(), []))
            indented = False
        elif line.startswith("    "):
            if not indented:
                found.append(("", []))
            found[-1][1].append((number, line[4:]))
            indented = True
        else:
            indented = False
    return found


def _joined(lines):
    """(number, text): with the lines that a line goes on in."""
    whole = None
    for number, line in lines:
        if whole is None:
            whole = (number, line)
        else:
            whole = (whole[0], whole[1] + "\n" + line)
        text = whole[1]
        if text.endswith("\\") or (
                re.match(r"(for|while)\b", text) and
                not re.search(r"^done\b", text, re.MULTILINE)):
            continue
        yield whole
        whole = None
    if whole is not None:
        yield whole


def _lines(text):
    """(number, text, whether it is a command) of what may be one."""
    for language, lines in _blocks(text):
        if language in _NO_SHELLS:
            continue
        for number, line in _joined(lines):
            bare = line.strip()
            if bare and not bare.startswith("#"):
                yield (number, line, language in _SHELLS or
                       _COMMAND.match(bare) is not None)


def commands(path, text):
    """The commands of a page, in its order."""
    return [Command(path, number, line)
            for number, line, is_command in _lines(text) if is_command]


def others(path, text):
    """Lines that are neither commands nor part of a YAML or JSON file."""
    return [Command(path, number, line)
            for number, line, is_command in _lines(text)
            if not is_command and not _DATA.match(line)]

"""The namespace follows the folder: scheduler/core is ordo::scheduler::core."""

import re

from tools.tidy.shape import blocks
from tools.tidy.source import Finding

# Folders without a namespace of their own, and the folder whose they use:
# splitting these is for the reader of the tree, not for the writer of names.
FOLDED = (
    (re.compile(r"^base/\w+"), "base"),
    (re.compile(r"^kernels/common\b"), "kernels"),
    (re.compile(r"^scheduler/main\b"), "scheduler"),
    (re.compile(r"^services/cli/commands\b"), "services/cli"),
)


def namespace_of(folder):
    for pattern, other in FOLDED:
        folder = pattern.sub(other, folder)
    return "::".join(["ordo"] + folder.split("/"))


def check_namespaces(tree):
    findings = []
    for file in tree.code():
        wanted = namespace_of(file.folder)
        opened = [(first, last, head[len("namespace"):].strip())
                  for kind, first, last, head, depth in blocks(file.code[1])
                  if kind == "namespace" and depth == 0 and
                  head.startswith("namespace")]
        for first, last, name in opened:
            # Deeper ones are a matter of the file; one without a name is
            # seen nowhere else.
            if not name or (name + "::").startswith(wanted + "::"):
                continue
            inside = "\n".join(file.code[1][first:last - 1])
            if not name.startswith("ordo") and "{" not in inside:
                continue  # Forward declarations of a library's types.
            findings.append(
                Finding(file.path, first, "namespace %s: in this folder it is "
                        "%s" % (name, wanted)))
        if not opened and file.path.endswith((".h", ".cuh")):
            findings.append(
                Finding(file.path, 1, "has no namespace: it is " + wanted))
    return findings


RULES = (check_namespaces,)

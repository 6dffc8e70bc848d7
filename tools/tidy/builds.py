"""BUILD files and documents: nothing dead, public, or opened to strangers."""

import os
import re

from tools.tidy.layers import FREE, LAYERS, folder_of
from tools.tidy.source import CODE_SUFFIXES, Finding

_SOURCES = CODE_SUFFIXES + (".proto", ".py", ".bzl", ".textproto")

# Folder -> the package groups (of the root BUILD.bazel) it may open itself to.
GROUPS = {
    "base": ("base_users",),
    "kernels": ("kernels_users", "kernels_probe_users"),
    "model": ("model_users",),
    "model/catalog": ("model_catalog_users", "result_key_users"),
    "model/cost": ("model_users", "model_cost_users"),
    "model/formats": ("model_users", "model_formats_users"),
    "model/text": ("model_users", "question_layouts_users"),
    "proto": ("proto_users",),
    "proto/ordo/training": ("proto_training_users",),
    "report": ("report_users",),
    "report/gate": ("report_users", "report_gate_users"),
    "scheduler": ("scheduler_users", "scheduler_interface_users"),
    "scheduler/core": ("scheduler_core_users",),
    "scheduler/policy": ("scheduler_core_users",),
    "services": ("services_users",),
    "third_party": ("everything",),
    "worker/agent": ("worker_agent_users",),
    "worker/supervisor": ("worker_supervisor_users",),
    "worker/trainer": ("worker_trainer_users",),
}
# What any package may open a target to: programs to the root package.
_ANYWHERE = ("//:binaries", "//visibility:private")


def check_dead_files(tree):
    findings = []
    for path in sorted(tree.files):
        if not path.endswith(_SOURCES) or path.endswith(".bzl"):
            continue
        build = tree.package_of(path)
        relative = os.path.relpath(path, build.package or ".") if build else path
        if build is None or not build.names(relative):
            findings.append(
                Finding(path, 1, "is in no rule of a BUILD.bazel: add it to "
                        "one, or delete it"))
    return findings


def _visibilities(build):
    if build.default_visibility is not None:
        yield "package", 1, build.default_visibility
    for target in build.targets:
        if target.kind != "package_group" and "visibility" in target.arguments:
            yield target.name, target.line, target.arguments["visibility"]


def _may_open_to(package, label):
    if label in _ANYWHERE:
        return True
    if label.startswith("//:"):
        folder = folder_of(package, GROUPS)
        return folder is not None and label[3:] in GROUPS[folder]
    # A named package of the same top folder; tests and tools see everything,
    # and what they have is for tests only.
    opened, _, kind = label[2:].partition(":")
    return (kind in ("__pkg__", "__subpackages__") and bool(opened) and
            (package.startswith("tests") or
             opened.split("/")[0] in ("tests", "tools", package.split("/")[0])))


def check_visibility(tree):
    findings = []
    for folder, build in sorted(tree.builds.items()):
        if folder == "" or folder.startswith("third_party/"):
            continue
        for name, line, labels in _visibilities(build):
            for label in labels:
                if not _may_open_to(folder, label):
                    findings.append(
                        Finding(build.path, line,
                                "%s may not be visible to %s: see GROUPS in "
                                "tools/tidy/builds.py and the root BUILD.bazel" %
                                (name, label)))
    return findings


def _members(groups, name):
    """(packages, exceptions) of a package group and those it includes."""
    packages = [package.replace("/...", "")
                for package in groups[name].arguments.get("packages") or []]
    members = {package[2:] for package in packages if package[0] != "-"}
    exceptions = {package[3:] for package in packages if package[0] == "-"}
    for other in groups[name].arguments.get("includes") or []:
        more, fewer = _members(groups, other.lstrip(":"))
        members |= more
        exceptions |= fewer
    return members, exceptions


def _inside(folder, folders):
    return any((folder + "/").startswith(other + "/") for other in folders)


def _may_see(layer, opened):
    return any(_inside(opened, [allowed]) or _inside(allowed, [opened])
               for allowed in LAYERS[layer][0])


def check_groups(tree):
    """Who is in a package group may, by LAYERS, include what it opens."""
    if "" not in tree.builds:
        return []
    groups = {target.name: target for target in tree.builds[""].targets
              if target.kind == "package_group"}
    findings = []
    for opened, name in [(folder, name) for folder, names in GROUPS.items()
                         for name in names if name in groups]:
        top = opened.split("/")[0]
        if top in FREE:
            continue
        packages, exceptions = _members(groups, name)
        for package in packages:
            if package.split("/")[0] in FREE + (top,):
                continue
            # Of the package, and of what lies below it.
            layers = {folder_of(package, LAYERS) or package} | {
                folder for folder in LAYERS if _inside(folder, [package])}
            for layer in sorted(layers):
                if layer in LAYERS and not _inside(layer, exceptions) and (
                        not _may_see(layer, opened)):
                    findings.append(
                        Finding("BUILD.bazel", groups[name].line,
                                "%s opens %s to %s, but LAYERS of "
                                "tools/tidy/layers.py do not" %
                                (name, opened, layer)))
    return findings


def check_rules(tree):
    """Own C++ goes through tools/build/rules.bzl, which sets the warnings."""
    findings = []
    for target in tree.targets():
        if (target.kind in ("cc_library", "cc_test", "cc_binary", "py_test") and
                not target.package.startswith("third_party")):
            findings.append(
                Finding(target.package + "/BUILD.bazel", target.line,
                        "%s: use ordo_%s (tools/build/rules.bzl)" %
                        (target.name, target.kind)))
    return findings


_LINK = re.compile(r"\]\(([^)#:\s]+)[^)]*\)")
# `path/from/the/root.h`: with a folder and a suffix, and no metavariable.
_PATH = re.compile(r"`([a-z_]+(?:/[a-zA-Z_0-9.-]+)+\.(?:h|cc|md|proto|sh|txt|py|yaml))`")


def check_documents(tree):
    """Links and paths in documents name files that exist."""
    findings = []
    for path, file in sorted(tree.files.items()):
        if not path.endswith(".md"):
            continue
        for number, line in enumerate(file.lines, 1):
            for link in _LINK.findall(line):
                named = os.path.normpath(os.path.join(file.folder, link))
                if not any(other == named or other.startswith(named + "/")
                           for other in tree.files):
                    findings.append(
                        Finding(path, number, "link to %s, which is not there" %
                                link))
            for named in _PATH.findall(line):
                # Protos are cited by their package, too.
                if (named not in tree.files and
                        "proto/ordo/" + named not in tree.files and
                        not re.match(r"x[._]", os.path.basename(named))):
                    findings.append(
                        Finding(path, number, "names %s, which is not there" %
                                named))
    return findings


RULES = (check_dead_files, check_visibility, check_groups, check_rules,
         check_documents)

"""Who may include whom, on #include lines and on deps of BUILD files.

The root BUILD.bazel says the same by visibility. This check is finer (single
headers, outside libraries, what is reached through others) and holds where
Bazel's layering_check does not: g++ has none.
"""

import re

from tools.tidy.source import Finding

# Outside libraries, by the start of their headers and by their targets.
LIBRARIES = {
    "LibTorch": (r"(ATen|c10|caffe2|torch)/", {"torch"}),
    "gRPC": (r"(grpc|grpcpp)/|.*\.grpc\.pb\.h$", {"grpc", "grpc_reflection"}),
    "Abseil": (r"absl/", {"abseil"}),
    "Protobuf": (r"google/|.*\.pb\.h$", {"protobuf", "googleapis_cc"}),
    "Prometheus": (r"prometheus/", {"prometheus"}),
    "SQLite": (r"sqlite3\.h$", {"sqlite3"}),
    "yaml-cpp": (r"yaml-cpp/", {"yaml_cpp"}),
    "spdlog": (r"(spdlog|fmt)/", {"spdlog"}),
    "OpenSSL": (r"openssl/", {"openssl", "openssl_ssl"}),
    "isa-l": (r"isa-l", {"isal"}),
    "Boost": (r"boost/", {"boost_math"}),
    "CUTLASS": (r"(cutlass|cute)/", {"cutlass"}),
    "zlib": (r"zlib\.h$", {"zlib"}),
    "SentencePiece": (r"sentencepiece_\w+\.h$", {"sentencepiece"}),
    "PCRE2": (r"pcre2\.h$", {"pcre2"}),
    "zstd": (r"zstd\.h$", {"zstd"}),
}
CONTROL_PLANE = ("Abseil", "Protobuf", "gRPC")
# What of base is pure: functions of their arguments.
PURE_BASE = ("base/backoff", "base/check.h", "base/status", "base/text",
             "base/trace", "base/units", "base/version/worker_protocol.h")

# Folder -> what it may include of this project, and of outside libraries. The
# longest folder that is a prefix of a file's path counts. A folder may always
# include itself.
LAYERS = {
    "base": ((), ("Abseil", "Protobuf")),
    "base/certificates": (("base",), ("Abseil", "OpenSSL")),
    "base/digest": (("base",), ("Abseil", "OpenSSL", "isa-l")),
    "base/log": (("base",), ("Abseil", "spdlog")),
    "base/metrics": (("base",), ("Abseil", "OpenSSL", "Prometheus")),
    "base/rpc": (("base",), CONTROL_PLANE + ("OpenSSL",)),
    "base/yaml": (("base",), ("Abseil", "Protobuf", "yaml-cpp")),
    "proto": ((), ("Protobuf", "gRPC")),
    "kernels": (("base",), ("Abseil", "CUTLASS")),
    "kernels/torch": (("base", "kernels"), ("Abseil", "CUTLASS", "LibTorch")),
    "model": (("base", "kernels", "model", "proto/ordo/training"),
              ("Abseil", "Protobuf", "LibTorch")),
    "model/catalog": (("base", "proto/ordo/training"), ("Abseil", "Protobuf")),
    "model/text": (("base", "model/tasks", "model/text"), ("Abseil",)),
    "model/text/source": (("base", "model/text"), ("Abseil", "zlib", "zstd")),
    "model/text/tokenizers": (("base", "model/tasks", "model/text"),
                              ("Abseil", "PCRE2")),
    # One library, loaded into a scope of its own, is linked with it.
    "model/text/tokenizers/sentence_piece": (
        ("base", "model/tasks", "model/text"), ("Abseil", "SentencePiece")),
    "report": (("base", "proto"), ("Abseil", "Protobuf")),
    "report/stats": (("base",), ("Abseil", "Boost")),
    "scheduler": (("base", "proto", "scheduler", "services"), CONTROL_PLANE),
    "scheduler/core": (PURE_BASE + ("model/catalog/headline.h",
                                    "model/catalog/result_key.h", "proto",
                                    "scheduler/past_usage.h",
                                    "scheduler/policy",
                                    "scheduler/scheduler.h"),
                       ("Abseil", "Protobuf")),
    "scheduler/policy": (PURE_BASE + ("proto",), ("Abseil", "Protobuf")),
    "scheduler/store": (("base", "proto", "scheduler/core"),
                        ("Abseil", "Protobuf", "SQLite")),
    "scheduler/server": (("base", "proto", "scheduler"), CONTROL_PLANE),
    "services": (("base", "proto", "model/catalog", "model/cost/cost.h",
                  "model/formats/config_file.h",
                  "model/formats/safetensors_header.h",
                  "model/text/questions/layouts.h",
                  "scheduler/bound_scheduler.h", "scheduler/past_usage.h",
                  "scheduler/scheduler.h", "services"), CONTROL_PLANE),
    # Whether a gate can say anything is known when it is submitted.
    "services/spec": (("base", "proto", "model/catalog", "model/cost/cost.h",
                       "report/gate/decision.h",
                       "report/gate/power.h", "services/spec"),
                      CONTROL_PLANE),
    "services/cli": (("base", "proto", "report", "model/catalog",
                      "model/formats/config_file.h",
                      "services/checkpoints/folder_check.h",
                      "services/checkpoints/upload_list.h",
                      "services/data/data_check.h",
                      "services/queues/queue_check.h", "services/spec"),
                     CONTROL_PLANE),
    "worker/agent": (("base", "proto", "worker/supervisor"), CONTROL_PLANE),
    "worker/supervisor": ((), ()),
    "worker/trainer": (("base", "kernels/common/device_name.h",
                        "kernels/common/left_out.h",
                        "kernels/cuda/load.h", "kernels/probe", "model",
                        "proto/ordo/training", "report"),
                       ("Abseil", "Protobuf", "LibTorch")),
}
# These see everything.
FREE = ("tests", "tools", "third_party")

# What a folder's programs must not even reach through others.
UNREACHABLE = {
    "base": ("LibTorch",),
    "model/catalog": ("LibTorch", "gRPC"),
    "model/text": ("LibTorch", "gRPC"),
    "report": ("LibTorch",),
    "scheduler": ("LibTorch",),
    # Message types bring gRPC's library along; its headers stay banned.
    "scheduler/core": ("LibTorch", "spdlog", "SQLite", "Prometheus"),
    "scheduler/policy": ("LibTorch", "spdlog", "SQLite", "Prometheus"),
    "services": ("LibTorch",),
    "worker/agent": ("LibTorch",),
    "worker/supervisor": ("LibTorch", "gRPC", "Abseil", "Protobuf", "spdlog"),
    # SentencePiece brings a second copy of Protocol Buffers: what links it is
    # loaded at run time.
    "worker/trainer": ("gRPC", "SentencePiece"),
}

_INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)[">]')
_PROJECT = ("base/", "kernels/", "model/", "proto/", "report/", "scheduler/",
            "services/", "tests/", "tools/", "worker/")


def _inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_of(path, table):
    """The longest key of `table` that holds `path`, or None."""
    folders = [folder for folder in table if _inside(path, folder)]
    return max(folders, key=len) if folders else None


def library_of_header(header):
    if header.startswith(_PROJECT) and not header.endswith(".grpc.pb.h"):
        return None
    for library, (pattern, _) in LIBRARIES.items():
        if re.match(pattern, header):
            return library
    return None


def _allowed_project(folder, target, is_test):
    if _inside(target, folder):
        return True
    if is_test and (target.startswith("base/") or "/testing/" in target):
        return folder != "worker/supervisor" or target.startswith("base/")
    return any(_inside(target, allowed) for allowed in LAYERS[folder][0])


def check_includes(tree):
    findings = []
    for file in tree.code():
        folder = folder_of(file.path, LAYERS)
        if folder is None:
            if not file.path.startswith(tuple(f + "/" for f in FREE)):
                findings.append(
                    Finding(file.path, 1, "its folder is not in LAYERS of "
                            "tools/tidy/layers.py: say what it may include"))
            continue
        for number, line in enumerate(file.code[0], 1):
            match = _INCLUDE.match(line)
            if not match:
                continue
            header = match.group(1)
            library = library_of_header(header)
            if header.startswith(_PROJECT):
                if not _allowed_project(folder, header, file.is_test):
                    findings.append(
                        Finding(file.path, number,
                                "%s may not include %s (LAYERS in "
                                "tools/tidy/layers.py)" % (folder, header)))
                    continue
            if library and library not in LAYERS[folder][1] and not (
                    file.is_test and library not in ("LibTorch", "gRPC")):
                findings.append(
                    Finding(file.path, number, "%s may not use %s (%s)" %
                            (folder, library, header)))
    return findings


def _library_of_label(label):
    name = label.split(":")[-1]
    if label.startswith("//third_party:"):
        for library, (_, names) in LIBRARIES.items():
            if name in names:
                return library
    return None


def _deps(target):
    deps = target.labels("deps")
    if target.arguments.get("torch"):
        deps = deps + ["//third_party:torch"]
    if target.kind == "ordo_proto_library":
        grpc = target.arguments.get("grpc")
        deps = deps + ["//third_party:grpc" if grpc else "//third_party:protobuf"]
    return deps


def _is_test_target(target):
    return bool(target.kind.endswith("_test") or
                target.arguments.get("testonly") or
                target.package.endswith("/testing"))


def check_deps(tree):
    """Direct deps of BUILD files against LAYERS."""
    findings = []
    for target in tree.targets():
        folder = folder_of(target.package, LAYERS)
        if folder is None:
            continue
        is_test = _is_test_target(target)
        for dep in _deps(target):
            package, _, name = dep[2:].partition(":")
            path = package + "/" + name
            library = _library_of_label(dep)
            where = "%s/BUILD.bazel" % target.package
            if library and library not in LAYERS[folder][1] and not (
                    is_test and library not in ("LibTorch", "gRPC")):
                findings.append(
                    Finding(where, target.line, "%s: %s may not use %s" %
                            (target.name, folder, library)))
            elif dep.startswith("//") and (path + "/").startswith(_PROJECT):
                # scheduler/scheduler.h is the target //scheduler:scheduler.
                headers = {path, path + ".h", package}
                if not any(_allowed_project(folder, header, is_test)
                           for header in headers):
                    findings.append(
                        Finding(where, target.line, "%s: %s may not use %s" %
                                (target.name, folder, dep)))
    return findings


def check_reach(tree):
    """What targets reach through their deps, against UNREACHABLE."""
    graph = {target.label: _deps(target) for target in tree.targets()}
    findings = []
    for target in tree.targets():
        banned = [
            library for folder, libraries in UNREACHABLE.items()
            if _inside(target.package, folder) for library in libraries
        ]
        if not banned or _is_test_target(target):
            continue
        came_from = {target.label: None}
        queue = [target.label]
        for label in queue:
            library = _library_of_label(label)
            if library in banned:
                chain = []
                while label:
                    chain.append(label)
                    label = came_from[label]
                findings.append(
                    Finding("%s/BUILD.bazel" % target.package, target.line,
                            "%s must not reach %s, but does: %s" %
                            (target.name, library, " <- ".join(chain))))
                break
            for dep in graph.get(label, []):
                if dep not in came_from:
                    came_from[dep] = label
                    queue.append(dep)
    return findings


_SCORE_MODS = "kernels/attention/score_mods/"


def check_score_mods(tree):
    """Kernels know of no score mod by name: adding one is adding its header."""
    mods = {}
    for path in tree.files:
        if path.startswith(_SCORE_MODS):
            stem = path[len(_SCORE_MODS):-len(".h")]
            mods["".join(word.capitalize() for word in stem.split("_"))] = path
    if not mods:
        return []
    names = "|".join(sorted(mods))
    named = re.compile(r"\bScoreMod::k(%s)\b|\bscore_mods::(%s)\b|%s\w" %
                       (names, names, _SCORE_MODS))
    return [
        Finding(file.path, number, "`%s`: kernels name no score mod, but do the "
                "same for all of them (kernels/attention/score_mods.h)" %
                match.group(0))
        for file in tree.code()
        if file.path.startswith("kernels/") and not file.is_test and
        not file.path.startswith(_SCORE_MODS)
        for number, line in enumerate(file.code[0], 1)
        for match in named.finditer(line)
    ]


RULES = (check_includes, check_deps, check_reach, check_score_mods)

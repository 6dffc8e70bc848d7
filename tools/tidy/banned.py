"""Calls that are banned, each with the one to use instead."""

import dataclasses
import re

from tools.tidy.source import Finding

PURE = ("scheduler/core/", "scheduler/policy/")
# LibTorch code, and one wrapper per library that throws.
MAY_THROW = ("model/", "kernels/torch/", "base/metrics/exposer.cc",
             "base/yaml/")


@dataclasses.dataclass(frozen=True)
class Ban:
    pattern: str
    message: str
    # Where it holds (everywhere if empty), and where not although it would.
    only: tuple = ()
    allowed: tuple = ()
    tests: bool = False  # Whether it holds in tests too.
    tests_only: bool = False
    with_strings: bool = False  # Whether string literals are looked at.


BANS = (
    # Pure code: nothing but state, event and time.
    Ban(r"\b(Clock|absl::Now|_clock::now|clock_gettime|gettimeofday|time\(\s*(0|NULL|nullptr)\s*\))",
        "pure code takes the time from `now` of Apply", only=PURE),
    Ban(r"\b(std::(thread|jthread|async|atomic)|pthread_\w+)\b",
        "pure code has no threads: the shell has (scheduler/server)", only=PURE),
    Ban(r"\b(Mutex|std::mutex|std::lock_guard|std::unique_lock)\b",
        "pure code has no locks: the shell has the one (scheduler/server)",
        only=PURE),
    Ban(r"\b(Philox|RandomStream|base/random)\b",
        "pure code draws nothing: ids come with the event", only=PURE),
    Ban(r"\b(std::(i|o)?fstream|fopen|std::filesystem|Filesystem)\b",
        "pure code reads and writes no files: return an effect", only=PURE),
    Ban(r"\b(Log(Debug|Info|Warning|Error)|std::c(out|err)|f?printf)\b",
        "pure code does not log: the effect carries the reason", only=PURE),
    Ban(r"\bABSL_FLAG|\bGetFlag\b",
        "pure code has no flags: take an Options struct", only=PURE),
    Ban(r"\bgetenv\b", "pure code reads no environment: take an Options struct",
        only=PURE),

    # Everywhere.
    Ban(r"\bthrow\b(?!\s*\(\s*\))", "return absl::Status (exceptions live in model/ only)",
        allowed=MAY_THROW),
    Ban(r"\bcatch\s*\(", "translate in model/guard.h (exceptions live in model/ only)",
        allowed=MAY_THROW),
    Ban(r"\bstd::\w+_distribution\b|\bstd::(mt19937(_64)?|random_device|shuffle|default_random_engine)\b|\b(s?rand|drand48)\s*\(",
        "use base/random: its numbers are the same everywhere", tests=True),
    Ban(r"\babsl::Now\s*\(|_clock::now\s*\(|\bgettimeofday\s*\(|\bclock_gettime\s*\(|\bstd::time\s*\(",
        "take a base::Clock (base/clock)",
        # Deadlines of the system's own calls, a person's waiting, the epoch
        # of a store that may have been restored, and the supervisor, which
        # uses nothing.
        allowed=("base/clock/", "base/log/", "base/mutex.h", "base/process/",
                 "base/rpc/", "scheduler/server/",
                 "scheduler/store/sqlite_store.cc", "services/cli/",
                 "services/files/work_queue.cc", "tests/bench/",
                 "worker/supervisor/")),
    Ban(r"\b(sleep_for|sleep_until|SleepFor|usleep|nanosleep|sleep)\s*\(",
        "wait for an event with a deadline (base/mutex.h, base/clock)",
        # What looks at other processes, which tell nobody.
        allowed=("base/clock/", "tests/e2e/scenario.cc", "tests/harness/",
                 "worker/supervisor/"),
        tests=True),
    Ban(r"\bstd::(mutex|recursive_mutex|shared_mutex|timed_mutex|lock_guard|unique_lock|scoped_lock|condition_variable(_any)?)\b|\babsl::(Mutex|CondVar)\b",
        "use base/mutex.h, whose locks clang checks", allowed=("base/mutex.h",),
        tests=True),
    Ban(r"(?<![\w:.>])(assert|CHECK|DCHECK)\s*\(",
        "use ORDO_CHECK (base/check.h)", tests=True),
    Ban(r"\b(system|popen)\s*\(", "use base/process", tests=True),
    Ban(r"(?<![\w.>])v?fork\s*\(", "use posix_spawn through base/process",
        allowed=("worker/supervisor/", "base/process/")),
    Ban(r"\b(std::)?(quick_exit|_exit)\s*\(|(?<![\w.>])(std::)?(abort|exit)\s*\(",
        "return a Status to main; ORDO_CHECK for bugs",
        allowed=("base/check.h", "worker/supervisor/", "base/process/",
                 "services/cli/bug.cc", "worker/trainer/main.cc")),
    Ban(r"\busing\s+namespace\b", "name what you use", tests=True),

    # Tests.
    Ban(r'(AddListeningPort|Exposer)\w*\s*\(\s*"[^"]*:[1-9]',
        "listen on port 0 and ask which one it became", tests_only=True,
        with_strings=True),
)

# Only as a key of these is "TODO" a promise somebody can look up.
_TODO = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(\(#\d+\): )?")
_HASH_DECLARATION = re.compile(
    r"\b(?:std::unordered_(?:multi)?(?:map|set)|absl::(?:flat|node)_hash_(?:map|set))"
    r"\s*<[^;]*>\s*&?\s*(\w+)\s*(?:ORDO_GUARDED_BY\(\w+\)\s*)?(?:;|=|\{|\))")


def _holds(ban, file):
    if ban.only and not file.path.startswith(ban.only):
        return False
    if ban.allowed and file.path.startswith(ban.allowed):
        return False
    if ban.tests_only:
        return file.is_test
    return ban.tests or not file.is_test


def check_calls(tree):
    findings = []
    for file in tree.code():
        if file.path.startswith("third_party/"):
            continue
        for ban in BANS:
            if not _holds(ban, file):
                continue
            lines = file.code[0 if ban.with_strings else 1]
            for number, line in enumerate(lines, 1):
                match = re.search(ban.pattern, line)
                if match and not line.lstrip().startswith("#include"):
                    findings.append(
                        Finding(file.path, number, "`%s` is banned here: %s" %
                                (match.group(0).strip(), ban.message)))
    return findings


def check_hash_order(tree):
    """Pure code must not walk a hash map: its order is not stable."""
    findings = []
    for folder in PURE:
        files = [file for file in tree.code() if file.path.startswith(folder)]
        names = set()
        for file in files:
            names.update(_HASH_DECLARATION.findall("\n".join(file.code[1])))
        if not names:
            continue
        alternatives = "|".join(sorted(names))
        walk = re.compile(
            r"for\s*\([^;)]*:\s*(?:\w+(?:\.|->))*(%s)\s*\)|\b(%s)\.c?begin\(" %
            (alternatives, alternatives))
        for file in files:
            for number, line in enumerate(file.code[1], 1):
                match = walk.search(line)
                if match and not file.is_test:
                    findings.append(
                        Finding(file.path, number, "`%s` is a hash map, whose "
                                "order is not stable: walk an ordered index" %
                                (match.group(1) or match.group(2))))
    return findings


def check_todo(tree):
    findings = []
    for path, file in sorted(tree.files.items()):
        if path.startswith("tools/tidy/") or path.endswith(".md"):
            continue
        for number, line in enumerate(file.lines, 1):
            match = _TODO.search(line)
            if match and not (match.group(1) == "TODO" and match.group(2)):
                findings.append(
                    Finding(path, number, "write `TODO(#ISSUE): what`, or do it"))
    return findings


_WORDS = (
    (re.compile(r"\b(for now|placeholder|not yet implemented)\b", re.I),
     "finish it, or leave it out"),
    (re.compile(r"(?<![\w.~>])/(root/\.|home/\w+/)"),
     "a path of one machine: take it from the environment or an option"),
)


def check_words(tree):
    findings = []
    for path, file in sorted(tree.files.items()):
        if path.startswith("tools/tidy/"):
            continue
        for number, line in enumerate(file.lines, 1):
            for pattern, message in _WORDS:
                match = pattern.search(line)
                if match:
                    findings.append(
                        Finding(path, number,
                                "`%s`: %s" % (match.group(0), message)))
    return findings


RULES = (check_calls, check_hash_order, check_todo, check_words)

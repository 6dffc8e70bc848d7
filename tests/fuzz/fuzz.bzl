"""A fuzz target, and the test that replays its corpus."""

load("//tools/build:rules.bzl", "ordo_cc_binary", "ordo_cc_library", "ordo_cc_test")

def ordo_fuzz_target(name, src, deps):
    """`name` is built with --config=fuzz only; `name`_corpus_test with any.

    Args:
      name: of the target, and of the folder in corpus/ with its files.
      src: defines LLVMFuzzerTestOneInput.
      deps: of the source.
    """
    ordo_cc_library(
        name = name + "_input",
        testonly = True,
        srcs = [src],
        alwayslink = True,
        deps = deps + ["//base:check"],
    )
    ordo_cc_binary(
        name = name,
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        # Only clang has that library.
        tags = ["manual"],
        deps = [":" + name + "_input"],
    )
    ordo_cc_test(
        name = name + "_corpus_test",
        srcs = ["corpus_test.cc"],
        data = native.glob(["corpus/%s/*" % name]),
        env = {"ORDO_CORPUS": native.package_name() + "/corpus/" + name},
        deps = [
            ":" + name + "_input",
            "//base/files",
            "//base/files:file_util",
            "//base/status/testing:status_matchers",
        ],
    )

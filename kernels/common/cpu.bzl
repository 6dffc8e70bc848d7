"""How code on vectors is compiled for the processors it is chosen for."""

load("//tools/build:rules.bzl", "ordo_cc_library")

# Products in registers: fused, unrolled, and without the library's errno.
_FAST = [
    "-O3",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
]

_INSTRUCTIONS = {
    "amx": [
        "-mamx-tile",
        "-mamx-bf16",
    ],
    "avx2": [
        "-mavx2",
        "-mfma",
    ],
    "avx512": [
        "-mavx512f",
        "-mfma",
    ],
    "avx512bf16": [
        "-mavx512f",
        "-mfma",
        "-mavx512bf16",
    ],
    "baseline": [],
}

def cpu_code_library(name, instructions, src, deps):
    """<name>_<instructions>: a file that is compiled for them.

    Nothing in it is for another architecture: there the compiler would say so.

    Args:
      name: in front of the library's name.
      instructions: amx, avx2, avx512, avx512bf16 or baseline.
      src: the file.
      deps: the code that it compiles.
    """
    ordo_cc_library(
        name = name + "_" + instructions,
        srcs = [src],
        copts = _FAST + _INSTRUCTIONS[instructions],
        visibility = ["//visibility:private"],
        deps = deps,
    )

def cpu_code_libraries(name, srcs, deps):
    """<name>_avx512, _avx2 and _baseline: one file each, chosen at run time.

    Args:
      name: in front of the libraries' names.
      srcs: the files, in that order.
      deps: the code that each compiles.
    """
    for instructions, src in zip(["avx512", "avx2", "baseline"], srcs):
        cpu_code_library(name, instructions, src, deps)

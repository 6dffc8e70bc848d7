"""How code on vectors is compiled for the processors it is chosen for."""

load("//tools/build:rules.bzl", "ordo_cc_library")

# Products in registers: fused, unrolled, and without the library's errno.
_FAST = [
    "-O3",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
]

_AVX2 = _FAST + [
    "-mavx2",
    "-mfma",
]

_AVX512 = _FAST + [
    "-mavx512f",
    "-mfma",
]

def cpu_code_libraries(name, srcs, deps):
    """<name>_avx512, _avx2 and _baseline: one file each, chosen at run time.

    Nothing in them is for another architecture: there the compiler would say
    so.

    Args:
      name: in front of the libraries' names.
      srcs: the files, in that order.
      deps: the code that each compiles.
    """
    for instructions, copts, src in [
        ("avx512", _AVX512, srcs[0]),
        ("avx2", _AVX2, srcs[1]),
        ("baseline", _FAST, srcs[2]),
    ]:
        ordo_cc_library(
            name = name + "_" + instructions,
            srcs = [src],
            copts = copts,
            visibility = ["//visibility:private"],
            deps = deps,
        )

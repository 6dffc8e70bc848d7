"""Widths that attention's CUDA kernels are built for, and the most of them.

  load("//kernels/attention:cuda_widths.bzl", "TILED_WIDTHS",
       "cuda_widths_header")

Of q and k, and of all value tensors together; of cuda_counted both are the same.
MORE_* are built with --config=cuda_all only.
"""

TILED_WIDTHS = [
    (64, 64),
    (64, 128),
    (128, 128),
    (128, 256),
]

MORE_TILED_WIDTHS = [
    (32, 32),
    (32, 64),
    (64, 192),
    (96, 96),
    (96, 192),
    (256, 256),
]

# Of those of cuda_tiled, with each value tensor in tiles of its own.
HOPPER_WIDTHS = [
    (64, 64),
    (64, 128),
    (128, 128),
    (128, 256),
]

MORE_HOPPER_WIDTHS = [
    (64, 192),
]

COUNTED_WIDTHS = [
    (64, 64),
    (128, 128),
]

_ROWS = {
    "Tiled": (TILED_WIDTHS, MORE_TILED_WIDTHS),
    "Hopper": (HOPPER_WIDTHS, MORE_HOPPER_WIDTHS),
    "Counted": (COUNTED_WIDTHS, []),
}

def _most(prefix, widths):
    return ["inline constexpr int k%s%s = %d;" % (
        prefix,
        what,
        max([pair[i] for pair in widths]),
    ) for i, what in enumerate(["HeadWidth", "ValuesWidth"])]

def _lines(has_all):
    lines = ["inline constexpr bool kHasAllCudaWidths = %s;" %
             ("true" if has_all else "false")]
    for row, (usual, more) in _ROWS.items():
        lines += _most("Usual" + row, usual) + _most("All" + row, usual + more)
    return lines

def _write(name, namespace, has_all):
    guard = name.upper() + "_H_"
    return "{ %s } >$@" % "".join(["echo '%s';" % line for line in [
        "#ifndef " + guard,
        "#define " + guard,
        "namespace %s {" % namespace,
    ] + _lines(has_all) + ["}", "#endif"]])

def cuda_widths_header(name, namespace):
    """<name>.h: the most of widths, for those who must not see the kernels.

    Of each row, k{Usual,All}{Tiled,Hopper,Counted}{HeadWidth,ValuesWidth}: of q
    and k, and of all value tensors together, as libraries are built and with
    --config=cuda_all. kHasAllCudaWidths says which of both this build is.

    Args:
      name: of the header.
      namespace: of its constants.
    """
    native.genrule(
        name = name + "_header",
        outs = [name + ".h"],
        cmd = select({
            "//tools/build:cuda_all": _write(name, namespace, True),
            "//conditions:default": _write(name, namespace, False),
        }),
    )

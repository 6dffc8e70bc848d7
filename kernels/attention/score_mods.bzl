"""The list of score mods (score_mod.h), made of the names of their headers.

  load("//kernels/attention:score_mods.bzl", "score_mod_list")
"""

def score_mod_list(name, hdrs):
    """<name>.h: all of hdrs, and ORDO_SCORE_MODS(X), which is X(Struct, "name").

    Args:
      name: of the header.
      hdrs: paths in the package; x_y.h has the struct XY.
    """
    mods = {}
    for hdr in sorted(hdrs):
        stem = hdr.split("/")[-1][:-len(".h")]
        mods[stem] = "".join([word.capitalize() for word in stem.split("_")])
    lines = (
        ["#include \"%s/%s\"" % (native.package_name(), hdr) for hdr in sorted(hdrs)] +
        ["#define ORDO_SCORE_MODS(X) " + " ".join([
            "X(%s, \"%s\")" % (struct, stem)
            for stem, struct in mods.items()
        ])]
    )
    native.genrule(
        name = name + "_header",
        outs = [name + ".h"],
        cmd = "{ %s } >$@" % "".join([
            "echo '%s';" % line
            for line in ["#ifndef ORDO_SCORE_MODS"] + lines + ["#endif"]
        ]),
    )

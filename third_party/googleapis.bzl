"""C++ code of the Google API protos that Ordo's own protos import."""

def googleapis_cc(name, protos):
    """Makes <name>, a cc_library, and <name>_protos, its sources.

    Args:
      name: of the library.
      protos: paths of the .proto files from the repository's root.
    """
    native.filegroup(
        name = name + "_protos",
        srcs = protos,
        visibility = ["//visibility:public"],
    )
    headers = [proto[:-len(".proto")] + ".pb.h" for proto in protos]
    sources = [proto[:-len(".proto")] + ".pb.cc" for proto in protos]
    native.genrule(
        name = name + "_generated",
        srcs = protos,
        outs = headers + sources,
        cmd = "/usr/bin/protoc -Iexternal/googleapis --cpp_out=$(RULEDIR) $(SRCS)",
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        includes = ["."],
        linkstatic = True,
        visibility = ["//visibility:public"],
        deps = ["@ordo//third_party:protobuf"],
    )

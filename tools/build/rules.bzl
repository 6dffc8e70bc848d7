"""The rules that Ordo's own code is built with.

  load("//tools/build:rules.bzl", "ordo_cc_library", "ordo_cc_test")

ordo_cc_library, ordo_cc_test and ordo_cc_binary are the native rules with
warnings as errors, static linking of our own code (each file is compiled
once) and one more argument, `torch = True`, for code that uses LibTorch.
A test gets GoogleTest's main.
"""

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wnon-virtual-dtor",
]

# LibTorch's headers warn about themselves; `includes` makes them system
# headers, so our own code keeps all warnings but these two, which macros and
# templates of LibTorch raise at the place of use.
_TORCH_COPTS = [
    "-Wno-unused-parameter",
    "-Wno-deprecated-declarations",
]

_LINKOPTS = ["-Wl,--as-needed"]

# Headers that are parsed once, by who uses them: LibTorch's take four seconds,
# those of gRPC and Protocol Buffers one.
_TORCH_HEADER = "torch_precompiled"
_RPC_HEADER = "rpc_precompiled"

# Folders of the control plane. (The supervisor is not among them: it is linked
# with none of those libraries.)
_RPC_PACKAGES = [
    "base/rpc",
    "base/yaml",
    "model/catalog",
    "model/cost",
    "proto",
    "scheduler",
    "services",
    "tests/bench",
    "tests/e2e",
    "tests/sim",
    "worker/agent",
]

def _precompiled(torch):
    if torch:
        return _TORCH_HEADER
    package = native.package_name() + "/"
    if any([package.startswith(prefix + "/") for prefix in _RPC_PACKAGES]):
        return _RPC_HEADER
    return None

def _include(header):
    if not header:
        return []
    return ["-include $(BINDIR)/third_party/%s.h" % header, "-Winvalid-pch"]

def _copts(copts, torch, suffix = ""):
    header = _precompiled(torch)
    return (_COPTS + (_TORCH_COPTS if torch else []) +
            _include(header and header + suffix) + copts)

def _deps(deps, torch, suffix = ""):
    header = _precompiled(torch)
    return (deps + (["//third_party:torch"] if torch else []) +
            (["//third_party:" + header + suffix] if header else []))

def ordo_cc_library(name, deps = [], copts = [], torch = False, **kwargs):
    """One header and its source.

    Args:
      name: of the library; the base name of its header where there is one.
      deps: as in cc_library.
      copts: further compiler options.
      torch: whether the library uses LibTorch.
      **kwargs: as in cc_library.
    """
    native.cc_library(
        name = name,
        copts = _copts(copts, torch),
        linkstatic = True,
        deps = _deps(deps, torch),
        **kwargs
    )

def ordo_cc_test(
        name,
        deps = [],
        copts = [],
        torch = False,
        main = "//third_party:gtest_main",
        size = "small",
        env = {},
        **kwargs):
    """A GoogleTest program, x_test.cc beside x.cc.

    All its sources are called *_test.cc: those are compiled without
    optimisation, and the precompiled header for them fits no others. clang-tidy
    leaves them out, so nothing says when one lacks an include that the
    precompiled header has.

    Args:
      name: x_test.
      deps: as in cc_test.
      copts: further compiler options.
      torch: whether the test uses LibTorch.
      main: the library with main(), or None if the test has its own.
      size: as in cc_test.
      env: as in cc_test; tests of LibTorch code run on one thread.
      **kwargs: as in cc_test.
    """
    if torch:
        # Small tensors gain nothing from a second thread, and OpenMP's
        # spinning costs seconds where tests run side by side.
        env = dict({"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}, **env)
    native.cc_test(
        name = name,
        size = size,
        env = env,
        copts = _copts(copts, torch, "_test"),
        linkopts = _LINKOPTS,
        linkstatic = True,
        deps = _deps(deps, torch, "_test") + [main or "//third_party:gtest"],
        **kwargs
    )

def ordo_cc_binary(
        name,
        deps = [],
        copts = [],
        linkopts = [],
        torch = False,
        **kwargs):
    """A program.

    Args:
      name: of the program.
      deps: as in cc_binary.
      copts: further compiler options.
      linkopts: further linker options.
      torch: whether the program uses LibTorch.
      **kwargs: as in cc_binary.
    """
    native.cc_binary(
        name = name,
        copts = _copts(copts, torch),
        linkopts = _LINKOPTS + linkopts,
        deps = _deps(deps, torch),
        **kwargs
    )

def ordo_py_test(name, src, data = [], size = "small", **kwargs):
    """A Python unittest file. (py_test wants a program named `python`.)

    Args:
      name: x_test.
      src: x_test.py, which imports by paths from the repository's root.
      data: the files it imports or reads.
      size: as in sh_test.
      **kwargs: as in sh_test.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/build:run_python_test.sh"],
        args = ["$(location %s)" % src],
        data = [src] + data,
        **kwargs
    )

def _protos_of(dep):
    """Label of the .proto files behind the ordo_proto_library `dep`."""
    if ":" not in dep:
        dep = dep + ":" + dep.split("/")[-1]
    return dep + "_protos"

def ordo_proto_library(
        name,
        srcs,
        deps = [],
        grpc = False,
        visibility = None,
        **kwargs):
    """C++ code of .proto files, as a cc_library.

    A .proto file names others by their path from the repository's root:
    import "proto/ordo/training/v1/train_spec.proto". Headers are included
    likewise: "proto/ordo/training/v1/train_spec.pb.h". The well-known types,
    google/api/*.proto (field_behavior, resource, client, annotations) and
    google/rpc/*.proto (status, code, error_details) are always there.

    Args:
      name: of the cc_library; <name>_protos has the sources.
      srcs: .proto files of this package.
      deps: other ordo_proto_library targets whose files are imported.
      grpc: whether to generate services too (x.grpc.pb.h).
      visibility: of the library and of its sources.
      **kwargs: as in cc_library.
    """
    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [_protos_of(dep) for dep in deps],
        visibility = visibility,
    )
    stems = [src[:-len(".proto")] for src in srcs]
    headers = [stem + ".pb.h" for stem in stems]
    sources = [stem + ".pb.cc" for stem in stems]
    plugin = ""
    if grpc:
        headers += [stem + ".grpc.pb.h" for stem in stems]
        sources += [stem + ".grpc.pb.cc" for stem in stems]
        plugin = ("--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin " +
                  "--grpc_out=$(GENDIR)")
    native.genrule(
        name = name + "_generated",
        srcs = [":" + name + "_protos", "//third_party:googleapis_cc_protos"],
        outs = headers + sources,
        cmd = " ".join([
            "/usr/bin/protoc -I. -Iexternal/googleapis",
            "--cpp_out=$(GENDIR)",
            plugin,
        ] + [native.package_name() + "/" + src for src in srcs]),
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"] + _include(_RPC_HEADER),
        linkstatic = True,
        visibility = visibility,
        deps = deps + [
            "//third_party:googleapis_cc",
            "//third_party:grpc" if grpc else "//third_party:protobuf",
            "//third_party:" + _RPC_HEADER,
        ],
        **kwargs
    )

"""CUDA code: compiled by nvcc where there is a toolkit, and for an emulated
device, where its numbers are tested, everywhere.

  load("//tools/build:cuda.bzl", "BFLOAT16", "FLOAT16", "ordo_cuda_library",
       "ordo_cuda_shared")

Without a toolkit all but the emulated libraries are empty.
`--config=cuda_all` compiles for all devices and all instances.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load(
    "@local_cuda//:defs.bzl",
    "CUDA_FOUND",
    "CUDA_ROOT",
    "CUDA_VERSION",
    "NCCL_FOUND",
)

# Numbers of the types of 16 bits in kernels/common/type.h, for instances.
BFLOAT16 = 1
FLOAT16 = 2

_ALL = "//tools/build:cuda_all"

_COPTS = [
    "-std=c++17",
    "-O3",
    # Numbers too small for fp32's exponent are zeros, as in its fast exp2.
    "-ftz=true",
    "--expt-relaxed-constexpr",
    "-Werror=all-warnings",
    "-Xcompiler=-fPIC,-Wall,-Wextra,-Werror",
]

def _cuda_object_impl(ctx):
    if not CUDA_FOUND:
        return [DefaultInfo(files = depset())]
    compilation = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    output = ctx.actions.declare_file(ctx.label.name + ".o")
    arguments = ctx.actions.args()
    arguments.add_all(_COPTS)
    # Another toolkit in the same place is another action; an `env` would not
    # say so, since it counts for nothing beside the default one.
    arguments.add("-DORDO_NVCC_VERSION=" + CUDA_VERSION.split(" ")[-1])
    for device in ctx.attr.devices:
        arguments.add("-gencode=arch=compute_%s,code=sm_%s" % (device, device))
    arguments.add_all(ctx.attr.macros, format_each = "-D%s")
    for paths in [
        compilation.quote_includes,
        compilation.includes,
    ]:
        arguments.add_all(paths, before_each = "-I")
    arguments.add_all(compilation.system_includes, before_each = "-isystem")
    arguments.add("-c", ctx.file.src)
    arguments.add("-o", output)
    ctx.actions.run(
        executable = CUDA_ROOT + "/bin/nvcc",
        arguments = [arguments],
        use_default_shell_env = True,
        inputs = depset(
            [ctx.file.src],
            transitive = [compilation.headers, find_cpp_toolchain(ctx).all_files],
        ),
        outputs = [output],
        mnemonic = "Nvcc",
        # Two at a time would write the same temporary files: nvcc names them
        # by its process number, which in a sandbox is always the same.
        execution_requirements = {"no-sandbox": "1"},
        progress_message = "Compiling %s for sm_%s" %
                           (ctx.label.name, " and ".join(ctx.attr.devices)),
    )
    return [DefaultInfo(files = depset([output]))]

_cuda_object = rule(
    implementation = _cuda_object_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "devices": attr.string_list(mandatory = True),
        "macros": attr.string_list(),
        "src": attr.label(allow_single_file = [".cu"], mandatory = True),
        "_cc_toolchain": attr.label(
            default = Label("@bazel_tools//tools/cpp:current_cc_toolchain"),
        ),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _instance_name(name, instance):
    return "_".join([name] + [str(number) for number in instance])

def _instances_macro(name, instances):
    """ORDO_<NAME>_INSTANCES(X), which is X(numbers) for each; its definition."""
    return "ORDO_%s_INSTANCES" % name.upper(), "(X)" + "".join([
        " X(%s)" % ", ".join([str(number) for number in instance])
        for instance in instances
    ])

def _write_instances(name, instances):
    macro, definition = _instances_macro(name, instances)
    return "{ %s } >$@" % "".join(["echo '%s';" % line for line in [
        "#ifndef " + macro,
        "#define %s%s" % (macro, definition),
        "#endif",
    ]])

def _in_order(instances):
    """Least first, as code takes the first one that has room."""
    return sorted(instances)

def _instances_header(name, instances, more):
    """<name>_instances.h: the macro of them, unless there is one."""
    native.genrule(
        name = name + "_instances_header",
        outs = [name + "_instances.h"],
        cmd = select({
            _ALL: _write_instances(name, _in_order(instances + more)),
            "//conditions:default": _write_instances(name, _in_order(instances)),
        }),
    )

def _defines(macros, instance):
    return ["%s %d" % (macro, number) for macro, number in zip(macros, instance)]

def _emulated(name, files, emulator):
    """A C++ source for each of `files`: name, .cu file, what it defines."""
    sources = []
    for source, file, defines in files:
        native.genrule(
            name = source + "_source",
            outs = [source + ".cc"],
            cmd = "{ %s echo '#include \"%s/%s\"'; } >$@" % (
                "".join(["echo '#define %s';" % define for define in defines]),
                native.package_name(),
                file,
            ),
            testonly = True,
        )
        sources.append(source + ".cc")
    native.cc_library(
        name = name + "_emulated",
        testonly = True,
        srcs = sources,
        copts = ["-Wall", "-Wextra", "-Werror", "-O2"],
        local_defines = ["ORDO_CUDA_EMULATED"],
        linkstatic = True,
        deps = [
            ":" + name + "_code",
            emulator,
        ],
    )

def ordo_cuda_library(
        name,
        srcs,
        hdrs,
        deps,
        instance_src = None,
        macros = [],
        instances = [],
        more = [],
        emulated = [],
        devices = ["80", "90a"],
        emulator = "//kernels/common/testing:cuda_emulator"):
    """Objects of CUDA code, and <name>_emulated, a cc_library for tests of it.

    Args:
      name: of the objects.
      srcs: .cu files, compiled once.
      hdrs: their headers.
      deps: cc_libraries that they use.
      instance_src: a .cu file that is compiled once for each instance, without
        a list of them in the code: srcs and hdrs get <name>_instances.h, with
        the macro ORDO_<NAME>_INSTANCES(X), which is X(numbers) for each, least
        first.
      macros: names that an instance gives numbers to.
      instances: tuples of numbers.
      more: further ones, for --config=cuda_all.
      emulated: those of `more` that the emulated library has too.
      devices: that it is for; without --config=cuda_all only the last.
      emulator: of what the code asks of a device.
    """
    cu = srcs + ([instance_src] if instance_src else [])
    if instance_src:
        _instances_header(name, instances, more)
        hdrs = hdrs + [name + "_instances.h"]
    native.cc_library(
        name = name + "_code",
        hdrs = hdrs,
        textual_hdrs = cu,
        visibility = ["//visibility:private"],
        deps = deps,
    )
    devices = select({
        _ALL: devices,
        "//conditions:default": devices[-1:],
    })
    for src in srcs:
        _cuda_object(
            name = name + "_" + src[:-3] + "_object",
            src = src,
            devices = devices,
            deps = [":" + name + "_code"],
        )
    for instance in instances + more:
        _cuda_object(
            name = _instance_name(name, instance),
            src = instance_src,
            devices = devices,
            macros = [
                define.replace(" ", "=")
                for define in _defines(macros, instance)
            ],
            # Those of `more` are built when they are asked for.
            tags = ["manual"] if instance in more else [],
            deps = [":" + name + "_code"],
        )
    always = ([":%s_%s_object" % (name, src[:-3]) for src in srcs] +
              [":" + _instance_name(name, instance) for instance in instances])
    sometimes = [":" + _instance_name(name, instance) for instance in more]
    native.filegroup(
        name = name,
        srcs = select({
            _ALL: always + sometimes,
            "//conditions:default": always,
        }),
    )
    prefix = name + "_emulated_"
    list_of_all = [
        "".join(_instances_macro(name, _in_order(instances + emulated))),
    ] if instance_src else []
    _emulated(
        name,
        [(prefix + src[:-3], src, list_of_all) for src in srcs] + [
            (
                _instance_name(prefix + instance_src[:-3], instance),
                instance_src,
                _defines(macros, instance),
            )
            for instance in instances + emulated
        ],
        emulator,
    )

def ordo_cuda_shared(name, objects, **kwargs):
    """A shared library of CUDA code; an empty group without a toolkit.

    Args:
      name: lib<x>.so.
      objects: names of ordo_cuda_library.
      **kwargs: as in cc_binary.
    """
    if not CUDA_FOUND:
        native.filegroup(name = name, **kwargs)
        return
    native.cc_binary(
        name = name,
        srcs = objects,
        linkshared = True,
        linkopts = [
            "-L" + CUDA_ROOT + "/lib64",
            # Needs the driver's library only when it is called.
            "-lcudart_static",
            "-lpthread",
            "-ldl",
            "-lrt",
            "-Wl,--no-undefined",
        ],
        **kwargs
    )

def ordo_nccl_shared(name, srcs, **kwargs):
    """A shared library over LibTorch's process group of NCCL.

    An empty group where the CUDA toolkit has no NCCL, or there is none. NCCL
    itself comes with LibTorch's library for GPUs, when that is loaded.

    Args:
      name: lib<x>.so.
      srcs: its C++ sources and their headers, compiled once.
      **kwargs: as in cc_binary.
    """
    if not NCCL_FOUND:
        native.filegroup(name = name, **kwargs)
        return
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = [
            "-Wall",
            "-Wextra",
            "-Werror",
            # LibTorch's macros raise them at the place of use.
            "-Wno-unused-parameter",
            "-Wno-deprecated-declarations",
        ],
        linkshared = True,
        linkopts = ["-Wl,--no-undefined"],
        deps = [
            "//third_party:torch_cuda",
            "@local_cuda//:headers",
        ],
        **kwargs
    )

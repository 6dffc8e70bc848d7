"""Repositories over the dependencies that tools/setup unpacks.

They lie outside the checkout, in ${ORDO_DEPS:-~/.cache/ordo}, so that
checkouts share them. The folder names carry the versions; tools/setup pins
their digests.
"""

TORCH = "torch-2.11.0"
GOOGLEAPIS = "googleapis-1.76.0"
CUTLASS = "cutlass-4.2.0.0"
KUBERNETES = "kubernetes-1.37.0"

def _folder_of_dependencies(ctx):
    return (ctx.os.environ.get("ORDO_DEPS", "") or
            ctx.os.environ.get("HOME", "") + "/.cache/ordo")

def _dependency(ctx, folder):
    """Returns the absolute path of one unpacked dependency."""
    root = _folder_of_dependencies(ctx)
    path = ctx.path(root + "/" + folder)
    if not path.exists:
        fail("\n\n%s is missing: run tools/setup (it fills ORDO_DEPS, here %s)\n" %
             (folder, root))
    return path

def _unpacked_impl(ctx):
    path = _dependency(ctx, ctx.attr.folder)
    for entry in ctx.attr.entries:
        ctx.symlink(path.get_child(entry), entry)
    ctx.template(
        "BUILD.bazel",
        ctx.attr.build,
        {"%{path}": str(path)},
        executable = False,
    )

_unpacked = repository_rule(
    implementation = _unpacked_impl,
    attrs = {
        "build": attr.label(mandatory = True),
        "entries": attr.string_list(mandatory = True),
        "folder": attr.string(mandatory = True),
    },
    environ = ["HOME", "ORDO_DEPS"],
    local = True,
)

_CUDA_HEADERS = """
cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    visibility = ["//visibility:public"],
)
"""

def _cuda_impl(ctx):
    root = ctx.os.environ.get("CUDA_HOME", "") or "/usr/local/cuda"
    nvcc = ctx.path(root + "/bin/nvcc")
    found = nvcc.exists
    version = ctx.execute([nvcc, "--version"]).stdout if found else ""

    # LibTorch's part for GPUs is unpacked where there is a toolkit.
    torch = _folder_of_dependencies(ctx) + "/" + TORCH
    nccl = (found and ctx.path(root + "/include/nccl.h").exists and
            ctx.path(torch + "/lib/libtorch_cuda.so").exists)
    if nccl:
        ctx.symlink(root + "/include", "include")
    ctx.file("BUILD.bazel", _CUDA_HEADERS if nccl else "")
    ctx.file("defs.bzl", """\"\"\"What was found of a CUDA toolkit.\"\"\"

CUDA_FOUND = %s
CUDA_ROOT = "%s"
CUDA_VERSION = "%s"

# Its headers have NCCL's among them, and are @local_cuda//:headers.
NCCL_FOUND = %s
""" % (found, root if found else "", version.strip().split("\n")[-1], nccl))

# Whether this machine has a CUDA toolkit, and NCCL in it: without one,
# everything but the libraries for GPUs builds.
_cuda = repository_rule(
    implementation = _cuda_impl,
    environ = ["CUDA_HOME", "HOME", "ORDO_DEPS"],
    local = True,
)

def ordo_dependencies():
    _unpacked(
        name = "torch",
        folder = TORCH,
        entries = ["include", "lib"],
        build = "//third_party:torch.BUILD",
    )
    _unpacked(
        name = "googleapis",
        folder = GOOGLEAPIS,
        entries = ["google"],
        build = "//third_party:googleapis.BUILD",
    )
    _unpacked(
        name = "cutlass",
        folder = CUTLASS,
        entries = ["include"],
        build = "//third_party:cutlass.BUILD",
    )
    _unpacked(
        name = "kubernetes_schemas",
        folder = KUBERNETES,
        entries = [
            "v1.29.json",
            "v1.37.json",
        ],
        build = "//third_party:kubernetes.BUILD",
    )
    _cuda(name = "local_cuda")

"""clang-tidy as a cached action per source file: bazel build --config=tidy."""

# A LibTorch file is 9 000 headers to parse already.
_TORCH_CHECKS = ",".join([
    "-*",
    "bugprone-dangling-handle",
    "bugprone-use-after-move",
    "google-explicit-constructor",
    "modernize-use-override",
    "performance-for-range-copy",
])

# No tests: each is run anyway, and the 215 of them take 1.3 (base/units) to 5.4
# (LibTorch) CPU seconds each: eight minutes more on two cores from nothing.
_RULES = ["cc_binary", "cc_library"]

# Where our own headers lie; those of outside libraries and generated ones have
# longer paths. A header without a source is looked at through those that
# include it, so all count, not only those of the source's package.
_HEADERS = ("^(.*/execroot/[^/]*/|[.]/)?" +
            "(base|kernels|model|report|scheduler|services|tests|worker)/")

def _own_sources(ctx):
    """The written (not generated) C++ sources of this checkout's target."""
    if ctx.rule.kind not in _RULES or ctx.label.workspace_name:
        return []
    return [
        file
        for src in ctx.rule.attr.srcs
        for file in src.files.to_list()
        if file.is_source and file.extension == "cc"
    ]

def _flags(compilation):
    """The compiler flags by which the target's includes and macros resolve."""
    flags = ["-D" + define for define in compilation.defines.to_list()]
    for option, paths in [
        ("-iquote", compilation.quote_includes),
        ("-isystem", compilation.system_includes),
        ("-I", compilation.includes),
    ]:
        for path in paths.to_list():
            flags += [option, path]
    return flags

def _clang_tidy_aspect_impl(target, ctx):
    sources = _own_sources(ctx)
    if not sources or CcInfo not in target:
        return [OutputGroupInfo(clang_tidy = depset())]

    # A library's own CcInfo has its private headers' folders too; a binary has
    # none of its own, so its deps speak for it.
    compilation = cc_common.merge_cc_infos(
        direct_cc_infos = [target[CcInfo]],
        cc_infos = [dep[CcInfo] for dep in ctx.rule.attr.deps if CcInfo in dep],
    ).compilation_context
    uses_torch = any([
        "/torch/" in path
        for path in compilation.system_includes.to_list()
    ])
    private = [
        file
        for src in ctx.rule.attr.srcs
        for file in src.files.to_list()
    ]

    outputs = []
    for source in sources:
        output = ctx.actions.declare_file(
            "%s.%s.clang_tidy" % (ctx.label.name, source.basename),
        )
        outputs.append(output)
        arguments = ctx.actions.args()
        arguments.add(output)
        arguments.add("--quiet")
        arguments.add("--config-file=" + ctx.file._config.path)
        arguments.add("--header-filter=" + _HEADERS)
        if uses_torch:
            arguments.add("--checks=" + _TORCH_CHECKS)
        arguments.add(source)
        arguments.add("--")
        arguments.add("-std=c++17")
        arguments.add("-w")
        arguments.add_all(_flags(compilation))
        ctx.actions.run_shell(
            inputs = depset(
                private + [ctx.file._config],
                transitive = [compilation.headers],
            ),
            outputs = [output],
            arguments = [arguments],
            # clang-tidy counts suppressed warnings of system headers on
            # standard error: shown only when there is a finding.
            command = "output=$1; shift; " +
                      "/usr/bin/clang-tidy-14 \"$@\" >$output 2>&1 || " +
                      "{ cat $output; exit 1; }",
            mnemonic = "ClangTidy",
            progress_message = "Running clang-tidy on " + source.short_path,
            # As for compiling: linking LibTorch's headers into a sandbox costs
            # more than the run.
            execution_requirements = {"no-sandbox": "1"},
        )
    return [OutputGroupInfo(clang_tidy = depset(outputs))]

clang_tidy_aspect = aspect(
    implementation = _clang_tidy_aspect_impl,
    attrs = {
        "_config": attr.label(
            default = Label("//:.clang-tidy"),
            allow_single_file = True,
        ),
    },
)

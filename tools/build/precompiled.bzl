"""Headers that are parsed once for all who include them."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_ACTION = "c++-compile"

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compilation = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    output = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    options = ctx.fragments.cpp
    is_clang = toolchain.compiler == "clang"

    # As for compiling: see .bazelrc. Clang's names the folder that it was made
    # in, and another checkout, which shares the disk cache, has no such folder.
    # It keeps no times of system headers: an upgrade of packages changes those,
    # and clang would refuse what no build would make anew.
    requirements = {"no-sandbox": "1"}
    header_options = ["-x", "c++-header"]
    if is_clang:
        requirements["no-cache"] = "1"
        header_options += ["-Xclang", "-fno-pch-timestamp"]
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = ctx.file.hdr.path,
        output_file = output.path,
        user_compile_flags = options.copts + options.cxxopts +
                             ctx.attr.copts + header_options,
        include_directories = compilation.includes,
        quote_include_directories = compilation.quote_includes,
        system_include_directories = compilation.system_includes,
        preprocessor_defines = compilation.defines,
        use_pic = True,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = _ACTION,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = _ACTION,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = _ACTION,
            variables = variables,
        ),
        inputs = depset(
            [ctx.file.hdr],
            transitive = [compilation.headers, toolchain.all_files],
        ),
        outputs = [output],
        mnemonic = "PrecompileHeader",
        progress_message = "Precompiling " + ctx.file.hdr.short_path,
        execution_requirements = requirements,
    )

    # Clang, unlike g++, lists among a source's includes what the precompiled
    # header was made of.
    made_of = [compilation.headers] if is_clang else []
    return [
        DefaultInfo(files = depset([output])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([output], transitive = made_of),
        )),
    ]

# A dependency on it makes the file NAME.h.gch an input; the compiler reads it
# with `-include $(BINDIR)/PACKAGE/NAME.h`, and refuses it (an error under
# -Werror and -Winvalid-pch) when its options do not fit those of the source.
precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "copts": attr.string_list(
            doc = "Options of those who use it that change macros, as -O0.",
        ),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdr": attr.label(allow_single_file = [".h"], mandatory = True),
        "_cc_toolchain": attr.label(
            default = "@bazel_tools//tools/cpp:current_cc_toolchain",
        ),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/commands/commands.h"
#include "services/cli/help.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

// One `case` branch of a command: what its options and arguments may be.
std::string Branch(const Command& command) {
  std::vector<std::string> options;
  for (const Option& option : AllOptions(command)) {
    if (!option.help.empty()) options.push_back("--" + option.name);
  }
  std::string words = command.completes;
  std::string files;
  if (words == "jobs") {
    words = "$(_ordo_jobs)";
  } else if (words == "folders") {
    words = "$(_ordo_folders)";
  } else if (words == "commands") {
    words = "$commands";
  } else if (words == "files") {
    words.clear();
    files = " files=1";
  }
  return absl::StrCat("    ", command.name, ") options=\"",
                      absl::StrJoin(options, " "), "\" words=\"", words, "\"",
                      files, " ;;\n");
}

// The same function serves both shells: zsh runs it through bashcompinit.
std::string Script() {
  std::vector<std::string> names;
  std::string branches;
  for (const Command& command : Commands()) {
    names.push_back(command.name);
    branches += Branch(command);
  }
  return absl::StrCat(
      "_ordo_jobs() {\n"
      "  ordo list jobs --all-users -o table 2>/dev/null | "
      "sed '1d;s/ .*//'\n"
      "}\n"
      "_ordo_folders() {\n"
      "  local kind\n"
      "  for kind in checkpoints reports; do\n"
      "    ordo list $kind -o table 2>/dev/null | "
      "sed '1d;/ DELETED /d;s/ .*//'\n"
      "  done\n"
      "}\n"
      "_ordo() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
      "  local previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  local commands=\"",
      absl::StrJoin(names, " "),
      "\"\n"
      "  local options=\"\" words=\"\" files=\"\"\n"
      "  if [ \"$COMP_CWORD\" -le 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$previous\" in\n"
      "    -o|--output) COMPREPLY=($(compgen -W \"table json yaml\" -- "
      "\"$current\")); return ;;\n"
      "    --dir|--html|--out) COMPREPLY=($(compgen -f -- \"$current\")); "
      "return ;;\n"
      "  esac\n"
      "  case \"${COMP_WORDS[1]}\" in\n",
      branches,
      "  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")\n"
      "         ${files:+$(compgen -f -- \"$current\")}) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _ordo ordo\n");
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string& shell = arguments.positional()[0];
  std::string script = Script();
  if (shell == "zsh") {
    script =
        "#compdef ordo\n"
        "autoload -U +X compinit && compinit\n"
        "autoload -U +X bashcompinit && bashcompinit\n" +
        script;
  } else if (shell != "bash") {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is completion for bash and zsh; not '", shell, "'"));
  }
  google::protobuf::Struct fields;
  (*fields.mutable_fields())["script"].set_string_value(script);
  if (!PrintStructured(context, fields)) context.out << script;
  return ExitCode::kOk;
}

}  // namespace

Command CompletionCommand() {
  Command command;
  command.name = "completion";
  command.arguments = "bash|zsh";
  command.summary = "print a script that completes commands for a shell";
  command.help =
      "Put into ~/.bashrc (or ~/.zshrc, with zsh):\n"
      "  source <(ordo completion bash)";
  command.min_arguments = 1;
  command.max_arguments = 1;
  command.completes = "bash zsh";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli

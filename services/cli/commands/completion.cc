#include <string>
#include <vector>

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

// The options that may stand before the command, as the shell sees them.
struct Leading {
  std::vector<std::string> words;
  // A pattern of those that are followed by a value.
  std::string valued;
};

Leading LeadingOptions() {
  Leading leading;
  std::vector<std::string> valued;
  for (const Option& option : CommonOptions()) {
    leading.words.push_back("--" + option.name);
    if (option.value.empty()) continue;
    valued.push_back("--" + option.name);
    if (option.letter != 0) {
      valued.push_back(std::string("-") + option.letter);
    }
  }
  leading.valued = absl::StrJoin(valued, "|");
  return leading;
}

// Sets `at` to the place of the command, or beyond the current word when that
// is an option's value. bash makes words of their own of "=" and ":".
std::string FindsCommand(const std::string& valued) {
  return absl::StrCat(
      "  local at=1\n"
      "  while [ \"$at\" -lt \"$COMP_CWORD\" ]; do\n"
      "    case \"${COMP_WORDS[at]}\" in\n"
      "      ",
      valued,
      ")\n"
      "        at=$((at + 1))\n"
      "        [ \"${COMP_WORDS[at]}\" != \"=\" ] || at=$((at + 1))\n"
      "        at=$((at + 1))\n"
      "        while [ \"$at\" -le \"$COMP_CWORD\" ] && "
      "[ \"${COMP_WORDS[at]}\" = \":\" ]; do\n"
      "          at=$((at + 2))\n"
      "        done ;;\n"
      "      -*) at=$((at + 1)) ;;\n"
      "      *) break ;;\n"
      "    esac\n"
      "  done\n");
}

// The same function serves both shells: zsh runs it through bashcompinit.
std::string Script() {
  std::vector<std::string> names;
  std::string branches;
  for (const Command& command : Commands()) {
    names.push_back(command.name);
    branches += Branch(command);
  }
  const Leading leading = LeadingOptions();
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
      "  case \"$previous\" in\n"
      "    -o|--output) COMPREPLY=($(compgen -W \"table json yaml\" -- "
      "\"$current\")); return ;;\n"
      "    --dir|--html|--out) COMPREPLY=($(compgen -f -- \"$current\")); "
      "return ;;\n"
      "  esac\n",
      FindsCommand(leading.valued),
      "  if [ \"$at\" -gt \"$COMP_CWORD\" ]; then\n"
      "    COMPREPLY=()\n"
      "    return\n"
      "  fi\n"
      "  if [ \"$at\" -eq \"$COMP_CWORD\" ]; then\n"
      "    options=\"",
      absl::StrJoin(leading.words, " "),
      "\" words=\"$commands\"\n"
      "  else\n"
      "    case \"${COMP_WORDS[at]}\" in\n",
      branches,
      "    esac\n"
      "  fi\n"
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

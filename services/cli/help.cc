#include "services/cli/help.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

std::string OptionHead(const Option& option) {
  std::string head =
      option.letter != 0
          ? absl::StrFormat("-%c, --%s", option.letter, option.name)
          : "    --" + option.name;
  if (!option.value.empty()) head += " " + option.value;
  return head;
}

std::string OptionLines(const std::vector<Option>& options) {
  size_t width = 0;
  for (const Option& option : options) {
    if (option.help.empty()) continue;
    width = std::max(width, OptionHead(option).size());
  }
  std::string text;
  for (const Option& option : options) {
    if (option.help.empty()) continue;
    absl::StrAppendFormat(&text, "  %-*s  %s\n", static_cast<int>(width),
                          OptionHead(option), option.help);
  }
  return text;
}

}  // namespace

const std::vector<Option>& CommonOptions() {
  static const auto& options = *new std::vector<Option>{
      {"output",
       'o',
       "FORM",
       "table (default), json or yaml",
       false,
       {"table", "json", "yaml"}},
      {"server", 0, "HOST:PORT",
       "scheduler; default $ORDO_SERVER, 127.0.0.1:7420"},
      {"ca", 0, "FILE", "speak TLS; authority of the scheduler; $ORDO_CA"},
      {"certificate", 0, "FILE", "who you are; default $ORDO_CERTIFICATE"},
      {"key", 0, "FILE", "of --certificate; $ORDO_KEY, or the same file"},
      {"token-file", 0, "FILE",
       "secret that says who you are; "
       "$ORDO_TOKEN_FILE"},
      {"help", 'h', "", "print this"},
  };
  return options;
}

std::vector<Option> AllOptions(const Command& command) {
  std::vector<Option> options = command.options;
  options.insert(options.end(), CommonOptions().begin(), CommonOptions().end());
  return options;
}

std::string Overview(const std::vector<Command>& commands) {
  std::string text =
      "Ordo trains and evaluates transformers under any positional encoding.\n"
      "\n"
      "  ordo COMMAND ...          ordo help COMMAND says more\n"
      "\n";
  for (const Command& command : commands) {
    absl::StrAppendFormat(&text, "  %-10s  %s\n", command.name,
                          command.summary);
  }
  absl::StrAppend(&text, "\nEvery command takes:\n",
                  OptionLines(CommonOptions()),
                  "\nExit codes: 0 ok, 1 job failed, 2 bad input, 3 cancelled, "
                  "4 unreachable,\n5 timed out, 6 gate failed, 7 gate "
                  "inconclusive, 8 refused by a limit, a\nfull disk or "
                  "another's change, 9 damaged data, 70 a bug of ours.\n");
  return text;
}

std::string HelpText(const Command& command) {
  std::string text =
      absl::StrCat("ordo ", command.name, command.arguments.empty() ? "" : " ",
                   command.arguments, "\n\n", command.summary, "\n");
  if (!command.help.empty()) absl::StrAppend(&text, "\n", command.help, "\n");
  absl::StrAppend(&text, "\nOptions:\n", OptionLines(AllOptions(command)));
  return text;
}

void PrintHelp(Context& context, const std::string& text) {
  google::protobuf::Struct fields;
  (*fields.mutable_fields())["help"].set_string_value(text);
  if (!PrintStructured(context, fields)) context.out << text;
}

}  // namespace ordo::services::cli

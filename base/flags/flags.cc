#include "base/flags/flags.h"

#include <map>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "base/version/version.h"

namespace ordo::base {
namespace {

// By "--name".
using Flags = std::map<std::string, absl::CommandLineFlag*>;

Flags FlagsOfMain() {
  Flags flags;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (absl::EndsWith(flag->Filename(), "/main.cc")) {
      flags.emplace(absl::StrCat("--", name), flag);
    }
  }
  return flags;
}

// "--name" of "--name", "-name" and either with a value.
std::string NameIn(const std::string& argument) {
  absl::string_view name = argument;
  name = name.substr(0, name.find('='));
  if (!absl::ConsumePrefix(&name, "--")) absl::ConsumePrefix(&name, "-");
  return absl::StrCat("--", name);
}

absl::Status UnknownFlag(const Flags& flags, const std::string& name) {
  std::vector<std::string> names = {"--help", "--version"};
  for (const auto& [each, flag] : flags) names.push_back(each);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown flag '", name, "'", SuggestName(name, names)));
}

// Sets the flag at arguments[*i], whose value may be the next argument; *i is
// left at the last one.
absl::Status ReadFlag(const Flags& flags,
                      const std::vector<std::string>& arguments, size_t* i) {
  const std::string argument = arguments[*i];
  const std::string name = NameIn(argument);
  const auto found = flags.find(name);
  if (found == flags.end()) return UnknownFlag(flags, name);
  absl::CommandLineFlag& flag = *found->second;
  std::string value = "true";
  if (const size_t equals = argument.find('='); equals != std::string::npos) {
    value = argument.substr(equals + 1);
  } else if (!flag.IsOfType<bool>()) {
    if (*i + 1 == arguments.size()) {
      return absl::InvalidArgumentError(absl::StrCat(name, " needs a value"));
    }
    value = arguments[++*i];
  }
  std::string error;
  if (flag.ParseFrom(value, &error)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " cannot be '", value, "'",
                   error.empty() ? "" : absl::StrCat(": ", error)));
}

std::string HelpOf(const Flags& flags) {
  std::string text = "Flags:\n";
  const auto add = [&text](const std::string& name, const std::string& help) {
    absl::StrAppend(&text, "  ", name, "\n      ", help, "\n");
  };
  for (const auto& [name, flag] : flags) {
    add(name + (flag->IsOfType<bool>() ? "" : " VALUE"), flag->Help());
  }
  add("--help", "Says this.");
  add("--version", "Says which build this is: the SHA-256 of this program.");
  return text;
}

absl::StatusOr<std::string> VersionOf(const std::string& program) {
  ORDO_ASSIGN_OR_RETURN(const std::string build, BuildId());
  return absl::StrCat(program, ", build ", build, "\n");
}

}  // namespace

absl::StatusOr<CommandLine> ParseFlags(
    const std::vector<std::string>& command_line, const std::string& usage) {
  const std::string program =
      command_line[0].substr(command_line[0].rfind('/') + 1);
  const Flags flags = FlagsOfMain();
  CommandLine line;
  for (size_t i = 1; i < command_line.size(); ++i) {
    const std::string& argument = command_line[i];
    if (argument == "--") {
      line.words.insert(line.words.end(), command_line.begin() + i + 1,
                        command_line.end());
      break;
    }
    if (argument == "--help" || argument == "-h") {
      line.answer = absl::StrCat(program, ": ", usage, "\n\n", HelpOf(flags));
      break;
    }
    if (argument == "--version") {
      ORDO_ASSIGN_OR_RETURN(line.answer, VersionOf(program));
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      line.words.push_back(argument);
    } else if (const absl::Status status = ReadFlag(flags, command_line, &i);
               !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(status.message(), "; see: ", program, " --help"));
    }
  }
  return line;
}

}  // namespace ordo::base

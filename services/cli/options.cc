#include "services/cli/options.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "base/units/duration_text.h"

namespace ordo::services::cli {
namespace {

absl::Status UnknownOption(const std::vector<Option>& options,
                           const std::string& given) {
  std::vector<std::string> names;
  for (const Option& option : options) {
    if (!option.help.empty()) names.push_back("--" + option.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown option ", given, base::SuggestName(given, names)));
}

const Option* Find(const std::vector<Option>& options, const std::string& name,
                   char letter) {
  for (const Option& option : options) {
    if (letter != 0 ? option.letter == letter : option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

absl::Status CheckValue(const Option& option, const std::string& value,
                        bool given_before) {
  if (given_before && !option.repeated) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option.name, " is given twice"));
  }
  if (option.choices.empty()) return absl::OkStatus();
  for (const std::string& choice : option.choices) {
    if (choice == value) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", option.name, " takes ",
                   absl::StrJoin(option.choices, ", "), "; not '", value, "'"));
}

// A negative number is an argument.
bool IsOption(const std::string& arg) {
  return arg.size() >= 2 && arg[0] == '-' && !absl::ascii_isdigit(arg[1]);
}

// An option as it was given.
struct Given {
  const Option* option = nullptr;
  std::string value;
  // Arguments that it takes up.
  size_t num_args = 1;
};

// The option that args[i] begins.
absl::StatusOr<Given> ReadOption(const std::vector<Option>& options,
                                 const std::vector<std::string>& args,
                                 size_t i) {
  const std::string& arg = args[i];
  const bool is_long = arg[1] == '-';
  const size_t equals = is_long ? arg.find('=') : std::string::npos;
  const std::string shown = is_long ? arg.substr(0, equals) : arg.substr(0, 2);
  Given given;
  given.option =
      is_long ? Find(options, shown.substr(2), 0) : Find(options, "", arg[1]);
  if (given.option == nullptr) return UnknownOption(options, shown);

  const bool attached = is_long ? equals != std::string::npos : arg.size() > 2;
  if (given.option->value.empty()) {
    if (!attached) return given;
    return absl::InvalidArgumentError(absl::StrCat(shown, " takes no value"));
  }
  if (attached) {
    given.value = is_long ? arg.substr(equals + 1) : arg.substr(2);
    return given;
  }
  if (i + 1 == args.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        shown, " needs a value: ", shown, " ", given.option->value));
  }
  given.value = args[i + 1];
  given.num_args = 2;
  return given;
}

}  // namespace

bool Arguments::Has(const std::string& option) const {
  return values_.count(option) > 0;
}

std::string Arguments::Get(const std::string& option,
                           const std::string& fallback) const {
  const auto found = values_.find(option);
  return found == values_.end() ? fallback : found->second.back();
}

std::vector<std::string> Arguments::All(const std::string& option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

absl::StatusOr<int64_t> Arguments::GetInt(const std::string& option,
                                          int64_t fallback, int64_t min,
                                          int64_t max) const {
  if (!Has(option)) return fallback;
  const std::string text = Get(option, "");
  int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value) || value < min || value > max) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option, " takes a whole number from ", min, " to ",
                     max, "; not '", text, "'"));
  }
  return value;
}

absl::StatusOr<absl::Duration> Arguments::GetDuration(
    const std::string& option, absl::Duration fallback) const {
  if (!Has(option)) return fallback;
  const std::string text = Get(option, "");
  absl::Duration value;
  if (!base::ParseDurationText(text, &value) || value < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", option, " takes a duration such as 90s, 1h30m or 2d; ", "not '",
        text, "'"));
  }
  return value;
}

absl::StatusOr<Arguments> ParseArguments(const std::vector<Option>& options,
                                         const std::vector<std::string>& args) {
  Arguments parsed;
  for (size_t i = 0; i < args.size();) {
    if (args[i] == "--") {
      parsed.positional_.insert(parsed.positional_.end(), args.begin() + i + 1,
                                args.end());
      break;
    }
    if (!IsOption(args[i])) {
      parsed.positional_.push_back(args[i++]);
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(Given given, ReadOption(options, args, i));
    const std::string& name = given.option->name;
    ORDO_RETURN_IF_ERROR(
        CheckValue(*given.option, given.value, parsed.Has(name)));
    parsed.values_[name].push_back(std::move(given.value));
    i += given.num_args;
  }
  return parsed;
}

absl::StatusOr<size_t> CountLeadingOptions(
    const std::vector<Option>& options, const std::vector<std::string>& args) {
  size_t count = 0;
  while (count < args.size() && IsOption(args[count])) {
    ORDO_ASSIGN_OR_RETURN(const Given given, ReadOption(options, args, count));
    count += given.num_args;
  }
  return count;
}

absl::StatusOr<std::pair<std::string, std::string>> SplitAssignment(
    const std::string& option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option, " takes name=value; not '", text, "'"));
  }
  return std::make_pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace ordo::services::cli

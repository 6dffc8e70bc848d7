#ifndef ORDO_SERVICES_CLI_OPTIONS_H_
#define ORDO_SERVICES_CLI_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ordo::services::cli {

// An option of a command. Tables of these decide what is parsed, what `ordo
// help` prints and what the shells complete.
struct Option {
  // Long name, without the dashes.
  std::string name;
  // Short name, or 0.
  char letter = 0;
  // What its value is called in the help, "FILE"; empty for a switch.
  std::string value;
  // A line of help; empty hides the option.
  std::string help;
  // May be given more than once.
  bool repeated = false;
  // The values it takes; empty: any.
  std::vector<std::string> choices = {};
};

// What was given on the command line. Every name asked for must be one of the
// table that was parsed with.
class Arguments {
 public:
  bool Has(const std::string& option) const;
  // The last value given, or `fallback`.
  std::string Get(const std::string& option, const std::string& fallback) const;
  // All values, in order.
  std::vector<std::string> All(const std::string& option) const;
  // INVALID_ARGUMENT when the value is not a whole number in [min, max].
  absl::StatusOr<int64_t> GetInt(const std::string& option, int64_t fallback,
                                 int64_t min, int64_t max) const;
  // Values such as "90s", "1h30m", "2d". INVALID_ARGUMENT for others and for
  // negative ones.
  absl::StatusOr<absl::Duration> GetDuration(const std::string& option,
                                             absl::Duration fallback) const;

  const std::vector<std::string>& positional() const { return positional_; }

 private:
  friend absl::StatusOr<Arguments> ParseArguments(
      const std::vector<Option>& options, const std::vector<std::string>& args);

  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> positional_;
};

// Reads "--name=value", "--name value", "--switch", "-x value", "-xvalue"; "--"
// ends the options, "-" alone and "-5" are arguments. Options and arguments may
// be mixed. INVALID_ARGUMENT names the nearest option for an unknown one.
absl::StatusOr<Arguments> ParseArguments(const std::vector<Option>& options,
                                         const std::vector<std::string>& args);

// How many of `args` are options of the table, with their values, before the
// first argument that is none. Errors as ParseArguments.
absl::StatusOr<size_t> CountLeadingOptions(
    const std::vector<Option>& options, const std::vector<std::string>& args);

// "name=value" in two; INVALID_ARGUMENT, naming `option`, without a "=" or
// name.
absl::StatusOr<std::pair<std::string, std::string>> SplitAssignment(
    const std::string& option, const std::string& text);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_OPTIONS_H_

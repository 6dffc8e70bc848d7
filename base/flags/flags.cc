#include "base/flags/flags.h"

#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace ordo::base {

void SetHelp(const std::string& usage) {
  absl::SetProgramUsageMessage(usage);
  absl::FlagsUsageConfig config;
  config.contains_help_flags = [](absl::string_view file) {
    return absl::EndsWith(file, "/main.cc");
  };
  absl::SetFlagsUsageConfig(config);
}

}  // namespace ordo::base

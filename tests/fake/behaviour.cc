#include "tests/fake/behaviour.h"

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"

namespace ordo::tests::fake {
namespace {

absl::StatusOr<Behaviour> ParseKeys(absl::string_view keys) {
  Behaviour behaviour;
  const std::map<std::string, int64_t*> fields = {
      {"start_ms", &behaviour.start_ms},
      {"step_ms", &behaviour.step_ms},
      {"checkpoint_ms", &behaviour.checkpoint_ms},
      {"hold_start", &behaviour.hold_start},
      {"hold_at", &behaviour.hold_at},
      {"hold_checkpoint", &behaviour.hold_checkpoint},
      {"crash_at", &behaviour.crash_at},
      {"hang_at", &behaviour.hang_at},
      {"exit_at", &behaviour.exit_at},
      {"exit_code", &behaviour.exit_code},
      {"once", &behaviour.once},
      {"ignore_term", &behaviour.ignore_term},
      {"grandchildren", &behaviour.grandchildren},
      {"log_mb", &behaviour.log_mb},
      {"disk_bytes", &behaviour.disk_bytes},
      {"heal_at", &behaviour.heal_at},
      {"claim", &behaviour.claim},
  };
  for (absl::string_view entry : absl::StrSplit(keys, ',', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(entry, '=');
    const auto field = fields.find(parts[0]);
    if (parts.size() != 2 || field == fields.end() ||
        !absl::SimpleAtoi(parts[1], field->second)) {
      return absl::InvalidArgumentError(
          absl::StrCat("ORDO_FAKE: not understood: ", entry));
    }
  }
  return behaviour;
}

}  // namespace

absl::StatusOr<Behaviour> ParseBehaviour(std::string_view text,
                                         std::string_view job) {
  const absl::string_view all(text.data(), text.size());
  const absl::string_view wanted(job.data(), job.size());
  Behaviour behaviour;
  bool named = false;
  for (absl::string_view entry : absl::StrSplit(all, ';', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(entry, ':');
    if (parts.size() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("ORDO_FAKE: not JOB:key=value,...: ", entry));
    }
    // Each entry is read, so that a slip in any shows at once.
    ORDO_ASSIGN_OR_RETURN(const Behaviour parsed, ParseKeys(parts[1]));
    if (parts[0] == wanted || (parts[0] == "*" && !named)) behaviour = parsed;
    named = named || parts[0] == wanted;
  }
  return behaviour;
}

}  // namespace ordo::tests::fake

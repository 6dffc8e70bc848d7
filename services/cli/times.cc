#include "services/cli/times.h"

#include "absl/strings/str_cat.h"
#include "base/units/duration_text.h"

namespace ordo::services::cli {
namespace {

bool ParseMoment(const std::string& text, absl::Time* time) {
  for (const char* form :
       {absl::RFC3339_full, "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"}) {
    std::string error;
    if (absl::ParseTime(form, text, absl::LocalTimeZone(), time, &error)) {
      return *time != absl::InfiniteFuture() && *time != absl::InfinitePast();
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<absl::Time> ParseTime(const std::string& option,
                                     const std::string& text, absl::Time now,
                                     Direction direction) {
  absl::Duration duration;
  if (base::ParseDurationText(text, &duration) &&
      duration >= absl::ZeroDuration() &&
      duration != absl::InfiniteDuration()) {
    return direction == Direction::kBack ? now - duration : now + duration;
  }
  absl::Time time;
  if (ParseMoment(text, &time)) return time;
  return absl::InvalidArgumentError(absl::StrCat(
      "--", option, " takes a duration ",
      direction == Direction::kBack ? "before" : "from",
      " now, such as 90m or ",
      "7d, or a time such as '2026-11-22 10:00' or 2026-11-22T10:00:00Z; not '",
      text, "'"));
}

}  // namespace ordo::services::cli

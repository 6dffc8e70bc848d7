#ifndef ORDO_SERVICES_CLI_TIMES_H_
#define ORDO_SERVICES_CLI_TIMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ordo::services::cli {

// Which way a duration counts from now.
enum class Direction { kBack, kAhead };

// A point in time as people write it: a duration from `now` ("90s", "1h30m",
// "7d"), "2026-11-22T10:00:00Z", or "2026-11-22", "2026-11-22 10:00" and
// "2026-11-22 10:00:05" in the local zone. INVALID_ARGUMENT, naming the option,
// for others.
absl::StatusOr<absl::Time> ParseTime(const std::string& option,
                                     const std::string& text, absl::Time now,
                                     Direction direction);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_TIMES_H_

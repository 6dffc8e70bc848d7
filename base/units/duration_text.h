#ifndef ORDO_BASE_UNITS_DURATION_TEXT_H_
#define ORDO_BASE_UNITS_DURATION_TEXT_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"

// Durations as people write them, with days of 24 hours: "2d", "1d12h", "90s".

namespace ordo::base {

// False, `duration` unchanged, for what is none. Takes a sign before the whole
// and "inf", as absl::ParseDuration does.
bool ParseDurationText(std::string_view text, absl::Duration* duration);

// Exact, and read again by ParseDurationText: "0s", "500ms", "416d15h".
std::string DurationText(absl::Duration duration);

}  // namespace ordo::base

#endif  // ORDO_BASE_UNITS_DURATION_TEXT_H_

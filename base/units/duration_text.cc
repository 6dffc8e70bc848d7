#include "base/units/duration_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ordo::base {
namespace {

constexpr int kHoursOfADay = 24;

bool ParsePlain(std::string_view text, absl::Duration* duration) {
  return absl::ParseDuration(absl::string_view(text.data(), text.size()),
                             duration);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool ParseDurationText(std::string_view text, absl::Duration* duration) {
  // No unit of absl's has a 'd'.
  const size_t end = text.find('d');
  if (end == std::string_view::npos) return ParsePlain(text, duration);
  const bool has_sign = text[0] == '-' || text[0] == '+';
  const std::string_view digits =
      text.substr(has_sign ? 1 : 0, end - (has_sign ? 1 : 0));
  const std::string_view rest = text.substr(end + 1);
  int32_t days = 0;
  if (!std::all_of(digits.begin(), digits.end(), IsDigit) ||
      !absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()),
                        &days)) {
    return false;
  }
  absl::Duration below;
  if (!rest.empty() && (!IsDigit(rest[0]) || !ParsePlain(rest, &below))) {
    return false;
  }
  const absl::Duration whole = absl::Hours(kHoursOfADay) * days + below;
  *duration = text[0] == '-' ? -whole : whole;
  return true;
}

std::string DurationText(absl::Duration duration) {
  if (duration == absl::ZeroDuration()) return "0s";
  if (duration < absl::ZeroDuration()) return "-" + DurationText(-duration);
  if (duration == absl::InfiniteDuration()) return "inf";
  absl::Duration below;
  const int64_t days =
      absl::IDivDuration(duration, absl::Hours(kHoursOfADay), &below);
  if (days == 0) return absl::FormatDuration(duration);
  return absl::StrCat(days, "d",
                      below == absl::ZeroDuration()
                          ? std::string()
                          : absl::FormatDuration(below));
}

}  // namespace ordo::base

#include "base/yaml/scalars.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/units/duration_text.h"
#include "base/units/proto_time.h"

namespace ordo::base {
namespace {

// The largest duration of the JSON mapping: about 10 000 years.
constexpr int64_t kMaxDurationSeconds = 315'576'000'000;

absl::Status MustBe(std::string_view what, std::string_view text) {
  return absl::InvalidArgumentError("must be " + std::string(what) + ", not '" +
                                    std::string(text) + "'");
}

// from_chars takes no leading plus.
std::string_view WithoutPlus(std::string_view text) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return text.substr(has_plus ? 1 : 0);
}

// A finite decimal number, nothing else.
std::optional<double> ParseFinite(std::string_view text) {
  const std::string_view digits = WithoutPlus(text);
  const std::string_view unsigned_digits =
      digits.substr(!digits.empty() && digits[0] == '-' ? 1 : 0);
  // from_chars would take "inf" and "nan".
  if (unsigned_digits.empty() ||
      std::string_view("0123456789.").find(unsigned_digits[0]) ==
          std::string_view::npos) {
    return std::nullopt;
  }
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

template <typename T>
absl::StatusOr<T> ParseWhole(std::string_view text) {
  const std::string_view digits = WithoutPlus(text);
  T value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end) return value;
  const std::optional<double> number = ParseFinite(text);
  if (!number || *number != std::floor(*number)) {
    return MustBe("a whole number", text);
  }
  const T least = std::numeric_limits<T>::min();
  const T most = std::numeric_limits<T>::max();
  // The first double that is too large: 2^digits is exact, `most` may not be.
  const double too_large = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (*number < static_cast<double>(least) || *number >= too_large) {
    return MustBe(
        "between " + std::to_string(least) + " and " + std::to_string(most),
        text);
  }
  return static_cast<T>(*number);
}

template <typename T>
std::string PrintNumber(T value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::array<char, 40> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace

absl::StatusOr<int32_t> ParseInt32(std::string_view text) {
  return ParseWhole<int32_t>(text);
}
absl::StatusOr<int64_t> ParseInt64(std::string_view text) {
  return ParseWhole<int64_t>(text);
}
absl::StatusOr<uint32_t> ParseUint32(std::string_view text) {
  return ParseWhole<uint32_t>(text);
}
absl::StatusOr<uint64_t> ParseUint64(std::string_view text) {
  return ParseWhole<uint64_t>(text);
}

absl::StatusOr<double> ParseDouble(std::string_view text) {
  const std::optional<double> finite = ParseFinite(text);
  if (finite) return *finite;
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == ".inf" || text == "Infinity") return infinity;
  if (text == "-.inf" || text == "-Infinity") return -infinity;
  if (text == ".nan" || text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return MustBe("a number", text);
}

bool IsNumber(std::string_view text) { return ParseFinite(text).has_value(); }

absl::StatusOr<bool> ParseBool(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return MustBe("true or false", text);
}

absl::StatusOr<google::protobuf::Duration> ParseDuration(
    std::string_view text) {
  absl::Duration duration;
  if (!ParseDurationText(text, &duration) ||
      absl::AbsDuration(duration) > absl::Seconds(kMaxDurationSeconds)) {
    return MustBe("a duration such as 30s, 1h30m or 2d", text);
  }
  google::protobuf::Duration result;
  result.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  result.set_nanos(static_cast<int32_t>(
      absl::IDivDuration(duration, absl::Nanoseconds(1), &duration)));
  return result;
}

absl::StatusOr<google::protobuf::Timestamp> ParseTimestamp(
    std::string_view text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full,
                       absl::string_view(text.data(), text.size()), &time,
                       &error)) {
    return MustBe("a time such as 2026-11-20T21:30:00Z", text);
  }
  return ToTimestamp(time);
}

std::string PrintDouble(double value) { return PrintNumber(value); }
std::string PrintFloat(float value) { return PrintNumber(value); }

std::string PrintDuration(const google::protobuf::Duration& duration) {
  const bool is_negative = duration.seconds() < 0 || duration.nanos() < 0;
  // Unsigned, so that no value overflows.
  const uint64_t seconds = is_negative
                               ? 0 - static_cast<uint64_t>(duration.seconds())
                               : static_cast<uint64_t>(duration.seconds());
  std::string text = (is_negative ? "-" : "") + std::to_string(seconds);
  const long nanos = std::labs(duration.nanos());
  if (nanos != 0) {
    std::array<char, 32> fraction;
    std::snprintf(fraction.data(), fraction.size(), ".%09ld", nanos);
    text += fraction.data();
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "s";
}

std::string PrintTimestamp(const google::protobuf::Timestamp& timestamp) {
  const absl::Time time = ToTime(timestamp);
  const std::string text =
      absl::FormatTime("%Y-%m-%d%ET%H:%M:%E*S", time, absl::UTCTimeZone());
  return text + "Z";
}

}  // namespace ordo::base

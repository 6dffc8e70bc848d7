#ifndef ORDO_BASE_YAML_SCALARS_H_
#define ORDO_BASE_YAML_SCALARS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

// Numbers and times as they stand in YAML and JSON. Errors are
// INVALID_ARGUMENT whose message says what the text must be.

namespace ordo::base {

// Whole numbers: "500", "-3", "1e3"; "1.5" is refused, and so is what the type
// cannot hold.
absl::StatusOr<int32_t> ParseInt32(std::string_view text);
absl::StatusOr<int64_t> ParseInt64(std::string_view text);
absl::StatusOr<uint32_t> ParseUint32(std::string_view text);
absl::StatusOr<uint64_t> ParseUint64(std::string_view text);

// Numbers: "1e-3", "0.5", ".5"; infinities and not-a-number as YAML (".inf",
// "-.inf", ".nan") and JSON ("Infinity", "-Infinity", "NaN") have them.
absl::StatusOr<double> ParseDouble(std::string_view text);

// True when `text` is a finite number.
bool IsNumber(std::string_view text);

// "true" and "false", also with a capital or in capitals.
absl::StatusOr<bool> ParseBool(std::string_view text);

// "30s", "1.5h", "2m30s", "250ms", "1d12h".
absl::StatusOr<google::protobuf::Duration> ParseDuration(std::string_view text);

// RFC 3339: "2026-11-20T21:30:00Z".
absl::StatusOr<google::protobuf::Timestamp> ParseTimestamp(
    std::string_view text);

// The shortest text that gives the same number again.
std::string PrintDouble(double value);
std::string PrintFloat(float value);

// In seconds: "30s", "0.250s".
std::string PrintDuration(const google::protobuf::Duration& duration);
std::string PrintTimestamp(const google::protobuf::Timestamp& timestamp);

}  // namespace ordo::base

#endif  // ORDO_BASE_YAML_SCALARS_H_

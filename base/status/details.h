#ifndef ORDO_BASE_STATUS_DETAILS_H_
#define ORDO_BASE_STATUS_DETAILS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

// Structured details of an error, carried as payloads of absl::Status in the
// form of google.rpc (https://google.aip.dev/193), so that base/rpc can send
// them to other programs unchanged.

namespace ordo::base {

// One thing wrong with a request or a file.
struct FieldViolation {
  // Path of the field, such as "evaluations[0].params.samples"; empty for the
  // whole message.
  std::string field;
  // What is wrong and how to put it right, as a sentence part.
  std::string description;
};

inline bool operator==(const FieldViolation& a, const FieldViolation& b) {
  return a.field == b.field && a.description == b.description;
}

// INVALID_ARGUMENT with one violation; the message is "field: description".
absl::Status InvalidField(std::string_view field, std::string_view description);

// More violations than this are only counted, in one last violation.
inline constexpr size_t kMaxViolations = 100;

// INVALID_ARGUMENT naming all violations; OK when there are none.
absl::Status InvalidFields(const std::vector<FieldViolation>& violations);

// The violations that a status carries; empty when it carries none.
std::vector<FieldViolation> FieldViolations(const absl::Status& status);

// Machine-readable reason of an error (google.rpc.ErrorInfo).
struct ErrorInfo {
  // UPPER_SNAKE_CASE, stable: programs decide on it.
  std::string reason;
  std::string domain = "ordo";
  std::map<std::string, std::string> metadata;
};

// The status with `info` attached, replacing an earlier one. OK stays OK.
absl::Status WithErrorInfo(absl::Status status, const ErrorInfo& info);

// The reason that a status carries, if any.
std::optional<ErrorInfo> GetErrorInfo(const absl::Status& status);

}  // namespace ordo::base

#endif  // ORDO_BASE_STATUS_DETAILS_H_

#ifndef ORDO_BASE_STATUS_STATUS_H_
#define ORDO_BASE_STATUS_STATUS_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expression`, an absl::Status or
// StatusOr, is not OK. The function returns absl::Status or a StatusOr.
#define ORDO_RETURN_IF_ERROR(expression)                               \
  do {                                                                 \
    if (absl::Status ordo_status = ::ordo::base::ToStatus(expression); \
        !ordo_status.ok()) {                                           \
      return ordo_status;                                              \
    }                                                                  \
  } while (false)

// Evaluates `expression`, an absl::StatusOr<T>; returns its error, or assigns
// its value to `lhs`, which may declare a variable:
//   ORDO_ASSIGN_OR_RETURN(const std::string text, files.Read(path, limit));
// A type with a comma in it needs an alias or `auto`.
#define ORDO_ASSIGN_OR_RETURN(lhs, expression)                             \
  ORDO_ASSIGN_OR_RETURN_IMPL_(ORDO_STATUS_CONCAT_(ordo_result_, __LINE__), \
                              lhs, expression)
#define ORDO_ASSIGN_OR_RETURN_IMPL_(result, lhs, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return std::move(result).status();       \
  lhs = *std::move(result)
#define ORDO_STATUS_CONCAT_(a, b) ORDO_STATUS_CONCAT_IMPL_(a, b)
#define ORDO_STATUS_CONCAT_IMPL_(a, b) a##b

namespace ordo::base {

inline absl::Status ToStatus(const absl::Status& status) { return status; }
template <typename T>
absl::Status ToStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

// Puts what was attempted in front of an error's message, keeping its code and
// payloads: AddContext(NotFound("no such file"), "read job file a.yaml") reads
// "read job file a.yaml: no such file". OK stays OK.
absl::Status AddContext(const absl::Status& status, std::string_view attempted);
template <typename T>
absl::StatusOr<T> AddContext(absl::StatusOr<T> result,
                             std::string_view attempted) {
  if (result.ok()) return result;
  return AddContext(result.status(), attempted);
}

// The error of a system call: "<attempted>: No space left on device", with the
// code that fits `error_number` (ENOENT is NOT_FOUND, ENOSPC is
// RESOURCE_EXHAUSTED, EIO is DATA_LOSS, ...). `error_number` is not 0.
absl::Status SystemError(int error_number, std::string_view attempted);

}  // namespace ordo::base

#endif  // ORDO_BASE_STATUS_STATUS_H_

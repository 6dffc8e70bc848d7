#ifndef ORDO_MODEL_GUARD_H_
#define ORDO_MODEL_GUARD_H_

#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The one place where exceptions, which exist only inside LibTorch code, become
// statuses.

namespace ordo::model {

// The status of the exception being handled; call it in a catch block only.
// Memory ran out: RESOURCE_EXHAUSTED. A device failed: UNAVAILABLE. A value
// that the caller gave is refused (c10::ValueError): INVALID_ARGUMENT. Anything
// else is a bug of ours or LibTorch's: INTERNAL. The message begins with
// `attempted` and leaves out the stack trace.
absl::Status StatusOfException(std::string_view attempted);

// Runs `function`, which returns void, absl::Status, absl::StatusOr<T> or T;
// returns its status, or its value as absl::StatusOr<T>.
//   ORDO_ASSIGN_OR_RETURN(auto logits, Guard("run the model", [&] {
//     return transformer.Forward(tokens); }));
template <typename Function>
auto Guard(std::string_view attempted, Function&& function) {
  using Result = std::invoke_result_t<Function>;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<Function>(function)();
      return absl::OkStatus();
    } catch (...) {
      return StatusOfException(attempted);
    }
  } else if constexpr (std::is_constructible_v<Result, absl::Status>) {
    try {
      return std::forward<Function>(function)();
    } catch (...) {
      return Result(StatusOfException(attempted));
    }
  } else {
    try {
      return absl::StatusOr<Result>(std::forward<Function>(function)());
    } catch (...) {
      return absl::StatusOr<Result>(StatusOfException(attempted));
    }
  }
}

}  // namespace ordo::model

#endif  // ORDO_MODEL_GUARD_H_

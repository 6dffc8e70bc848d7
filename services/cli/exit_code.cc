#include "services/cli/exit_code.h"

namespace ordo::services::cli {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kUnreachable;
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kTimedOut;
    case absl::StatusCode::kCancelled:
      return ExitCode::kCancelled;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kAborted:
      return ExitCode::kRefusedForNow;
    case absl::StatusCode::kDataLoss:
      return ExitCode::kDamaged;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kBug;
    default:
      return ExitCode::kBadInput;
  }
}

absl::Status ErrorOfExit(int exit_code, const std::string& message) {
  switch (static_cast<ExitCode>(exit_code)) {
    case ExitCode::kRefusedForNow:
      return absl::ResourceExhaustedError(message);
    case ExitCode::kDamaged:
      return absl::DataLossError(message);
    default:
      return absl::FailedPreconditionError(message);
  }
}

ExitCode ExitCodeOf(jobs::v1::Job::State state) {
  switch (state) {
    case jobs::v1::Job::FAILED:
      return ExitCode::kJobFailed;
    case jobs::v1::Job::CANCELLED:
      return ExitCode::kCancelled;
    default:
      return ExitCode::kOk;
  }
}

ExitCode Worse(ExitCode a, ExitCode b) {
  if (a == ExitCode::kOk) return b;
  if (b == ExitCode::kOk) return a;
  return a == ExitCode::kJobFailed ? a : b;
}

}  // namespace ordo::services::cli

#include "worker/trainer/exit_code.h"

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "google/protobuf/descriptor.h"

namespace ordo::worker::trainer {

absl::Status WithExitCode(const absl::Status& status, ExitCode code) {
  if (const auto info = base::GetErrorInfo(status)) {
    ExitCode marked;
    if (ordo::training::v1::ExitCode_Parse(info->reason, &marked)) {
      return status;
    }
  }
  base::ErrorInfo info;
  info.reason = ordo::training::v1::ExitCode_Name(code);
  return base::WithErrorInfo(status, info);
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ordo::training::v1::FINISHED;
  if (const auto info = base::GetErrorInfo(status)) {
    ExitCode marked;
    if (ordo::training::v1::ExitCode_Parse(info->reason, &marked)) {
      return marked;
    }
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return ordo::training::v1::BAD_SPEC;
    case absl::StatusCode::kResourceExhausted:
      return ordo::training::v1::OUT_OF_MEMORY;
    case absl::StatusCode::kUnavailable:
      return ordo::training::v1::DEVICE_ERROR;
    default:
      return ordo::training::v1::INTERNAL_ERROR;
  }
}

std::string MessageForPeople(const absl::Status& status) {
  const auto* value =
      ordo::training::v1::ExitCode_descriptor()->FindValueByNumber(
          ExitCodeOf(status));
  const std::string& fix =
      value->options().GetExtension(ordo::training::v1::exit_code).fix();
  std::string message(status.message().data(), status.message().size());
  if (!fix.empty() && message.find(fix) == std::string::npos) {
    absl::StrAppend(&message, "; ", fix);
  }
  return message;
}

}  // namespace ordo::worker::trainer

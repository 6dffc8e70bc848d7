#include "model/tasks/data_access.h"

#include "base/status/details.h"

namespace ordo::model::tasks {

absl::Status DataMissing(const absl::Status& status) {
  if (status.ok() || absl::IsInvalidArgument(status) ||
      absl::IsCancelled(status) || absl::IsResourceExhausted(status) ||
      base::GetErrorInfo(status).has_value()) {
    return status;
  }
  base::ErrorInfo info;
  info.reason = kDataMissingReason;
  return base::WithErrorInfo(status, info);
}

}  // namespace ordo::model::tasks

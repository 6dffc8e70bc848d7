#include "base/version/worker_protocol.h"

#include "absl/strings/str_cat.h"

namespace ordo::base {

absl::Status CheckNeighbours(const WorkerProtocols& protocols) {
  if (protocols.worker_version < 0 || protocols.scheduler_version < 0) {
    return absl::InvalidArgumentError("protocol: must not be negative");
  }
  const int64_t worker =
      protocols.worker_version == 0 ? 1 : protocols.worker_version;
  const int64_t scheduler =
      protocols.scheduler_version == 0 ? 1 : protocols.scheduler_version;
  if (worker - scheduler <= 1 && scheduler - worker <= 1) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("protocol: worker ", protocols.worker, " speaks version ",
                   worker, ", its scheduler version ", scheduler,
                   ", which are more than one apart; upgrade the ",
                   worker < scheduler ? "worker to the scheduler's release"
                                      : "scheduler to the worker's release",
                   " or to one between them"));
}

}  // namespace ordo::base

#ifndef ORDO_SCHEDULER_CORE_WORKER_ADMIN_H_
#define ORDO_SCHEDULER_CORE_WORKER_ADMIN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/scheduler.h"

// What is durable of a worker: what people decided of it, and which devices are
// in quarantine. Functions of their arguments; who calls them keeps the record.

namespace ordo::scheduler::core {

// Of a worker its name, `cordoned`, `drain_time`, `closed_reason` and
// `changes`, and of each device in quarantine its name and `quarantine`. Null:
// nobody has decided anything. Shared, never changed.
using WorkerAdminPtr = std::shared_ptr<const workers::v1::Worker>;

// Nothing is to start there.
bool IsCordoned(const WorkerAdminPtr& admin);
// When it is to be empty, if ever.
std::optional<absl::Time> DrainTime(const WorkerAdminPtr& admin);
// Whether a device of it is in quarantine.
bool IsQuarantined(const WorkerAdminPtr& admin, const std::string& device);

// The record that takes the place of `admin`; `admin` itself when that is what
// it says. `worker` is its id.
struct WorkerChange {
  std::string worker;
  Author author;
  absl::Time now;
};
WorkerAdminPtr Cordoned(const WorkerAdminPtr& admin,
                        const WorkerChange& change);
WorkerAdminPtr Drained(const WorkerAdminPtr& admin, absl::Time at,
                       const WorkerChange& change);
WorkerAdminPtr Uncordoned(const WorkerAdminPtr& admin,
                          const WorkerChange& change);
// FAILED_PRECONDITION when the device is not in quarantine.
absl::StatusOr<WorkerAdminPtr> Released(const WorkerAdminPtr& admin,
                                        const std::string& device,
                                        const WorkerChange& change);
// The scheduler's own doing: an author is not read.
WorkerAdminPtr Quarantined(const WorkerAdminPtr& admin,
                           const workers::v1::Device& device,
                           const WorkerChange& change);

// Shows it in what the worker announced.
void ShowAdmin(const WorkerAdminPtr& admin, workers::v1::Worker* worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_WORKER_ADMIN_H_

#ifndef ORDO_SCHEDULER_CORE_WORKER_ADMIN_H_
#define ORDO_SCHEDULER_CORE_WORKER_ADMIN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/scheduler.h"

// What is durable of a worker: what people decided of it, and what is held
// against its devices (device_admin.h). Functions of their arguments; who calls
// them keeps the record.

namespace ordo::scheduler::core {

// Of a worker its name, `cordoned`, `drain_time`, `closed_reason`, `changes`,
// and of devices that failed name, `quarantine`, `blames`, and of the `faults`
// that were judged code and time. Null: there is nothing of it. Shared, never
// changed.
using WorkerAdminPtr = std::shared_ptr<const workers::v1::Worker>;

// The newest change that cordoned a worker, or said when it is drained; null:
// there is none among those that are kept. As long as the worker's message.
const audit::v1::Change* CordonOf(const workers::v1::Worker& worker);
const audit::v1::Change* DrainOf(const workers::v1::Worker& worker);

// Nothing is to start there.
bool IsCordoned(const WorkerAdminPtr& admin);
// When it is to be empty, if ever.
std::optional<absl::Time> DrainTime(const WorkerAdminPtr& admin);

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

// The record with one more change that a person made: what was done.
WorkerAdminPtr WithChange(const WorkerAdminPtr& admin,
                          const std::string& action,
                          const WorkerChange& change);

// Shows it in what the worker announced.
void ShowAdmin(const WorkerAdminPtr& admin, workers::v1::Worker* worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_WORKER_ADMIN_H_

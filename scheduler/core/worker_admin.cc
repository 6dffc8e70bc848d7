#include "scheduler/core/worker_admin.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/moment.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Worker;

Worker Begin(const WorkerAdminPtr& admin, const WorkerChange& change) {
  if (admin != nullptr) return *admin;
  Worker worker;
  worker.set_name(absl::StrCat("workers/", change.worker));
  return worker;
}

WorkerAdminPtr End(Worker worker, const std::string& action,
                   const WorkerChange& change) {
  AddChange(action, change.author, change.now, worker.mutable_changes());
  return std::make_shared<const Worker>(std::move(worker));
}

}  // namespace

bool IsCordoned(const WorkerAdminPtr& admin) {
  return admin != nullptr && admin->cordoned();
}

std::optional<absl::Time> DrainTime(const WorkerAdminPtr& admin) {
  if (admin == nullptr || !admin->has_drain_time()) return std::nullopt;
  return ToTime(admin->drain_time());
}

WorkerAdminPtr Cordoned(const WorkerAdminPtr& admin,
                        const WorkerChange& change) {
  Worker worker = Begin(admin, change);
  if (worker.cordoned()) return admin;
  worker.set_cordoned(true);
  worker.set_closed_reason(change.author.reason);
  return End(std::move(worker), "cordon", change);
}

WorkerAdminPtr Drained(const WorkerAdminPtr& admin, absl::Time at,
                       const WorkerChange& change) {
  Worker worker = Begin(admin, change);
  const absl::Time when = std::max(at, change.now);
  if (worker.has_drain_time()) {
    const absl::Time before = ToTime(worker.drain_time());
    if (before == when || (before <= change.now && at <= change.now)) {
      return admin;
    }
  }
  *worker.mutable_drain_time() = ToTimestamp(when);
  worker.set_closed_reason(change.author.reason);
  return End(std::move(worker),
             absl::StrCat("drain at ", absl::FormatTime(absl::RFC3339_sec, when,
                                                        absl::UTCTimeZone())),
             change);
}

WorkerAdminPtr Uncordoned(const WorkerAdminPtr& admin,
                          const WorkerChange& change) {
  Worker worker = Begin(admin, change);
  if (!worker.cordoned() && !worker.has_drain_time()) return admin;
  worker.clear_cordoned();
  worker.clear_drain_time();
  worker.clear_closed_reason();
  return End(std::move(worker), "uncordon", change);
}

WorkerAdminPtr WithChange(const WorkerAdminPtr& admin,
                          const std::string& action,
                          const WorkerChange& change) {
  return End(Worker(*admin), action, change);
}

void ShowAdmin(const WorkerAdminPtr& admin, Worker* worker) {
  if (admin == nullptr) return;
  worker->set_cordoned(admin->cordoned());
  if (admin->has_drain_time()) {
    *worker->mutable_drain_time() = admin->drain_time();
  }
  worker->set_closed_reason(admin->closed_reason());
  *worker->mutable_changes() = admin->changes();
}

}  // namespace ordo::scheduler::core

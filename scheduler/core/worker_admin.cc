#include "scheduler/core/worker_admin.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/moment.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Worker;

constexpr char kCordon[] = "cordon";
constexpr char kDrain[] = "drain at ";

const audit::v1::Change* NewestOf(const Worker& worker,
                                  const std::string& prefix) {
  const auto& changes = worker.changes();
  for (int i = changes.size() - 1; i >= 0; --i) {
    if (changes[i].action().rfind(prefix, 0) == 0) return &changes[i];
  }
  return nullptr;
}

Worker Begin(const WorkerAdminPtr& admin, const WorkerChange& change) {
  if (admin != nullptr) return *admin;
  Worker worker;
  worker.set_name(absl::StrCat("workers/", change.worker));
  return worker;
}

// In the words of all who closed it: who cordons a worker that is to be drained
// does not take back why.
std::string ClosedReason(const Worker& worker) {
  std::string reason;
  if (worker.has_drain_time() && DrainOf(worker) != nullptr) {
    reason = DrainOf(worker)->reason();
  }
  if (!worker.cordoned() || CordonOf(worker) == nullptr) return reason;
  const std::string& cordon = CordonOf(worker)->reason();
  if (cordon.empty() || cordon == reason) return reason;
  return reason.empty() ? cordon : absl::StrCat(reason, "; ", cordon);
}

WorkerAdminPtr End(Worker worker, const std::string& action,
                   const WorkerChange& change) {
  AddChange(action, change.author, change.now, worker.mutable_changes());
  return std::make_shared<const Worker>(std::move(worker));
}

// The same of a change that closes it.
WorkerAdminPtr Close(Worker worker, const std::string& action,
                     const WorkerChange& change) {
  AddChange(action, change.author, change.now, worker.mutable_changes());
  worker.set_closed_reason(ClosedReason(worker));
  return std::make_shared<const Worker>(std::move(worker));
}

}  // namespace

const audit::v1::Change* CordonOf(const Worker& worker) {
  return NewestOf(worker, kCordon);
}

const audit::v1::Change* DrainOf(const Worker& worker) {
  return NewestOf(worker, kDrain);
}

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
  return Close(std::move(worker), kCordon, change);
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
  return Close(std::move(worker),
               absl::StrCat(kDrain, absl::FormatTime(absl::RFC3339_sec, when,
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

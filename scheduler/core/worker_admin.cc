#include "scheduler/core/worker_admin.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/moment.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Device;
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

const Device* FindDevice(const Worker& worker, const std::string& name) {
  for (const Device& device : worker.devices()) {
    if (device.name() == name) return &device;
  }
  return nullptr;
}

}  // namespace

bool IsCordoned(const WorkerAdminPtr& admin) {
  return admin != nullptr && admin->cordoned();
}

std::optional<absl::Time> DrainTime(const WorkerAdminPtr& admin) {
  if (admin == nullptr || !admin->has_drain_time()) return std::nullopt;
  return ToTime(admin->drain_time());
}

bool IsQuarantined(const WorkerAdminPtr& admin, const std::string& device) {
  return admin != nullptr && FindDevice(*admin, device) != nullptr;
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

absl::StatusOr<WorkerAdminPtr> Released(const WorkerAdminPtr& admin,
                                        const std::string& device,
                                        const WorkerChange& change) {
  if (!IsQuarantined(admin, device)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the device ", device, " of worker ", change.worker,
                     " is not in quarantine"));
  }
  Worker worker = Begin(admin, change);
  worker.clear_devices();
  for (const Device& other : admin->devices()) {
    if (other.name() != device) *worker.add_devices() = other;
  }
  return End(std::move(worker), absl::StrCat("release ", device), change);
}

WorkerAdminPtr Quarantined(const WorkerAdminPtr& admin, const Device& device,
                           const WorkerChange& change) {
  if (IsQuarantined(admin, device.name())) return admin;
  Worker worker = Begin(admin, change);
  Device* added = worker.add_devices();
  added->set_name(device.name());
  *added->mutable_quarantine() = device.quarantine();
  *added->mutable_quarantine()->mutable_create_time() = ToTimestamp(change.now);
  return std::make_shared<const Worker>(std::move(worker));
}

void ShowAdmin(const WorkerAdminPtr& admin, Worker* worker) {
  if (admin == nullptr) return;
  worker->set_cordoned(admin->cordoned());
  if (admin->has_drain_time()) {
    *worker->mutable_drain_time() = admin->drain_time();
  }
  worker->set_closed_reason(admin->closed_reason());
  *worker->mutable_changes() = admin->changes();
  for (Device& device : *worker->mutable_devices()) {
    const Device* found = FindDevice(*admin, device.name());
    if (found != nullptr) *device.mutable_quarantine() = found->quarantine();
  }
}

}  // namespace ordo::scheduler::core

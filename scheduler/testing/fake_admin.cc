// What FakeScheduler does for those who run a cluster.

#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler::testing {

using workers::v1::Worker;

Worker FakeScheduler::Shown(const std::string& id, Worker worker) const {
  const auto admin = admin_.find(id);
  if (admin != admin_.end()) core::ShowAdmin(admin->second, &worker);
  return worker;
}

absl::StatusOr<Worker> FakeScheduler::ChangeWorker(const std::string& worker,
                                                   const Author& author,
                                                   const AdminChange& change) {
  {
    base::MutexLock lock(mutex_);
    if (workers_.count(worker) > 0) {
      core::WorkerAdminPtr& admin = admin_[worker];
      admin = change(admin, {worker, author, kNow});
    }
  }
  return GetWorker(worker);
}

void FakeScheduler::CordonWorker(const std::string& worker,
                                 const Author& author, WorkerCallback done) {
  done(ChangeWorker(worker, author, core::Cordoned));
}

void FakeScheduler::DrainWorker(const std::string& worker, absl::Time at,
                                const Author& author, WorkerCallback done) {
  done(
      ChangeWorker(worker, author, [at](const auto& admin, const auto& change) {
        return core::Drained(admin, at, change);
      }));
}

void FakeScheduler::UncordonWorker(const std::string& worker,
                                   const Author& author, WorkerCallback done) {
  done(ChangeWorker(worker, author, core::Uncordoned));
}

}  // namespace ordo::scheduler::testing

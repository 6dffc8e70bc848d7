// What FakeScheduler does for those who run a cluster: queues,
// workers, usage.

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/testing/cut_page.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler::testing {

using queues::v1::Queue;
using workers::v1::Worker;

absl::StatusOr<Worker> FakeScheduler::ChangeWorker(const std::string& worker,
                                                   const Author& author,
                                                   const AdminChange& change) {
  {
    base::MutexLock lock(mutex_);
    if (workers_.count(worker) > 0) {
      core::WorkerAdminPtr& admin = admin_[worker];
      ORDO_ASSIGN_OR_RETURN(admin, change(admin, {worker, author, kNow}));
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

void FakeScheduler::ReleaseDevice(const std::string& worker,
                                  const std::string& device,
                                  const Author& author, WorkerCallback done) {
  done(ChangeWorker(worker, author,
                    [&device](const auto& admin, const auto& change) {
                      return core::Released(admin, device, change);
                    }));
}

absl::StatusOr<Queue> FakeScheduler::Keep(
    absl::StatusOr<core::QueuePtr> queue) {
  if (!queue.ok()) return queue.status();
  const std::string& name = (*queue)->name();
  queues_[name.substr(name.rfind('/') + 1)] = *queue;
  return **queue;
}

void FakeScheduler::CreateQueue(const Queue& queue, const Author& author,
                                QueueCallback done) {
  absl::StatusOr<Queue> made;
  {
    base::MutexLock lock(mutex_);
    made = Keep(core::CreatedQueue(queues_, queue, author, kNow));
  }
  done(std::move(made));
}

void FakeScheduler::UpdateQueue(const Queue& queue, const Author& author,
                                QueueCallback done) {
  absl::StatusOr<Queue> updated;
  {
    base::MutexLock lock(mutex_);
    updated = Keep(core::UpdatedQueue(queues_, queue, author, kNow));
  }
  done(std::move(updated));
}

void FakeScheduler::DeleteQueue(const std::string& queue,
                                const std::string& etag, const Author& author,
                                QueueCallback done) {
  absl::StatusOr<Queue> deleted;
  {
    base::MutexLock lock(mutex_);
    core::QueueDeletion deletion{queue, etag, 0};
    for (const auto& [id, job] : jobs_) {
      if (job.spec().queue() == queue && !HasEnded(job)) ++deletion.num_jobs;
    }
    deleted = Keep(core::DeletedQueue(queues_, deletion, author, kNow));
  }
  done(std::move(deleted));
}

absl::StatusOr<Queue> FakeScheduler::GetQueue(const std::string& queue) const {
  base::MutexLock lock(mutex_);
  ORDO_ASSIGN_OR_RETURN(const core::QueuePtr found,
                        core::GetQueue(queues_, queue));
  return *found;
}

absl::StatusOr<Listing<Queue>> FakeScheduler::ListQueues(
    const Page& page) const {
  base::MutexLock lock(mutex_);
  std::vector<Queue> all;
  for (const auto& [id, queue] : core::AllQueues(queues_)) {
    all.push_back(*queue);
  }
  return CutPage(all, page, [](const auto& queue) { return queue.name(); });
}

void FakeScheduler::PutUsage(const usage::v1::ReportUsageResponse& usage) {
  base::MutexLock lock(mutex_);
  usage_ = usage;
}

std::vector<FakeScheduler::UsageAsked> FakeScheduler::usage_asked() const {
  base::MutexLock lock(mutex_);
  return usage_asked_;
}

absl::StatusOr<usage::v1::ReportUsageResponse> FakeScheduler::Usage(
    usage::v1::ReportUsageRequest::By by, absl::Time since) const {
  base::MutexLock lock(mutex_);
  usage_asked_.push_back({by, since});
  return usage_;
}

}  // namespace ordo::scheduler::testing

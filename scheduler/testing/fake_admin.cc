// What FakeScheduler does for those who run a cluster: queues, workers, tokens.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status/status.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/testing/cut_page.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler::testing {

using queues::v1::Queue;
using workers::v1::Worker;

Worker FakeScheduler::Shown(const std::string& id, Worker worker) const {
  const auto admin = admin_.find(id);
  if (admin != admin_.end()) {
    core::ShowAdmin(admin->second, &worker);
    core::ShowDevices(admin->second, &worker);
  }
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

void FakeScheduler::ReleaseDevice(const std::string& worker,
                                  const std::string& device,
                                  const Author& author, WorkerCallback done) {
  const absl::StatusOr<Worker> before = GetWorker(worker);
  if (!before.ok()) return done(before.status());
  if (absl::Status status = core::CheckHasDevice(*before, device);
      !status.ok()) {
    return done(status);
  }
  done(ChangeWorker(worker, author,
                    [&device](const auto& admin, const auto& change) {
                      return core::Released(admin, device, change);
                    }));
}

int64_t FakeScheduler::NumJobs(const std::string& queue) const {
  int64_t num_jobs = 0;
  for (const auto& [id, job] : jobs_) {
    if (job.spec().queue() == queue && !HasEnded(job)) ++num_jobs;
  }
  return num_jobs;
}

absl::Status FakeScheduler::CheckQueues(const std::vector<NewJob>& jobs) const {
  std::map<std::string, int64_t> added;
  for (const NewJob& job : jobs) {
    const bool repeated =
        !job.request_id.empty() && job_of_request_.count(job.request_id) > 0;
    // Tests that are about something else name none.
    if (!repeated && !job.imported && !job.spec->queue().empty()) {
      ++added[job.spec->queue()];
    }
  }
  for (const auto& [queue, num] : added) {
    ORDO_RETURN_IF_ERROR(core::CheckRoom(queues_, queue, NumJobs(queue), num));
  }
  return absl::OkStatus();
}

absl::StatusOr<Queue> FakeScheduler::Keep(
    absl::StatusOr<core::QueuePtr> queue) {
  if (queue.ok()) {
    const std::string& name = (*queue)->name();
    queues_[name.substr(name.rfind('/') + 1)] = *queue;
  }
  if (answers_to_lose_ > 0) {
    --answers_to_lose_;
    return absl::UnavailableError("lost");
  }
  if (!queue.ok()) return queue.status();
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
    const core::QueueDeletion deletion{queue, etag, NumJobs(queue)};
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

void FakeScheduler::PutArchivedUsage(const usage::v1::ArchivedUsage& usage) {
  base::MutexLock lock(mutex_);
  archived_usage_.push_back(usage);
}

void FakeScheduler::ForEachArchivedUsage(
    const ArchivedUsageCallback& take) const {
  std::vector<usage::v1::ArchivedUsage> all;
  {
    base::MutexLock lock(mutex_);
    all = archived_usage_;
  }
  for (const usage::v1::ArchivedUsage& each : all) take(each);
}

void FakeScheduler::PutToken(const std::string& sha256,
                             const std::optional<access::v1::Token>& token,
                             TokenCallback done) {
  {
    base::MutexLock lock(mutex_);
    if (token.has_value()) {
      tokens_[sha256] = *token;
    } else {
      tokens_.erase(sha256);
    }
  }
  done(absl::OkStatus());
}

std::vector<StoredToken> FakeScheduler::ListTokens() const {
  std::vector<StoredToken> tokens;
  base::MutexLock lock(mutex_);
  for (const auto& [sha256, token] : tokens_) tokens.push_back({sha256, token});
  return tokens;
}

void FakeScheduler::LoseAnswers(int count) {
  base::MutexLock lock(mutex_);
  answers_to_lose_ = count;
}

}  // namespace ordo::scheduler::testing

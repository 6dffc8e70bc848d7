// What Server does for those who have jobs.

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status/status.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/references.h"
#include "scheduler/server/reads.h"
#include "scheduler/server/server.h"

namespace ordo::scheduler::server {

absl::Status Server::FindPast(const Mentioned& mentioned,
                              store::PastJobs* past) const {
  std::vector<std::string> jobs, request_ids;
  for (const std::string& job : mentioned.jobs) {
    if (options_.store->MayBePast(job)) jobs.push_back(job);
  }
  for (const std::string& request_id : mentioned.request_ids) {
    if (options_.store->MayHaveMadePast(request_id)) {
      request_ids.push_back(request_id);
    }
  }
  // Most names are new.
  if (jobs.empty() && request_ids.empty()) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(store::PastJobs found,
                        options_.store->reader().FindPast(jobs, request_ids));
  std::move(found.jobs.begin(), found.jobs.end(),
            std::back_inserter(past->jobs));
  std::move(found.retired.begin(), found.retired.end(),
            std::back_inserter(past->retired));
  return absl::OkStatus();
}

void Server::CreateJobs(std::vector<NewJob> jobs, JobsCallback done) {
  const Mentioned mentioned = MentionedBy(jobs);
  const auto num_jobs = static_cast<int64_t>(jobs.size());
  Call(mentioned,
       [&jobs](uint64_t call, std::vector<core::RetiredJob> retired) {
         return core::Submit{call, std::move(jobs), std::move(retired)};
       },
       {std::move(done), num_jobs, !mentioned.request_ids.empty()});
}

void Server::CallForJob(const std::string& job,
                        const std::function<core::Event(uint64_t call)>& make,
                        JobCallback done) {
  // Set before the call is answered, if the job has left the store.
  const auto archived = std::make_shared<absl::Status>();
  Call({{job}},
       [&](uint64_t call, const std::vector<core::RetiredJob>& retired) {
         if (!retired.empty()) {
           const core::RetiredJob& gone = retired.front();
           *archived = core::Archived(gone.id, gone.state);
         }
         return make(call);
       },
       {[archived, done = std::move(done)](
            absl::StatusOr<std::vector<jobs::v1::Job>> jobs) {
         if (jobs.ok()) {
           done(std::move(jobs->front()));
         } else if (absl::IsNotFound(jobs.status()) && !archived->ok()) {
           done(*archived);
         } else {
           done(jobs.status());
         }
       }});
}

void Server::CancelJob(const std::string& job, const std::string& user,
                       JobCallback done) {
  CallForJob(
      job,
      [&](uint64_t call) {
        return core::Cancel{call, job, user};
      },
      std::move(done));
}

void Server::HoldJob(const std::string& job, const std::string& user,
                     JobCallback done) {
  CallForJob(
      job,
      [&](uint64_t call) {
        return core::Hold{call, job, user};
      },
      std::move(done));
}

void Server::ReleaseJob(const std::string& job, const std::string& user,
                        JobCallback done) {
  CallForJob(
      job,
      [&](uint64_t call) {
        return core::Release{call, job, user};
      },
      std::move(done));
}

void Server::SetPriority(const std::string& job, int32_t priority,
                         const std::string& user, JobCallback done) {
  CallForJob(
      job,
      [&](uint64_t call) {
        return core::SetPriority{call, job, user, priority};
      },
      std::move(done));
}

absl::StatusOr<jobs::v1::Job> Server::GetJob(const std::string& job) const {
  return reads_.GetJob(job);
}

absl::StatusOr<jobs::v1::Owner> Server::GetOwner(const std::string& job) const {
  return reads_.GetOwner(job);
}

absl::StatusOr<std::string> Server::GetQueueOf(const std::string& job) const {
  return reads_.GetQueueOf(job);
}

absl::StatusOr<Listing<jobs::v1::Job>> Server::ListJobs(
    const JobFilter& filter, const Page& page) const {
  return reads_.ListJobs(filter, page);
}

absl::StatusOr<jobs::v1::ExplainResponse> Server::Explain(
    const std::string& job) const {
  const core::Moment now = Now();
  std::optional<core::Placing> placing;
  {
    base::MutexLock lock(mutex_);
    placing = core::PlacingOf(state_, job, now);
  }
  return reads_.Explain(job, now.wall, placing);
}

absl::StatusOr<checkpoints::v1::Checkpoint> Server::GetCheckpoint(
    const std::string& job, const std::string& checkpoint) const {
  return reads_.GetCheckpoint(job, checkpoint);
}

absl::StatusOr<Listing<checkpoints::v1::Checkpoint>> Server::ListCheckpoints(
    const std::string& job, const Page& page) const {
  return reads_.ListCheckpoints(job, page);
}

absl::StatusOr<reports::v1::Report> Server::GetReport(
    const std::string& job, const std::string& report) const {
  return reads_.GetReport(job, report);
}

absl::StatusOr<Listing<reports::v1::Report>> Server::ListReports(
    const std::string& job, const Page& page) const {
  return reads_.ListReports(job, page);
}

}  // namespace ordo::scheduler::server

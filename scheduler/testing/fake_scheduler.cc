#include "scheduler/testing/fake_scheduler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/testing/cut_page.h"

namespace ordo::scheduler::testing {
namespace {

using jobs::v1::Job;

std::string IdOf(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

bool Matches(const JobFilter& filter, const Job& job) {
  if (filter.state && *filter.state != job.state()) return false;
  if (filter.queue && *filter.queue != job.spec().queue()) return false;
  if (filter.owner && *filter.owner != job.owner().user()) return false;
  if (filter.parent && "jobs/" + *filter.parent != job.parent()) return false;
  for (const auto& [key, value] : filter.labels) {
    const auto label = job.spec().labels().find(key);
    if (label == job.spec().labels().end() || label->second != value) {
      return false;
    }
  }
  return true;
}

// Those of `all` (oldest first) whose name is below jobs/<job>, newest first.
template <typename T>
std::vector<T> OfJob(const std::vector<T>& all, const std::string& job) {
  std::vector<T> selected;
  const std::string prefix = absl::StrCat("jobs/", job, "/");
  for (auto item = all.rbegin(); item != all.rend(); ++item) {
    if (job.empty() || item->name().rfind(prefix, 0) == 0) {
      selected.push_back(*item);
    }
  }
  return selected;
}

}  // namespace

bool HasEnded(const Job& job) {
  return job.state() == Job::SUCCEEDED || job.state() == Job::FAILED ||
         job.state() == Job::CANCELLED;
}

Job FakeScheduler::PutJob(Job job) {
  {
    base::MutexLock lock(mutex_);
    const std::string id = IdOf(job.name());
    const auto old = jobs_.find(id);
    job.set_version(old == jobs_.end() ? 1 : old->second.version() + 1);
    job.set_sequence(old == jobs_.end() ? ++last_sequence_
                                        : old->second.sequence());
    jobs_[id] = job;
  }
  Tell(job, HasEnded(job));
  return job;
}

Job FakeScheduler::SetState(const std::string& job, Job::State state) {
  Job changed = GetJob(job).value();
  changed.set_state(state);
  return PutJob(changed);
}

void FakeScheduler::DamageSpec(const std::string& job) {
  base::MutexLock lock(mutex_);
  damaged_.insert(job);
}

void FakeScheduler::PutProgress(const std::string& job,
                                const jobs::v1::Progress& progress) {
  Job changed;
  {
    base::MutexLock lock(mutex_);
    *jobs_[job].mutable_progress() = progress;
    changed = jobs_[job];
  }
  Tell(changed, HasEnded(changed));
}

void FakeScheduler::Leave() {
  std::vector<Job> watched;
  {
    base::MutexLock lock(mutex_);
    for (const auto& [id, watch] : watches_) {
      watched.push_back(jobs_[watch->job]);
    }
  }
  for (const Job& job : watched) Tell(job, true);
}

void FakeScheduler::PutCheckpoint(
    const checkpoints::v1::Checkpoint& checkpoint) {
  base::MutexLock lock(mutex_);
  for (auto& known : checkpoints_) {
    if (known.name() == checkpoint.name()) {
      known = checkpoint;
      return;
    }
  }
  checkpoints_.push_back(checkpoint);
}

void FakeScheduler::PutReport(const reports::v1::Report& report) {
  base::MutexLock lock(mutex_);
  reports_.push_back(report);
}

void FakeScheduler::PutWorker(const workers::v1::Worker& worker) {
  base::MutexLock lock(mutex_);
  const std::string id = IdOf(worker.name());
  auto held = std::make_shared<workers::v1::Worker>();
  held->set_name(worker.name());
  workers_[id] = worker;
  for (workers::v1::Device& device : *workers_[id].mutable_devices()) {
    if (!device.has_quarantine()) continue;
    *held->add_devices() = device;
    device.clear_quarantine();
  }
  if (!held->devices().empty()) admin_[id] = std::move(held);
}

void FakeScheduler::PutExplanation(
    const std::string& job, const jobs::v1::ExplainResponse& explanation) {
  base::MutexLock lock(mutex_);
  explanations_[job] = explanation;
}

std::vector<NewJob> FakeScheduler::created() const {
  base::MutexLock lock(mutex_);
  return created_;
}

std::vector<std::string> FakeScheduler::cancelled_by() const {
  base::MutexLock lock(mutex_);
  return cancelled_by_;
}

std::vector<agent::v1::AnnounceRequest> FakeScheduler::announced() const {
  base::MutexLock lock(mutex_);
  return announced_;
}

int FakeScheduler::num_watches() const {
  base::MutexLock lock(mutex_);
  return static_cast<int>(watches_.size());
}

bool FakeScheduler::WaitForWatches(int count) const {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(10);
  base::MutexLock lock(mutex_);
  while (static_cast<int>(watches_.size()) != count) {
    if (!changed_.WaitUntil(mutex_, deadline)) return false;
  }
  return true;
}

std::vector<NewJob> FakeScheduler::WithoutRepeatedParts(
    const std::vector<NewJob>& jobs) const {
  std::set<std::string> repeated;
  for (const NewJob& job : jobs) {
    if (job.parts.empty() || job_of_request_.count(job.request_id) == 0) {
      continue;
    }
    repeated.insert(job.name);
  }
  std::vector<NewJob> left;
  for (const NewJob& job : jobs) {
    if (repeated.count(job.parent) == 0) left.push_back(job);
  }
  return left;
}

absl::StatusOr<std::vector<Job>> FakeScheduler::TryCreate(
    const std::vector<NewJob>& asked) {
  base::MutexLock lock(mutex_);
  const std::vector<NewJob> jobs = WithoutRepeatedParts(asked);
  for (const NewJob& job : jobs) {
    const auto known = job_of_request_.find(job.request_id);
    if (!job.request_id.empty() && known != job_of_request_.end()) {
      if (fingerprints_[known->second] != job.fingerprint) {
        return absl::InvalidArgumentError(
            absl::StrCat("request_id '", job.request_id,
                         "' was used with another body; choose a new one"));
      }
    } else if (jobs_.count(job.name) != 0) {
      return absl::AlreadyExistsError(
          absl::StrCat("job '", job.name, "' exists"));
    } else if (!job.refusal.ok()) {
      return job.refusal;
    }
  }
  if (absl::Status status = CheckQueues(jobs); !status.ok()) return status;
  std::vector<Job> made;
  for (const NewJob& job : jobs) {
    const auto known = job_of_request_.find(job.request_id);
    if (!job.request_id.empty() && known != job_of_request_.end()) {
      made.push_back(jobs_[known->second]);
      continue;
    }
    Job& created = jobs_[job.name];
    created.set_name(absl::StrCat("jobs/", job.name));
    *created.mutable_spec() = *job.spec;
    created.mutable_spec()->set_name(job.name);
    created.set_state(Job::QUEUED);
    *created.mutable_owner() = job.owner;
    created.mutable_notices()->Assign(job.notices.begin(), job.notices.end());
    created.set_version(1);
    created.set_sequence(++last_sequence_);
    if (!job.parent.empty()) {
      created.set_parent(absl::StrCat("jobs/", job.parent));
    }
    created.set_part(job.part);
    created.set_traceparent(job.trace_parent);
    for (const std::string& part : job.parts) {
      created.add_parts(absl::StrCat("jobs/", part));
    }
    if (job.imported) {
      created.set_state(Job::SUCCEEDED);
      checkpoints::v1::Checkpoint checkpoint = *job.imported;
      checkpoint.set_name(absl::StrCat(created.name(), "/checkpoints/",
                                       checkpoint.step(), "-0"));
      checkpoint.set_state(checkpoints::v1::Checkpoint::AVAILABLE);
      checkpoint.set_origin(checkpoints::v1::Checkpoint::IMPORTED);
      checkpoints_.push_back(checkpoint);
    }
    fingerprints_[job.name] = job.fingerprint;
    if (!job.request_id.empty()) {
      job_of_request_[job.request_id] = job.name;
    }
    created_.push_back(job);
    made.push_back(created);
  }
  return made;
}

void FakeScheduler::CreateJobs(std::vector<NewJob> jobs, JobsCallback done) {
  done(TryCreate(jobs));
}

void FakeScheduler::CancelJob(const std::string& job, const std::string& user,
                              JobCallback done) {
  absl::StatusOr<Job> found = CopyOf(job);
  if (found.ok() && HasEnded(*found)) {
    found = absl::FailedPreconditionError(
        absl::StrCat("job '", job, "' has ended"));
  }
  if (!found.ok()) {
    done(found.status());
    return;
  }
  found->set_state(Job::CANCELLED);
  found->set_cancelled_by(user);
  {
    base::MutexLock lock(mutex_);
    cancelled_by_.push_back(user);
  }
  for (const std::string& name : found->parts()) {
    absl::StatusOr<Job> part = CopyOf(IdOf(name));
    if (!part.ok() || HasEnded(*part)) continue;
    part->set_state(Job::CANCELLED);
    part->set_cancelled_by(user);
    PutJob(*part);
  }
  done(PutJob(*found));
}

absl::StatusOr<Job> FakeScheduler::FindQueued(const std::string& job) const {
  absl::StatusOr<Job> found = CopyOf(job);
  if (found.ok() && found->state() != Job::QUEUED) {
    return absl::FailedPreconditionError(
        absl::StrCat("job '", job, "' is not queued"));
  }
  return found;
}

void FakeScheduler::HoldJob(const std::string& job, const std::string& user,
                            JobCallback done) {
  absl::StatusOr<Job> found = FindQueued(job);
  if (found.ok() && found->held_by().empty()) {
    found->set_held_by(user);
    found = PutJob(*found);
  }
  done(std::move(found));
}

void FakeScheduler::ReleaseJob(const std::string& job, const std::string&,
                               JobCallback done) {
  absl::StatusOr<Job> found = FindQueued(job);
  if (found.ok() && !found->held_by().empty()) {
    found->clear_held_by();
    found = PutJob(*found);
  }
  done(std::move(found));
}

void FakeScheduler::SetPriority(const std::string& job, int32_t priority,
                                const std::string& user, JobCallback done) {
  absl::StatusOr<Job> found = FindQueued(job);
  if (found.ok() && found->priority() != priority) {
    found->set_priority(priority);
    found->set_priority_set_by(user);
    found = PutJob(*found);
  }
  done(std::move(found));
}

absl::StatusOr<Job> FakeScheduler::FindJob(const std::string& job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no job ", job, "; see: ordo list jobs"));
  }
  return found->second;
}

absl::StatusOr<Job> FakeScheduler::CopyOf(const std::string& job) const {
  base::MutexLock lock(mutex_);
  return FindJob(job);
}

void FakeScheduler::RefuseListings(const absl::Status& status) {
  base::MutexLock lock(mutex_);
  listings_ = status;
}

absl::StatusOr<Job> FakeScheduler::GetJob(const std::string& job) const {
  base::MutexLock lock(mutex_);
  if (damaged_.count(job) > 0) {
    return absl::DataLossError(absl::StrCat("the spec of job ", job));
  }
  return FindJob(job);
}

absl::StatusOr<jobs::v1::Owner> FakeScheduler::GetOwner(
    const std::string& job) const {
  ORDO_ASSIGN_OR_RETURN(const Job found, CopyOf(job));
  return found.owner();
}

absl::StatusOr<std::string> FakeScheduler::GetQueueOf(
    const std::string& job) const {
  ORDO_ASSIGN_OR_RETURN(const Job found, CopyOf(job));
  return found.spec().queue().empty() ? kDefaultQueue : found.spec().queue();
}

absl::StatusOr<Listing<Job>> FakeScheduler::ListJobs(const JobFilter& filter,
                                                     const Page& page) const {
  base::MutexLock lock(mutex_);
  if (!listings_.ok()) return listings_;
  std::vector<Job> selected;
  for (const auto& [id, job] : jobs_) {
    if (Matches(filter, job)) selected.push_back(job);
  }
  std::sort(selected.begin(), selected.end(), [](const Job& a, const Job& b) {
    return a.sequence() > b.sequence();
  });
  return CutPage(selected, page,
                 [](const Job& job) { return absl::StrCat(job.sequence()); });
}

absl::StatusOr<jobs::v1::ExplainResponse> FakeScheduler::Explain(
    const std::string& job) const {
  base::MutexLock lock(mutex_);
  if (auto found = FindJob(job); !found.ok()) return found.status();
  const auto known = explanations_.find(job);
  return known == explanations_.end() ? jobs::v1::ExplainResponse()
                                      : known->second;
}

void FakeScheduler::Tell(const Job& job, bool last) {
  std::vector<std::pair<int64_t, std::shared_ptr<Watch>>> told;
  {
    base::MutexLock lock(mutex_);
    for (const auto& [id, watch] : watches_) {
      if (watch->job == IdOf(job.name())) told.emplace_back(id, watch);
    }
  }
  for (auto& [id, watch] : told) {
    base::MutexLock running(watch->running);
    if (watch->stopped) continue;
    watch->stopped = last;
    watch->callback(job, last);
  }
}

absl::StatusOr<int64_t> FakeScheduler::WatchJob(const std::string& job,
                                                WatchCallback callback) {
  auto watch = std::make_shared<Watch>();
  watch->job = job;
  watch->callback = std::move(callback);
  absl::StatusOr<Job> found;
  int64_t id = 0;
  // Taken first, so that no change overtakes the first call.
  base::MutexLock running(watch->running);
  {
    base::MutexLock lock(mutex_);
    found = FindJob(job);
    if (!found.ok()) return found.status();
    id = ++last_watch_;
    watches_[id] = watch;
    changed_.NotifyAll();
  }
  watch->stopped = HasEnded(*found);
  watch->callback(*found, HasEnded(*found));
  return id;
}

void FakeScheduler::StopWatch(int64_t watch) {
  std::shared_ptr<Watch> stopped;
  {
    base::MutexLock lock(mutex_);
    const auto found = watches_.find(watch);
    if (found == watches_.end()) return;
    stopped = found->second;
    watches_.erase(found);
    changed_.NotifyAll();
  }
  base::MutexLock running(stopped->running);
  stopped->stopped = true;
}

absl::StatusOr<checkpoints::v1::Checkpoint> FakeScheduler::GetCheckpoint(
    const std::string& job, const std::string& checkpoint) const {
  base::MutexLock lock(mutex_);
  for (const auto& known : OfJob(checkpoints_, job)) {
    const bool is_meant =
        checkpoint == "latest"
            ? known.state() != checkpoints::v1::Checkpoint::DELETED
            : IdOf(known.name()) == checkpoint;
    if (is_meant) return WithNames(known);
  }
  return absl::NotFoundError(absl::StrCat("checkpoint 'jobs/", job,
                                          "/checkpoints/", checkpoint,
                                          "' does not exist"));
}

absl::StatusOr<Listing<checkpoints::v1::Checkpoint>>
FakeScheduler::ListCheckpoints(const std::string& job, const Page& page) const {
  base::MutexLock lock(mutex_);
  auto listing =
      CutPage(OfJob(checkpoints_, job), page,
              [](const auto& checkpoint) { return checkpoint.name(); });
  for (auto& each : listing.items) each = WithNames(std::move(each));
  return listing;
}

absl::StatusOr<reports::v1::Report> FakeScheduler::GetReport(
    const std::string& job, const std::string& report) const {
  base::MutexLock lock(mutex_);
  for (const auto& known : OfJob(reports_, job)) {
    if (IdOf(known.name()) == report) return known;
  }
  return absl::NotFoundError(absl::StrCat("report 'jobs/", job, "/reports/",
                                          report, "' does not exist"));
}

absl::StatusOr<Listing<reports::v1::Report>> FakeScheduler::ListReports(
    const std::string& job, const Page& page) const {
  base::MutexLock lock(mutex_);
  return CutPage(OfJob(reports_, job), page,
                 [](const auto& report) { return report.name(); });
}

absl::StatusOr<workers::v1::Worker> FakeScheduler::GetWorker(
    const std::string& worker) const {
  base::MutexLock lock(mutex_);
  const auto found = workers_.find(worker);
  if (found == workers_.end()) {
    return absl::NotFoundError(
        absl::StrCat("worker '", worker, "' does not exist"));
  }
  return Shown(worker, found->second);
}

absl::StatusOr<Listing<workers::v1::Worker>> FakeScheduler::ListWorkers(
    const Page& page) const {
  base::MutexLock lock(mutex_);
  std::vector<workers::v1::Worker> all;
  for (const auto& [id, worker] : workers_) all.push_back(Shown(id, worker));
  return CutPage(all, page, [](const auto& worker) { return worker.name(); });
}

absl::StatusOr<agent::v1::AnnounceResponse> FakeScheduler::Announce(
    const agent::v1::AnnounceRequest& request) {
  if (request.worker().empty()) {
    return absl::InvalidArgumentError("worker: required");
  }
  base::MutexLock lock(mutex_);
  announced_.push_back(request);
  agent::v1::AnnounceResponse response;
  response.mutable_period()->set_seconds(2);
  return response;
}

}  // namespace ordo::scheduler::testing

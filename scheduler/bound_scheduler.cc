#include "scheduler/bound_scheduler.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "scheduler/bound_view.h"
#include "scheduler/core/job.h"
#include "scheduler/core/names.h"

namespace ordo::scheduler {
namespace {

using checkpoints::v1::Alias;
using checkpoints::v1::Checkpoint;
using jobs::v1::Job;
using queues::v1::Queue;
using reports::v1::Report;
using workers::v1::Worker;

// Items of a listing that are looked at together.
constexpr int kLookSize = 200;
constexpr char kAliasPrefix[] = "aliases/";

absl::Status NoJob(const std::string& job) {
  return absl::NotFoundError(
      absl::StrCat("there is no job ", job, "; see: ordo list jobs"));
}

class BoundScheduler final : public Scheduler {
 public:
  BoundScheduler(Scheduler& scheduler, std::set<std::string> queues)
      : scheduler_(scheduler), view_{scheduler, std::move(queues)} {}

  void CreateJobs(std::vector<NewJob> jobs, JobsCallback done) override;
  void CancelJob(const std::string& job, const std::string& user,
                 JobCallback done) override {
    if (absl::Status seen = CheckJob(job); !seen.ok()) return done(seen);
    scheduler_.CancelJob(job, user, Masking<Job>({job}, std::move(done)));
  }
  void HoldJob(const std::string& job, const std::string& user,
               JobCallback done) override {
    if (absl::Status seen = CheckJob(job); !seen.ok()) return done(seen);
    scheduler_.HoldJob(job, user, Masking<Job>({job}, std::move(done)));
  }
  void ReleaseJob(const std::string& job, const std::string& user,
                  JobCallback done) override {
    if (absl::Status seen = CheckJob(job); !seen.ok()) return done(seen);
    scheduler_.ReleaseJob(job, user, Masking<Job>({job}, std::move(done)));
  }
  void SetPriority(const std::string& job, int32_t priority,
                   const std::string& user, JobCallback done) override {
    if (absl::Status seen = CheckJob(job); !seen.ok()) return done(seen);
    scheduler_.SetPriority(job, priority, user,
                           Masking<Job>({job}, std::move(done)));
  }
  absl::StatusOr<Job> GetJob(const std::string& job) const override;
  absl::StatusOr<jobs::v1::Owner> GetOwner(
      const std::string& job) const override {
    ORDO_RETURN_IF_ERROR(CheckJob(job));
    return scheduler_.GetOwner(job);
  }
  absl::StatusOr<std::string> GetQueueOf(
      const std::string& job) const override {
    ORDO_RETURN_IF_ERROR(CheckJob(job));
    return scheduler_.GetQueueOf(job);
  }
  absl::StatusOr<Listing<Job>> ListJobs(const JobFilter& filter,
                                        const Page& page) const override;
  absl::StatusOr<jobs::v1::ExplainResponse> Explain(
      const std::string& job) const override;
  absl::StatusOr<int64_t> WatchJob(const std::string& job,
                                   WatchCallback callback) override {
    ORDO_RETURN_IF_ERROR(CheckJob(job));
    return scheduler_.WatchJob(job, std::move(callback));
  }
  void StopWatch(int64_t watch) override { scheduler_.StopWatch(watch); }
  void Hide(Job* job) const override { view_.HideIn(job); }

  absl::StatusOr<Checkpoint> GetCheckpoint(
      const std::string& job, const std::string& checkpoint) const override {
    ORDO_RETURN_IF_ERROR(CheckJob(job));
    return scheduler_.GetCheckpoint(job, checkpoint);
  }
  absl::StatusOr<Listing<Checkpoint>> ListCheckpoints(
      const std::string& job, const Page& page) const override;
  void ChangeCheckpoint(CheckpointVerb verb, const std::string& checkpoint,
                        const Author& author,
                        CheckpointCallback done) override {
    const std::string job = core::JobIdOf(checkpoint);
    if (absl::Status seen = CheckJob(job); !seen.ok()) return done(seen);
    scheduler_.ChangeCheckpoint(verb, checkpoint, author,
                                Masking<Checkpoint>({job}, std::move(done)));
  }
  void SetAlias(const AliasSetting& setting, const Author& author,
                AliasCallback done) override;
  void DeleteAlias(const std::string& alias, const std::string& etag,
                   const Author& author, AliasCallback done) override {
    const absl::StatusOr<Alias> seen = GetAlias(alias);
    if (!seen.ok()) return done(seen.status());
    scheduler_.DeleteAlias(alias, etag, author,
                           Hiding<Alias>({alias}, std::move(done)));
  }
  absl::StatusOr<Alias> GetAlias(const std::string& alias) const override;
  absl::StatusOr<Listing<Alias>> ListAliases(const Page& page) const override;

  absl::StatusOr<Report> GetReport(const std::string& job,
                                   const std::string& report) const override {
    ORDO_RETURN_IF_ERROR(CheckJob(job));
    ORDO_ASSIGN_OR_RETURN(Report found, scheduler_.GetReport(job, report));
    view_.HideIn(&found);
    return found;
  }
  absl::StatusOr<Listing<Report>> ListReports(const std::string& job,
                                              const Page& page) const override;

  absl::StatusOr<Worker> GetWorker(const std::string& worker) const override {
    ORDO_ASSIGN_OR_RETURN(Worker found, scheduler_.GetWorker(worker));
    view_.HideIn(&found);
    return found;
  }
  absl::StatusOr<Listing<Worker>> ListWorkers(const Page& page) const override {
    ORDO_ASSIGN_OR_RETURN(Listing<Worker> listing,
                          scheduler_.ListWorkers(page));
    for (Worker& worker : listing.items) view_.HideIn(&worker);
    return listing;
  }
  void CordonWorker(const std::string& worker, const Author& author,
                    WorkerCallback done) override {
    scheduler_.CordonWorker(worker, author, std::move(done));
  }
  void DrainWorker(const std::string& worker, absl::Time at,
                   const Author& author, WorkerCallback done) override {
    scheduler_.DrainWorker(worker, at, author, std::move(done));
  }
  void UncordonWorker(const std::string& worker, const Author& author,
                      WorkerCallback done) override {
    scheduler_.UncordonWorker(worker, author, std::move(done));
  }
  void ReleaseDevice(const std::string& worker, const std::string& device,
                     const Author& author, WorkerCallback done) override {
    scheduler_.ReleaseDevice(worker, device, author, std::move(done));
  }

  void CreateQueue(const Queue& queue, const Author& author,
                   QueueCallback done) override {
    scheduler_.CreateQueue(queue, author, std::move(done));
  }
  void UpdateQueue(const Queue& queue, const Author& author,
                   QueueCallback done) override {
    scheduler_.UpdateQueue(queue, author, std::move(done));
  }
  void DeleteQueue(const std::string& queue, const std::string& etag,
                   const Author& author, QueueCallback done) override {
    scheduler_.DeleteQueue(queue, etag, author, std::move(done));
  }
  absl::StatusOr<Queue> GetQueue(const std::string& queue) const override;
  absl::StatusOr<Listing<Queue>> ListQueues(const Page& page) const override;

  void ForEachArchivedUsage(const ArchivedUsageCallback& take) const override {
    scheduler_.ForEachArchivedUsage(
        [this, &take](const usage::v1::ArchivedUsage& usage) {
          if (Sees(usage.queue())) take(usage);
        });
  }
  void PutToken(const std::string& sha256,
                const std::optional<access::v1::Token>& token,
                TokenCallback done) override {
    scheduler_.PutToken(sha256, token, std::move(done));
  }
  std::vector<StoredToken> ListTokens() const override {
    return scheduler_.ListTokens();
  }
  absl::StatusOr<agent::v1::AnnounceResponse> Announce(
      const agent::v1::AnnounceRequest& request) override {
    return scheduler_.Announce(request);
  }

 private:
  bool Sees(const std::string& queue) const { return view_.Sees(queue); }
  bool SeesJob(const std::string& job) const { return view_.SeesJob(job); }
  // NOT_FOUND.
  absl::Status CheckJob(const std::string& job) const {
    return SeesJob(job) ? absl::OkStatus() : NoJob(job);
  }
  absl::Status NoQueue(const std::string& queue) const;
  absl::Status NoAlias(const std::string& alias) const;
  absl::Status CheckNewJobs(const std::vector<NewJob>& jobs) const;

  // A page of what `list` gives page by page, of which `sees` lets through.
  template <typename T, typename List, typename See>
  static absl::StatusOr<Listing<T>> Filtered(const Page& page, const List& list,
                                             const See& sees);
  // Whether a checkpoint's or report's job is seen; jobs come many times.
  template <typename T>
  absl::StatusOr<Listing<T>> OfSeenJobs(
      const Page& page,
      const std::function<absl::StatusOr<Listing<T>>(const Page&)>& list) const;

  // Calls `done` with what it is called with, of an error without the names of
  // jobs that are not seen, but for those that the caller named.
  template <typename T>
  std::function<void(absl::StatusOr<T>)> Masking(
      std::set<std::string> named,
      std::function<void(absl::StatusOr<T>)> done) const;
  // The same, and hides in the answer what is not seen.
  template <typename T>
  std::function<void(absl::StatusOr<T>)> Hiding(
      std::set<std::string> named,
      std::function<void(absl::StatusOr<T>)> done) const;

  Scheduler& scheduler_;
  // Copied by what may outlive this.
  const BoundView view_;
};

absl::Status BoundScheduler::NoQueue(const std::string& queue) const {
  const std::string nearest = base::Nearest(
      queue,
      std::vector<std::string>(view_.queues.begin(), view_.queues.end()));
  return absl::NotFoundError(absl::StrCat(
      "there is no queue ", queue,
      nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?"),
      "; see: ordo queues list"));
}

absl::Status BoundScheduler::NoAlias(const std::string& alias) const {
  return absl::NotFoundError(
      absl::StrCat("there is no alias ", alias, "; see: ordo alias list"));
}

template <typename T, typename List, typename See>
absl::StatusOr<Listing<T>> BoundScheduler::Filtered(const Page& page,
                                                    const List& list,
                                                    const See& sees) {
  Listing<T> seen;
  Page look = page;
  look.size = std::max(page.size, kLookSize);
  while (true) {
    ORDO_ASSIGN_OR_RETURN(Listing<T> some, list(look));
    for (T& item : some.items) {
      if (!sees(item)) continue;
      if (static_cast<int>(seen.items.size()) == page.size) {
        // Never the name of one that is not seen.
        seen.next = seen.items.back().name();
        return seen;
      }
      seen.items.push_back(std::move(item));
    }
    if (some.next.empty()) return seen;
    look.before = some.next;
  }
}

template <typename T>
absl::StatusOr<Listing<T>> BoundScheduler::OfSeenJobs(
    const Page& page,
    const std::function<absl::StatusOr<Listing<T>>(const Page&)>& list) const {
  std::map<std::string, bool> seen;
  return Filtered<T>(page, list, [this, &seen](const T& item) {
    const std::string job = core::JobIdOf(item.name());
    const auto [known, is_new] = seen.emplace(job, false);
    if (is_new) known->second = SeesJob(job);
    return known->second;
  });
}

absl::Status BoundScheduler::CheckNewJobs(
    const std::vector<NewJob>& jobs) const {
  std::set<std::string> created;
  for (const NewJob& job : jobs) created.insert(job.name);
  for (const NewJob& job : jobs) {
    if (!Sees(job.spec->queue())) return NoQueue(job.spec->queue());
    for (const std::string& named : core::JobsNamedBy(*job.spec)) {
      if (created.count(named) > 0) continue;
      ORDO_RETURN_IF_ERROR(CheckJob(named));
    }
  }
  return absl::OkStatus();
}

void BoundScheduler::CreateJobs(std::vector<NewJob> jobs, JobsCallback done) {
  if (absl::Status status = CheckNewJobs(jobs); !status.ok()) {
    return done(status);
  }
  std::set<std::string> named;
  for (const NewJob& job : jobs) named.insert(job.name);
  scheduler_.CreateJobs(
      std::move(jobs),
      Masking<std::vector<Job>>(std::move(named), std::move(done)));
}

absl::StatusOr<Job> BoundScheduler::GetJob(const std::string& job) const {
  ORDO_RETURN_IF_ERROR(CheckJob(job));
  ORDO_ASSIGN_OR_RETURN(Job found, scheduler_.GetJob(job));
  view_.HideIn(&found);
  return found;
}

absl::StatusOr<Listing<Job>> BoundScheduler::ListJobs(const JobFilter& filter,
                                                      const Page& page) const {
  Listing<Job> seen;
  // The newest sequence before which not all queues were looked at.
  int64_t end = 0;
  for (const std::string& queue : view_.queues) {
    if (filter.queue.value_or(queue) != queue) continue;
    JobFilter in_queue = filter;
    in_queue.queue = queue;
    ORDO_ASSIGN_OR_RETURN(Listing<Job> some,
                          scheduler_.ListJobs(in_queue, page));
    std::move(some.items.begin(), some.items.end(),
              std::back_inserter(seen.items));
    int64_t next = 0;
    if (absl::SimpleAtoi(some.next, &next)) end = std::max(end, next);
  }
  const auto late = [end](const Job& job) { return job.sequence() < end; };
  seen.items.erase(std::remove_if(seen.items.begin(), seen.items.end(), late),
                   seen.items.end());
  std::sort(
      seen.items.begin(), seen.items.end(),
      [](const Job& a, const Job& b) { return a.sequence() > b.sequence(); });
  if (seen.items.size() > static_cast<size_t>(page.size)) {
    seen.items.resize(static_cast<size_t>(page.size));
    end = seen.items.back().sequence();
  }
  if (end > 0) seen.next = absl::StrCat(end);
  for (Job& job : seen.items) view_.HideIn(&job);
  return seen;
}

absl::StatusOr<jobs::v1::ExplainResponse> BoundScheduler::Explain(
    const std::string& job) const {
  ORDO_RETURN_IF_ERROR(CheckJob(job));
  ORDO_ASSIGN_OR_RETURN(auto explained, scheduler_.Explain(job));
  explained.set_summary(view_.Masked(explained.summary()));
  for (auto& blocker : *explained.mutable_blockers()) {
    blocker.set_message(view_.Masked(blocker.message()));
  }
  return explained;
}

absl::StatusOr<Listing<Checkpoint>> BoundScheduler::ListCheckpoints(
    const std::string& job, const Page& page) const {
  if (!job.empty()) {
    ORDO_RETURN_IF_ERROR(CheckJob(job));
    return scheduler_.ListCheckpoints(job, page);
  }
  return OfSeenJobs<Checkpoint>(page, [this](const Page& look) {
    return scheduler_.ListCheckpoints("", look);
  });
}

absl::StatusOr<Listing<Report>> BoundScheduler::ListReports(
    const std::string& job, const Page& page) const {
  const auto list = [this](
                        const std::string& of,
                        const Page& look) -> absl::StatusOr<Listing<Report>> {
    ORDO_ASSIGN_OR_RETURN(auto listing, scheduler_.ListReports(of, look));
    for (Report& report : listing.items) view_.HideIn(&report);
    return listing;
  };
  if (!job.empty()) {
    ORDO_RETURN_IF_ERROR(CheckJob(job));
    return list(job, page);
  }
  return OfSeenJobs<Report>(
      page, [&list](const Page& look) { return list("", look); });
}

void BoundScheduler::SetAlias(const AliasSetting& setting, const Author& author,
                              AliasCallback done) {
  absl::Status status;
  const std::string& named = setting.checkpoint;
  if (named.rfind(kAliasPrefix, 0) == 0) {
    status = GetAlias(core::IdOf(named)).status();
  } else {
    status = CheckJob(core::JobIdOf(named));
  }
  const bool is_there = scheduler_.GetAlias(setting.alias).ok();
  if (status.ok() && is_there && !GetAlias(setting.alias).ok()) {
    status = absl::FailedPreconditionError(absl::StrCat(
        "the name of the alias ", setting.alias, " cannot be taken"));
  }
  if (!status.ok()) return done(status);
  scheduler_.SetAlias(
      setting, author,
      Hiding<Alias>({setting.alias, core::JobIdOf(named)}, std::move(done)));
}

absl::StatusOr<Alias> BoundScheduler::GetAlias(const std::string& alias) const {
  auto found = scheduler_.GetAlias(alias);
  if (found.ok() && SeesJob(core::JobIdOf(found->checkpoint()))) {
    view_.HideIn(&*found);
    return found;
  }
  // Never the nearest that there is: it may be one that is not seen.
  return NoAlias(alias);
}

absl::StatusOr<Listing<Alias>> BoundScheduler::ListAliases(
    const Page& page) const {
  ORDO_ASSIGN_OR_RETURN(
      auto listing,
      Filtered<Alias>(
          page,
          [this](const Page& look) { return scheduler_.ListAliases(look); },
          [this](const Alias& alias) {
            return SeesJob(core::JobIdOf(alias.checkpoint()));
          }));
  for (Alias& alias : listing.items) view_.HideIn(&alias);
  return listing;
}

absl::StatusOr<Queue> BoundScheduler::GetQueue(const std::string& queue) const {
  if (!Sees(queue)) return NoQueue(queue);
  auto found = scheduler_.GetQueue(queue);
  if (absl::IsNotFound(found.status())) return NoQueue(queue);
  return found;
}

absl::StatusOr<Listing<Queue>> BoundScheduler::ListQueues(
    const Page& page) const {
  return Filtered<Queue>(
      page, [this](const Page& look) { return scheduler_.ListQueues(look); },
      [this](const Queue& queue) { return Sees(core::IdOf(queue.name())); });
}

template <typename T>
std::function<void(absl::StatusOr<T>)> BoundScheduler::Masking(
    std::set<std::string> named,
    std::function<void(absl::StatusOr<T>)> done) const {
  return [view = view_, named = std::move(named),
          done = std::move(done)](absl::StatusOr<T> answer) {
    if (answer.ok()) return done(std::move(answer));
    const std::string said(answer.status().message());
    std::string masked = view.Masked(said, named);
    if (masked == said) return done(std::move(answer));
    done(absl::Status(answer.status().code(), masked));
  };
}

template <typename T>
std::function<void(absl::StatusOr<T>)> BoundScheduler::Hiding(
    std::set<std::string> named,
    std::function<void(absl::StatusOr<T>)> done) const {
  return Masking<T>(std::move(named), [view = view_, done = std::move(done)](
                                          absl::StatusOr<T> answer) {
    if (answer.ok()) view.HideIn(&*answer);
    done(std::move(answer));
  });
}

}  // namespace

std::unique_ptr<Scheduler> MakeBoundScheduler(Scheduler& scheduler,
                                              std::set<std::string> queues) {
  return std::make_unique<BoundScheduler>(scheduler, std::move(queues));
}

}  // namespace ordo::scheduler

#ifndef ORDO_SCHEDULER_TESTING_FAKE_SCHEDULER_H_
#define ORDO_SCHEDULER_TESTING_FAKE_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/mutex.h"
#include "scheduler/core/aliases.h"
#include "scheduler/core/queues.h"
#include "scheduler/core/worker_admin.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::testing {

// True for SUCCEEDED, FAILED and CANCELLED.
bool HasEnded(const jobs::v1::Job& job);

// A scheduler in memory that runs nothing: the test puts jobs, checkpoints,
// reports and workers in and changes them. Keeps the contract of Scheduler,
// except that callbacks run on the thread that causes them, and that it is
// always kNow. Thread-safe.
class FakeScheduler : public Scheduler {
 public:
  static constexpr absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

  // Puts a job in, or changes one, and tells those who watch it. Its version
  // becomes one more than it was; a new job gets a sequence number. Gives the
  // job as stored.
  jobs::v1::Job PutJob(jobs::v1::Job job);
  // The same for a job that is there, with another state.
  jobs::v1::Job SetState(const std::string& job, jobs::v1::Job::State state);
  // GetJob of it gives DATA_LOSS from now on.
  void DamageSpec(const std::string& job);
  // Tells those who watch of `job` as it is, with `progress` but without a new
  // version, as the real one does for what is not durable.
  void PutProgress(const std::string& job, const jobs::v1::Progress& progress);
  // Ends all watches as a scheduler does that leaves.
  void Leave();

  void PutCheckpoint(const checkpoints::v1::Checkpoint& checkpoint);
  void PutReport(const reports::v1::Report& report);
  void PutWorker(const workers::v1::Worker& worker);
  void PutArchivedUsage(const usage::v1::ArchivedUsage& usage);
  // The next `count` changes of queues and aliases are done and answered
  // UNAVAILABLE, as when the connection breaks before the answer.
  void LoseAnswers(int count);
  // What ListJobs answers from now on, unless it is OK.
  void RefuseListings(const absl::Status& status);
  // What Explain answers.
  void PutExplanation(const std::string& job,
                      const jobs::v1::ExplainResponse& explanation);

  // What came in, for a test to look at.
  std::vector<NewJob> created() const;
  std::vector<std::string> cancelled_by() const;
  std::vector<agent::v1::AnnounceRequest> announced() const;
  int num_watches() const;
  // Returns when there are exactly `count` watches; false after ten seconds.
  bool WaitForWatches(int count) const;

  void CreateJobs(std::vector<NewJob> jobs, JobsCallback done) override;
  void CancelJob(const std::string& job, const std::string& user,
                 JobCallback done) override;
  void HoldJob(const std::string& job, const std::string& user,
               JobCallback done) override;
  void ReleaseJob(const std::string& job, const std::string& user,
                  JobCallback done) override;
  void SetPriority(const std::string& job, int32_t priority,
                   const std::string& user, JobCallback done) override;
  absl::StatusOr<jobs::v1::Job> GetJob(const std::string& job) const override;
  absl::StatusOr<jobs::v1::Owner> GetOwner(
      const std::string& job) const override;
  absl::StatusOr<std::string> GetQueueOf(const std::string& job) const override;
  absl::StatusOr<Listing<jobs::v1::Job>> ListJobs(
      const JobFilter& filter, const Page& page) const override;
  absl::StatusOr<jobs::v1::ExplainResponse> Explain(
      const std::string& job) const override;
  absl::StatusOr<int64_t> WatchJob(const std::string& job,
                                   WatchCallback callback) override;
  void StopWatch(int64_t watch) override;
  absl::StatusOr<checkpoints::v1::Checkpoint> GetCheckpoint(
      const std::string& job, const std::string& checkpoint) const override;
  absl::StatusOr<Listing<checkpoints::v1::Checkpoint>> ListCheckpoints(
      const std::string& job, const Page& page) const override;
  void ChangeCheckpoint(CheckpointVerb verb, const std::string& checkpoint,
                        const Author& author, CheckpointCallback done) override;
  void SetAlias(const AliasSetting& setting, const Author& author,
                AliasCallback done) override;
  void DeleteAlias(const std::string& alias, const std::string& etag,
                   const Author& author, AliasCallback done) override;
  absl::StatusOr<checkpoints::v1::Alias> GetAlias(
      const std::string& alias) const override;
  absl::StatusOr<Listing<checkpoints::v1::Alias>> ListAliases(
      const Page& page) const override;
  absl::StatusOr<reports::v1::Report> GetReport(
      const std::string& job, const std::string& report) const override;
  absl::StatusOr<Listing<reports::v1::Report>> ListReports(
      const std::string& job, const Page& page) const override;
  absl::StatusOr<workers::v1::Worker> GetWorker(
      const std::string& worker) const override;
  absl::StatusOr<Listing<workers::v1::Worker>> ListWorkers(
      const Page& page) const override;
  void CordonWorker(const std::string& worker, const Author& author,
                    WorkerCallback done) override;
  void DrainWorker(const std::string& worker, absl::Time at,
                   const Author& author, WorkerCallback done) override;
  void UncordonWorker(const std::string& worker, const Author& author,
                      WorkerCallback done) override;
  void ReleaseDevice(const std::string& worker, const std::string& device,
                     const Author& author, WorkerCallback done) override;
  void CreateQueue(const queues::v1::Queue& queue, const Author& author,
                   QueueCallback done) override;
  void UpdateQueue(const queues::v1::Queue& queue, const Author& author,
                   QueueCallback done) override;
  void DeleteQueue(const std::string& queue, const std::string& etag,
                   const Author& author, QueueCallback done) override;
  absl::StatusOr<queues::v1::Queue> GetQueue(
      const std::string& queue) const override;
  absl::StatusOr<Listing<queues::v1::Queue>> ListQueues(
      const Page& page) const override;
  void ForEachArchivedUsage(const ArchivedUsageCallback& take) const override;
  void PutToken(const std::string& sha256,
                const std::optional<access::v1::Token>& token,
                TokenCallback done) override;
  std::vector<StoredToken> ListTokens() const override;
  absl::StatusOr<agent::v1::AnnounceResponse> Announce(
      const agent::v1::AnnounceRequest& request) override;

 private:
  struct Watch {
    std::string job;
    WatchCallback callback;
    // Held while the callback runs, so that StopWatch can wait for it.
    base::Mutex running;
    bool stopped ORDO_GUARDED_BY(running) = false;
  };

  absl::StatusOr<jobs::v1::Job> FindJob(const std::string& job) const
      ORDO_REQUIRES(mutex_);
  // As GetJob, also of one whose spec is damaged.
  absl::StatusOr<jobs::v1::Job> CopyOf(const std::string& job) const;
  absl::StatusOr<jobs::v1::Job> FindQueued(const std::string& job) const;
  // Without the parts of parents that are repeats of requests.
  std::vector<NewJob> WithoutRepeatedParts(
      const std::vector<NewJob>& jobs) const ORDO_REQUIRES(mutex_);
  absl::StatusOr<std::vector<jobs::v1::Job>> TryCreate(
      const std::vector<NewJob>& asked);
  void Tell(const jobs::v1::Job& job, bool last);
  // NOT_FOUND or RESOURCE_EXHAUSTED: the queues do not take the jobs.
  absl::Status CheckQueues(const std::vector<NewJob>& jobs) const
      ORDO_REQUIRES(mutex_);
  // Jobs of the queue that have not ended.
  int64_t NumJobs(const std::string& queue) const ORDO_REQUIRES(mutex_);
  // Stores a changed queue and gives what its caller hears.
  absl::StatusOr<queues::v1::Queue> Keep(absl::StatusOr<core::QueuePtr> queue)
      ORDO_REQUIRES(mutex_);
  absl::StatusOr<checkpoints::v1::Alias> Keep(
      absl::StatusOr<core::AliasPtr> alias) ORDO_REQUIRES(mutex_);
  absl::StatusOr<checkpoints::v1::Alias> TrySet(const AliasSetting& setting,
                                                const Author& author)
      ORDO_REQUIRES(mutex_);
  // By its name, or as the newest of its job; null when there is none.
  checkpoints::v1::Checkpoint* FindCheckpoint(const std::string& name)
      ORDO_REQUIRES(mutex_);
  // As the API shows it.
  checkpoints::v1::Checkpoint WithNames(
      checkpoints::v1::Checkpoint checkpoint) const ORDO_REQUIRES(mutex_);
  // FAILED_PRECONDITION: something keeps it.
  absl::Status CheckNotHeld(const checkpoints::v1::Checkpoint& checkpoint) const
      ORDO_REQUIRES(mutex_);
  absl::Status TryChange(CheckpointVerb verb, const Author& author,
                         checkpoints::v1::Checkpoint* checkpoint)
      ORDO_REQUIRES(mutex_);
  // Changes what people decided of a worker.
  using AdminChange = std::function<core::WorkerAdminPtr(
      const core::WorkerAdminPtr&, const core::WorkerChange&)>;
  absl::StatusOr<workers::v1::Worker> ChangeWorker(const std::string& worker,
                                                   const Author& author,
                                                   const AdminChange& change);
  // A worker with what people decided of it.
  workers::v1::Worker Shown(const std::string& id,
                            workers::v1::Worker worker) const
      ORDO_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  mutable base::CondVar changed_;
  absl::Status listings_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, jobs::v1::Job> jobs_ ORDO_GUARDED_BY(mutex_);
  // Those whose spec is.
  std::set<std::string> damaged_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, std::string> fingerprints_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, std::string> job_of_request_ ORDO_GUARDED_BY(mutex_);
  // Oldest first.
  std::vector<checkpoints::v1::Checkpoint> checkpoints_ ORDO_GUARDED_BY(mutex_);
  std::vector<reports::v1::Report> reports_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, workers::v1::Worker> workers_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, core::WorkerAdminPtr> admin_ ORDO_GUARDED_BY(mutex_);
  core::Queues queues_ ORDO_GUARDED_BY(mutex_);
  core::Aliases aliases_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, access::v1::Token> tokens_ ORDO_GUARDED_BY(mutex_);
  std::vector<usage::v1::ArchivedUsage> archived_usage_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, jobs::v1::ExplainResponse> explanations_
      ORDO_GUARDED_BY(mutex_);
  std::vector<NewJob> created_ ORDO_GUARDED_BY(mutex_);
  std::vector<std::string> cancelled_by_ ORDO_GUARDED_BY(mutex_);
  std::vector<agent::v1::AnnounceRequest> announced_ ORDO_GUARDED_BY(mutex_);
  std::map<int64_t, std::shared_ptr<Watch>> watches_ ORDO_GUARDED_BY(mutex_);
  int64_t last_watch_ ORDO_GUARDED_BY(mutex_) = 0;
  int64_t last_sequence_ ORDO_GUARDED_BY(mutex_) = 0;
  int answers_to_lose_ ORDO_GUARDED_BY(mutex_) = 0;
};

}  // namespace ordo::scheduler::testing

#endif  // ORDO_SCHEDULER_TESTING_FAKE_SCHEDULER_H_

#ifndef ORDO_SCHEDULER_SERVER_SERVER_H_
#define ORDO_SCHEDULER_SERVER_SERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/mutex.h"
#include "base/rpc/tls.h"
#include "scheduler/core/apply.h"
#include "scheduler/core/state.h"
#include "scheduler/metrics.h"
#include "scheduler/scheduler.h"
#include "scheduler/server/admin_calls.h"
#include "scheduler/server/archivist.h"
#include "scheduler/server/counts.h"
#include "scheduler/server/damage_log.h"
#include "scheduler/server/dispatcher.h"
#include "scheduler/server/folder_remover.h"
#include "scheduler/server/past_jobs.h"
#include "scheduler/server/reads.h"
#include "scheduler/server/view.h"
#include "scheduler/server/watches.h"
#include "scheduler/server/writer.h"
#include "scheduler/store/store.h"

namespace ordo::scheduler::server {

struct ServerOptions {
  // The epoch is taken from the store.
  core::Options core;
  // Not owned; outlive the server.
  store::Store* store = nullptr;
  const base::Clock* clock = nullptr;
  base::Filesystem* files = nullptr;
  SchedulerMetrics* metrics = nullptr;
  // Where checkpoints lie that retention removes.
  std::string storage_root;
  RetentionOptions retention;
  // What workers are called with; null: without TLS.
  std::shared_ptr<base::ClientTls> worker_tls;
  // Whether a thread calls Tick when a deadline is due; needs the machine's own
  // clock. Tests that move a fake one call it themselves.
  bool run_timer = true;
  // Jobs of all calls that wait for a commit, at most; a call that creates none
  // counts as one. One more is RESOURCE_EXHAUSTED. They are held in memory.
  int64_t max_waiting_jobs = 100'000;
  // How often a commit is tried again for which there is no room.
  absl::Duration full_retry = absl::Milliseconds(500);
  // What another failed commit leads to; null: the process ends at once with
  // status 1 and a message, and its next start goes on from the store.
  std::function<void(const absl::Status&)> on_commit_failure;
};

// The shell around the core, and the only thing that has a lock: it reads the
// clock, applies an event, queues the effects for the store, and releases them
// when they are durable. While the store's disk is full, calls that change
// something are answered with UNAVAILABLE; announcements are taken and reads
// answered, and nothing that was taken is lost. Thread-safe.
class Server : public Scheduler {
 public:
  // Loads the store and starts. DATA_LOSS when the records do not fit together;
  // else the store's errors.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  // Drains.
  ~Server() override;

  // Refuses further calls with UNAVAILABLE, makes durable and answers what was
  // taken, ends all watches. Reads go on to work.
  void Drain();

  // Lets the core take note of the time.
  void Tick();

  // Lets jobs that have ended leave for the archive, as far as retention says;
  // how many have left. A thread calls it every period.
  absl::StatusOr<int64_t> Archive() { return archivist_->Look(); }

  // Brings up to date what the metrics show of the state as it is now: for each
  // page, one at a time.
  void ShowState();

  // Returns when the folders of removed checkpoints are gone.
  void WaitForRemovals() { remover_.Wait(); }

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
  // The last record of each job that has changed; null where only its progress
  // has.
  using Changed = std::map<std::string, core::JobPtr>;

  Server(ServerOptions options, core::State state, const core::Records& records,
         const std::map<core::JobState, int64_t>& ended);

  core::Moment Now() const;
  // Applies an event and queues its effects. UNAVAILABLE when draining; else
  // the answer to an announcement, or OK.
  absl::Status Apply(core::Event event) ORDO_EXCLUDES(mutex_);
  // The disk has no room for a commit: answers all who wait for one, and
  // refuses calls from now on.
  void StopAcknowledging(const absl::Status& status) ORDO_EXCLUDES(mutex_);
  void GoOnAcknowledging() ORDO_EXCLUDES(mutex_);
  // Answers all calls that are not answered yet: there is no room.
  void RefuseCalls() ORDO_EXCLUDES(mutex_);
  // The event of a call that is answered by this number; of the jobs that it
  // mentions, these have left the store.
  using MakeEvent = std::function<core::Event(
      uint64_t call, std::vector<core::RetiredJob> retired)>;
  // A call that waits for its commit; it counts as so many.
  using Done = std::variant<JobsCallback, AliasCallback, CheckpointCallback>;
  struct WaitingCall {
    Done done;
    int64_t num_jobs = 1;
    bool has_request_id = false;
  };
  // Adds to `past` those that a call mentions and that have ended.
  absl::Status FindPast(const Mentioned& mentioned,
                        store::PastJobs* past) const;
  // As above, remembering whom to answer.
  void Call(const Mentioned& mentioned, const MakeEvent& make, WaitingCall call)
      ORDO_EXCLUDES(mutex_);
  // RESOURCE_EXHAUSTED when too many wait already. One that is OK is taken back
  // when the call is answered.
  absl::Status CountWaiting(const WaitingCall& call) ORDO_EXCLUDES(mutex_);
  // The same of what is done to one job, and answered with it.
  void CallForJob(const std::string& job,
                  const std::function<core::Event(uint64_t call)>& make,
                  JobCallback done) ORDO_EXCLUDES(mutex_);
  // The same of what is done to aliases and checkpoints; the resource names
  // that it mentions may be of jobs' checkpoints.
  void CallForNames(const std::vector<std::string>& names,
                    const std::function<core::Event(uint64_t call)>& make,
                    Done done) ORDO_EXCLUDES(mutex_);
  // Ends a call that nobody has answered.
  static void Refuse(const Done& done, const absl::Status& status);
  // Why no person can change anything of the cluster now.
  absl::Status RefusesAdmin() const ORDO_REQUIRES(mutex_);
  // The same of changes of queues and workers.
  void CallAdmin(const std::function<core::Event(uint64_t call)>& make,
                 AdminCalls::Callback done) ORDO_EXCLUDES(mutex_);
  // Takes jobs that have ended back for the event, and lets them go after it.
  void CallLocked(std::vector<core::PastJob> past, core::Event event)
      ORDO_REQUIRES(mutex_);
  absl::Status ApplyLocked(core::Event event) ORDO_REQUIRES(mutex_);

  // As answers and watches tell it, which come after the fact: of a job whose
  // spec cannot be read, all but that.
  jobs::v1::Job Shown(const core::JobRecord& job);
  jobs::v1::Job Shown(const SeenJob& job);

  // On the writer's thread.
  void Release(std::vector<core::Effects> turns);
  void ReleaseRecord(const core::Record& record, Changed* changed);
  // Takes a call that waits for this answer; nothing when it was refused
  // already.
  std::optional<Done> TakeCall(uint64_t number) ORDO_EXCLUDES(mutex_);
  void ReleaseAnswer(const core::Answer& answer);
  void ReleaseAnswer(const core::AnswerAlias& answer);
  void ReleaseAnswer(const core::AnswerCheckpoint& answer);
  void TellWatches(const Changed& changed);
  // Those that have come since the last call see their jobs as they are; what
  // is released later they are told.
  void ShowToWatches();
  // Those of what is stored now: from here on they are read where they are
  // needed.
  static void LetSpecsGo(const std::vector<core::Effects>& turns);
  void ForgetEnded(const std::vector<core::Effects>& turns)
      ORDO_EXCLUDES(mutex_);
  bool IsLeaving(const std::vector<core::PastJob>& jobs) const
      ORDO_REQUIRES(mutex_);
  void ForgetLocked(std::vector<std::string> jobs) ORDO_REQUIRES(mutex_);

  // For the archivist: claims those of these jobs that nothing needs, and
  // removes them from the store, on the writer's thread.
  std::vector<core::PastJob> Claim(std::vector<core::PastJob> jobs)
      ORDO_EXCLUDES(mutex_);
  absl::Status Retire(const std::vector<core::PastJob>& jobs);
  // What was taken could not be stored.
  void OnFailure(const absl::Status& status);
  void LetGo() ORDO_EXCLUDES(mutex_);

  void TakeAnswer(const agent::v1::SetDesiredRequest& request,
                  absl::StatusOr<agent::v1::ObservedSet> observed);
  // Of all whose records say so, without holding up anything.
  void SweepCheckpoints();
  // `file`: empty for all of its folder.
  void RemoveCheckpoint(const std::string& name, const std::string& file);
  void RunTimer();

  // For ShowState: of all devices; how long the job has waited that waits
  // longest for devices, by queue; what queues used, by queue and kind.
  std::vector<DeviceTraining> TrainingLocked() const ORDO_REQUIRES(mutex_);
  std::map<std::vector<std::string>, double> WaitsLocked() const
      ORDO_REQUIRES(mutex_);
  std::map<std::vector<std::string>, double> UsageLocked() const
      ORDO_REQUIRES(mutex_);

  const ServerOptions options_;
  DamageLog damage_;
  View view_;
  Reads reads_;
  Watches watches_;
  FolderRemover remover_;
  AdminCalls admin_calls_;

  mutable base::Mutex mutex_;
  base::CondVar timer_changed_;
  core::State state_ ORDO_GUARDED_BY(mutex_);
  RecordsInFlight in_flight_ ORDO_GUARDED_BY(mutex_);
  // One for each call that is looking for jobs in the store: what has left the
  // core or the store meanwhile.
  std::set<Departures*> lookups_ ORDO_GUARDED_BY(mutex_);
  // Jobs that are leaving the store.
  std::map<std::string, core::JobPtr> leaving_ ORDO_GUARDED_BY(mutex_);
  base::CondVar let_go_;
  uint64_t next_call_ ORDO_GUARDED_BY(mutex_) = 1;
  std::map<uint64_t, WaitingCall> calls_ ORDO_GUARDED_BY(mutex_);
  // Those of calls_, and of calls that are looking.
  int64_t num_waiting_ ORDO_GUARDED_BY(mutex_) = 0;
  bool draining_ ORDO_GUARDED_BY(mutex_) = false;
  // The store's disk is.
  bool full_ ORDO_GUARDED_BY(mutex_) = false;
  // Workers whose last desired set was not answered, to log it once.
  std::set<std::string> silent_workers_ ORDO_GUARDED_BY(mutex_);

  // The threads, last: what they use is there before and after them.
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Archivist> archivist_;
  std::thread timer_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_SERVER_H_

#ifndef ORDO_WORKER_AGENT_AGENT_H_
#define ORDO_WORKER_AGENT_AGENT_H_

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/mutex.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "worker/agent/background.h"
#include "worker/agent/core.h"
#include "worker/agent/drain.h"
#include "worker/agent/measurements.h"
#include "worker/agent/metrics.h"
#include "worker/agent/nvml.h"
#include "worker/agent/offers.h"
#include "worker/agent/reporter.h"
#include "worker/agent/room_meter.h"
#include "worker/agent/spare_folders.h"
#include "worker/agent/task.h"
#include "worker/agent/task_watches.h"
#include "worker/agent/watcher.h"

namespace ordo::worker::agent {

struct AgentOptions {
  TaskOptions task;
  // What every announcement says, but address, observed set and draining.
  ::ordo::agent::v1::AnnounceRequest identity;
  // Grace of what runs when the worker drains.
  absl::Duration stop_grace = absl::Seconds(30);
  // What speaks for the machine's GPUs; null: it has none, or nothing does.
  std::shared_ptr<Nvml> nvml;
  // Progress records that cannot be read for so long after an attempt's end are
  // given up: a storage that was away comes back in this time, or the attempt
  // counts as one whose records are lost, and the job and its device are free.
  absl::Duration unreadable_limit = absl::Minutes(1);
};

// What a signal asks of a worker.
enum class Leave { kNo, kDrain, kAtOnce };

// The shell around the core: one thread (the caller of Run) that starts
// supervisors, follows journals and progress files, and announces changes.
// SetDesired may be called from any thread; nothing in it blocks.
class Agent {
 public:
  // `files`, `clock` and `metrics` outlive the agent.
  Agent(AgentOptions options, base::Filesystem& files, const base::Clock& clock,
        WorkerMetrics& metrics);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Takes over the tasks of an earlier worker process. Before SetDesired and
  // Run.
  absl::Status Start();

  // As WorkerAgentService.SetDesired.
  absl::StatusOr<::ordo::agent::v1::SetDesiredResponse> SetDesired(
      const ::ordo::agent::v1::SetDesiredRequest& request);

  // Works until it is asked to leave. `address` is where SetDesired is served;
  // `channel` leads to the scheduler. After a drain nothing runs; after
  // Leave::kAtOnce the tasks go on.
  void Run(const std::string& address,
           const std::shared_ptr<grpc::Channel>& channel);

  // Shows how much room is left to write, also while Run waits for a storage
  // that hangs. Any thread.
  void ShowRoom() { room_.Step(); }

  // Ends Run. Safe in a signal handler.
  void RequestLeave(Leave leave);

 private:
  struct Pending {
    Action action;
    AskedAt asked;
  };
  struct Entry {
    std::unique_ptr<Task> task;
    std::unique_ptr<TaskWatches> watches;
    std::unique_ptr<Measurements> measurements;
    // The trace that its job is part of; empty: none.
    std::string trace_id;
    // The supervisor is gone and its journal has no end.
    bool lost = false;
    // The last look at its files failed.
    bool troubled = false;
    // Since when (monotonic) it has ended and its files were not read.
    absl::Duration unread_since = absl::InfiniteDuration();
    // Its supervisor's process has ended, or is not known.
    bool supervisor_ended = false;
    // Since when (monotonic) its end waits for the memory of its devices.
    std::optional<absl::Duration> memory_since;
    // Over: only its folder is left.
    bool over = false;
    // Its journal tells its end, and a crash of the machine could take it away.
    bool end_unsynced = false;
    // That has been tried, in vain.
    bool sync_failed = false;
    // An earlier process ran it, and may have tried that in vain.
    bool adopted = false;
  };
  using Entries = std::map<AttemptKey, Entry>;

  void Wake();
  void AddActions(Actions actions);
  void RunPending();
  void StartTask(const Pending& pending);
  std::unique_ptr<Measurements> MakeMeasurements(
      const ::ordo::agent::v1::DesiredAttempt& task,
      std::optional<AskedAt> asked);
  void SignalTask(const Action& action);
  void ForgetTask(const AttemptKey& key);
  // Reads what is new and tells it to the core and the metrics.
  Task::Update Take(const AttemptKey& key, Entry& entry, bool ended);
  // As Take, and judges the journal. The attempt is over only once all of its
  // records are read.
  Task::Update Update(const AttemptKey& key, Entry& entry);
  // Whether all that its devices' memory held of an attempt is gone.
  bool MemoryIsBack(const AttemptKey& key, Entry& entry);
  void ReportEnd(const AttemptKey& key, Entry& entry);
  // What supervisors left behind, and the supervisors themselves.
  void CheckSupervisor(const AttemptKey& key, Entry& entry);
  void ReapChildren();
  void UpdateChanged();
  // The journal of what has ended and is not acknowledged yet.
  void SyncEnd(const AttemptKey& key, const Entry& entry);
  // Those that failed are due again.
  void TakeFailedSyncs() ORDO_EXCLUDES(mutex_);
  // <job>/spec.json: a disk may take its time.
  void WriteSpec(const ::ordo::agent::v1::DesiredAttempt& desired);
  // What is offered, and what the reporter says of it.
  void TendDevices();
  void Report();
  // Its machine is taken away soon: it drains, whether or not a scheduler is
  // there to say so.
  bool IsTimeOver() const;
  void BeginDrain();
  bool DrainIsOver();
  // Waits for whatever comes first.
  void Wait();

  const AgentOptions options_;
  base::Filesystem& files_;
  const base::Clock& clock_;
  WorkerMetrics& metrics_;
  SpareFolders spares_;
  RoomMeter room_;
  // An eventfd.
  const int wake_file_;
  std::atomic<Leave> leave_{Leave::kNo};

  mutable base::Mutex mutex_;
  Core core_ ORDO_GUARDED_BY(mutex_);
  std::vector<Pending> pending_ ORDO_GUARDED_BY(mutex_);
  Reporter reporter_ ORDO_GUARDED_BY(mutex_);
  // Whose end could not be made durable, since the last full turn.
  std::vector<AttemptKey> failed_syncs_ ORDO_GUARDED_BY(mutex_);

  // Of the thread in Run.
  std::unique_ptr<Watcher> watcher_;
  Entries entries_;
  // Started here and not reaped yet; left by themselves with an error.
  std::set<pid_t> supervisors_;
  std::set<pid_t> failed_supervisors_;
  // Monotonic times.
  absl::Duration next_full_turn_;
  Drain drain_;
  Offers offers_;
  int64_t announced_devices_ = 0;
  int64_t announced_urgent_ = 0;
  // Its thread uses the other members, so it ends before all of them.
  std::optional<Background> background_{std::in_place};
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_AGENT_H_

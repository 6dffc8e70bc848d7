#ifndef ORDO_TESTS_SIM_SIM_SCHEDULER_H_
#define ORDO_TESTS_SIM_SIM_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/core/apply.h"
#include "scheduler/core/queues.h"
#include "scheduler/core/state.h"
#include "scheduler/policy/facts.h"
#include "scheduler/server/past_jobs.h"
#include "scheduler/store/testing/memory_store.h"
#include "tests/sim/machine.h"
#include "tests/sim/network.h"
#include "tests/sim/oracle.h"
#include "tests/sim/scenario.pb.h"
#include "tests/sim/world.h"

// The scheduler process: its real core, and a model of the shell around it
// (scheduler/server): one queue of effects, groups of them committed as one
// transaction, released in order when they are durable, and lost with the
// process when they are not.

namespace ordo::tests::sim {

// A queue as people set it.
queues::v1::Queue QueueOf(const scheduler::policy::Queue& queue);

struct SimSchedulerOptions {
  scheduler::core::Options core;
  // As people have set them.
  std::vector<scheduler::policy::Queue> queues;
  StoreFaults store;
  // That it dies between two effects of a release.
  double kill_at_release = 0;
  absl::Duration max_away;
  double clock_drift = 0;
};

class SimScheduler {
 public:
  // The answer to what users ask.
  using JobsReply = Reply<std::vector<scheduler::core::JobPtr>>;
  using QueueReply = Reply<scheduler::core::QueuePtr>;
  using WorkerReply = Reply<std::shared_ptr<const workers::v1::Worker>>;
  using AliasReply = Reply<scheduler::core::AliasPtr>;
  using CheckpointReply = Reply<scheduler::core::CheckpointPtr>;
  using SetDesired = std::function<void(const agent::v1::SetDesiredRequest&,
                                        Reply<agent::v1::SetDesiredResponse>)>;

  // All but the options outlive it.
  SimScheduler(World& world, Network& network, Storage& storage,
               Oracle& oracle);

  // `set_desired` is the workers' end of the call.
  void Begin(SimSchedulerOptions options, SetDesired set_desired);

  bool runs() const { return life_.runs(); }
  // While it runs.
  const scheduler::core::State& state() const { return *state_; }
  MachineClock& clock() { return *clock_; }

  // kill -9; it comes back by itself.
  void Kill();
  // Its machine loses power; the same.
  void LosePower();
  void Stall(absl::Duration duration);
  // Commits take long, find no room, or fail, for so long.
  void SlowStore(absl::Duration duration);
  void FillStore(absl::Duration duration);
  void BreakStore(absl::Duration duration);

  // The scheduler's end of calls.
  void CreateJobs(const std::vector<scheduler::NewJob>& jobs, JobsReply reply);
  void CancelJob(const std::string& job, JobsReply reply);
  void HoldJob(const std::string& job, JobsReply reply);
  void ReleaseJob(const std::string& job, JobsReply reply);
  void SetPriority(const std::string& job, int32_t priority, JobsReply reply);
  // As services/queues: an update is made for the queue as it is now.
  void ChangeQueue(const scheduler::core::ChangeQueue& change,
                   QueueReply reply);
  void ChangeWorker(const scheduler::core::ChangeWorker& change,
                    WorkerReply reply);
  void ChangeAlias(const scheduler::core::ChangeAlias& change,
                   AliasReply reply);
  void ChangeCheckpoint(const scheduler::core::ChangeCheckpoint& change,
                        CheckpointReply reply);
  void Announce(const agent::v1::AnnounceRequest& request,
                const Reply<agent::v1::AnnounceResponse>& reply);

  // All that is stored.
  scheduler::core::Records Stored() const { return memory_->All(); }

  // Whether it runs and all it knows is durable and released.
  bool IsIdle() const;
  bool IsLive(const AttemptKey& key) const;
  int64_t num_applies() const { return num_applies_; }
  int64_t num_lives() const { return num_lives_; }

 private:
  // A worker that is told desired sets: one call at a time, of the sets that
  // come meanwhile only the newest.
  struct Peer {
    std::shared_ptr<const agent::v1::SetDesiredRequest> pending;
    bool under_way = false;
  };

  // Puts the queues into the store, as if people had made them before.
  void MakeQueues();
  void Start();
  void Enter(std::function<void()> then);
  void Ask(const scheduler::server::Mentioned& mentioned,
           const std::function<scheduler::core::Event(uint64_t call)>& make,
           JobsReply reply);
  absl::Status Apply(scheduler::core::Event event);
  void TellOracle(const scheduler::core::Event& event);
  // Jobs that have ended leave the core, and come back for an event that names
  // them, as in scheduler/server.
  void Forget(std::vector<std::string> jobs);
  void Call(const scheduler::server::Mentioned& mentioned,
            scheduler::core::Event event);
  void PlanTick();
  void Commit();
  void CommitGroup();
  void FinishCommit();
  // Calls are refused, and what is queued waits and is merged.
  void WaitForRoom();
  void RefuseCalls();
  // Of a call that is not there any more, or is answered twice.
  void CheckRefused(uint64_t call);
  // One effect after the other, from this one of this turn on.
  void Release(size_t turn, size_t effect);
  void ReleaseEffect(const scheduler::core::Effect& effect);
  void Send(const std::string& worker);

  World& world_;
  Network& network_;
  Storage& storage_;
  Oracle& oracle_;
  SimSchedulerOptions options_;
  SetDesired set_desired_;
  Dice dice_;
  Dice store_dice_;
  Dice boot_dice_;
  std::optional<MachineClock> clock_;

  // Outlives the process.
  const std::shared_ptr<scheduler::store::testing::Memory> memory_;
  absl::Duration slow_until_;
  absl::Duration full_until_;
  absl::Duration broken_until_;

  // Of one life.
  Life life_;
  int64_t num_lives_ = 0;
  int64_t num_boots_ = 1;
  std::unique_ptr<scheduler::store::testing::MemoryStore> store_;
  std::optional<scheduler::core::State> state_;
  std::vector<scheduler::core::Effects> queue_;
  scheduler::server::RecordsInFlight in_flight_;
  // What is being committed and released.
  std::vector<scheduler::core::Effects> group_;
  bool committing_ = false;
  bool in_transaction_ = false;
  // A commit has found no room.
  bool full_ = false;
  uint64_t next_call_ = 1;
  // Those of smaller numbers were refused, if they were not answered.
  uint64_t refused_before_ = 0;
  std::map<uint64_t, JobsReply> calls_;
  std::map<uint64_t, QueueReply> queue_calls_;
  std::map<uint64_t, WorkerReply> worker_calls_;
  std::map<uint64_t, AliasReply> alias_calls_;
  std::map<uint64_t, CheckpointReply> checkpoint_calls_;
  std::map<std::string, Peer> peers_;
  std::optional<absl::Duration> tick_at_;
  absl::Duration stalled_until_;
  int64_t num_applies_ = 0;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_SIM_SCHEDULER_H_

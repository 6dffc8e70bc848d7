#ifndef ORDO_TESTS_SIM_SIM_WORKER_H_
#define ORDO_TESTS_SIM_SIM_WORKER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "tests/sim/machine.h"
#include "tests/sim/network.h"
#include "tests/sim/requests.h"
#include "tests/sim/world.h"
#include "worker/agent/announce_schedule.h"
#include "worker/agent/core.h"

// The worker process of one machine: its real core and announce schedule, and a
// model of the shell around them (worker/agent/agent.cc, reporter.cc).

namespace ordo::tests::sim {

struct SimWorkerOptions {
  // Also the machine's and the address.
  std::string id;
  Offer offer;
  // That its first device lacks kKernel, until trouble ends.
  double lacking_kernel = 0;
};

class SimWorker {
 public:
  using Announce = std::function<void(const agent::v1::AnnounceRequest&,
                                      Reply<agent::v1::AnnounceResponse>)>;

  // All outlive the worker. `announce` is the scheduler's end of the call.
  SimWorker(World& world, Network& network, Machine& machine,
            SimWorkerOptions options);

  void set_announce(Announce announce) { announce_ = std::move(announce); }

  const std::string& id() const { return options_.id; }
  Machine& machine() { return machine_; }
  bool runs() const { return life_.runs(); }

  // A new incarnation, which takes over the machine's tasks.
  void Start();
  // kill -9.
  void Kill();
  // Leaves in order, then starts anew.
  void Drain();
  // Does nothing for so long.
  void Stall(absl::Duration duration);

  // The worker's end of the call.
  void SetDesired(const agent::v1::SetDesiredRequest& request,
                  const Reply<agent::v1::SetDesiredResponse>& reply);

  // Nothing runs and nothing is kept of what ran.
  bool IsClean() const;

 private:
  // What is known of a task's files.
  struct Entry {
    size_t num_read = 0;
    bool over = false;
    bool lost = false;
  };

  // Runs `then` when the process is not stalled.
  void Enter(std::function<void()> then);
  void Wake();
  void Turn();
  void RunActions();
  void RunAction(const worker::agent::Action& action);
  void StartTask(const worker::agent::Action& action);
  void Update(const AttemptKey& key, Entry& entry);
  void CheckSupervisor(const AttemptKey& key, Entry& entry);
  void Add(const worker::agent::Actions& actions);
  void Report();
  void SendAnnouncement();
  absl::Duration TimeLeft() const;
  void PlanNextTurn();

  World& world_;
  Network& network_;
  Machine& machine_;
  const SimWorkerOptions options_;
  Announce announce_;
  Dice dice_;

  // Of this incarnation.
  Life life_;
  int num_starts_ = 0;
  std::string incarnation_;
  std::optional<worker::agent::Core> core_;
  std::optional<worker::agent::AnnounceSchedule> schedule_;
  std::map<AttemptKey, Entry> entries_;
  std::vector<worker::agent::Action> actions_;
  int64_t reported_sequence_ = 0;
  bool drain_announced_ = false;
  bool lacks_kernel_ = false;
  std::pair<int64_t, int64_t> newest_set_;
  bool turn_planned_ = false;
  int64_t num_turns_ = 0;
  absl::Duration stalled_until_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_SIM_WORKER_H_

#ifndef ORDO_TESTS_SIM_OPERATOR_H_
#define ORDO_TESTS_SIM_OPERATOR_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/core/event.h"
#include "scheduler/policy/facts.h"
#include "tests/sim/network.h"
#include "tests/sim/sim_scheduler.h"
#include "tests/sim/world.h"

// Who runs the cluster: cordons and drains workers, or has all of them drained
// much later, and opens them again;
// releases devices; changes what queues may have, deletes them and makes them
// anew.

namespace ordo::tests::sim {

struct OperatorOptions {
  double closes_per_minute = 0;
  double queue_changes_per_minute = 0;
  double releases_per_minute = 0;
  double queue_makes_per_minute = 0;
  // Called worker-0 and so on, and the devices of all.
  int num_workers = 0;
  // All are asked early to be drained so much later; zero: not.
  absl::Duration drained_after;
  int num_devices = 0;
  // As they are at first, and in the end.
  std::vector<scheduler::policy::Queue> queues;
};

class Operator {
 public:
  // All outlive the operator.
  Operator(World& world, Network& network, SimScheduler& scheduler)
      : world_(world),
        network_(network),
        scheduler_(scheduler),
        dice_(world.MakeDice("operator")),
        queue_dice_(world.MakeDice("operator/queues")),
        device_dice_(world.MakeDice("operator/devices")),
        make_dice_(world.MakeDice("operator/queues_made")) {}

  void Begin(OperatorOptions options);

  // Closes and changes nothing more, opens all workers, releases all devices,
  // makes all queues and gives them what they had.
  void Settle();
  // Nothing is under way.
  bool IsIdle() const { return num_under_way_ == 0; }

 private:
  // `act` so often, until all settles.
  void Repeat(double per_minute, Dice& dice, std::function<void()> act);
  void ChangeWorker();
  void DrainAll();
  void ChangeQueue();
  void ReleaseAny();
  void Release(int worker, int device);
  // Deletes a queue, or makes it.
  void MakeQueue();
  void Open(const std::string& worker);
  // As it was at first, whether it is there or not.
  void Restore(const scheduler::policy::Queue& queue);
  void OpenAll();
  void Ask(const scheduler::core::ChangeWorker& change);
  void Ask(scheduler::core::ChangeQueue::Verb verb,
           const scheduler::policy::Queue& queue);
  // Calls the scheduler; `again` when all settles and the answer was lost. An
  // answer of these codes, or that there is no such thing, is no mistake.
  template <typename T>
  void Call(const std::string& what, std::function<void(Reply<T>)> serve,
            std::function<void()> again,
            const std::set<absl::StatusCode>& refusals);
  void After(absl::Duration delay, std::function<void()> then);

  World& world_;
  Network& network_;
  SimScheduler& scheduler_;
  Dice dice_;
  Dice queue_dice_;
  Dice device_dice_;
  Dice make_dice_;
  OperatorOptions options_;
  int num_under_way_ = 0;
  bool settled_ = false;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_OPERATOR_H_

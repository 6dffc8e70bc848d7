#ifndef ORDO_TESTS_SIM_OPERATOR_H_
#define ORDO_TESTS_SIM_OPERATOR_H_

#include <functional>
#include <string>

#include "scheduler/core/event.h"
#include "tests/sim/network.h"
#include "tests/sim/sim_scheduler.h"
#include "tests/sim/world.h"

// Who runs the cluster: cordons and drains workers, and opens them again.

namespace ordo::tests::sim {

class Operator {
 public:
  // All outlive the operator.
  Operator(World& world, Network& network, SimScheduler& scheduler)
      : world_(world),
        network_(network),
        scheduler_(scheduler),
        dice_(world.MakeDice("operator")) {}

  // Workers are called worker-0 and so on.
  void Begin(double changes_per_minute, int num_workers);

  // Closes nothing more, and opens all workers.
  void Settle();
  // Nothing is under way.
  bool IsIdle() const { return num_under_way_ == 0; }

 private:
  void PlanNext();
  void ChangeOne();
  void Open(const std::string& worker);
  void OpenAll();
  void Ask(const scheduler::core::ChangeWorker& change);
  void After(absl::Duration delay, std::function<void()> then);

  World& world_;
  Network& network_;
  SimScheduler& scheduler_;
  Dice dice_;
  double changes_per_minute_ = 0;
  int num_workers_ = 0;
  int num_under_way_ = 0;
  bool settled_ = false;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_OPERATOR_H_

#ifndef ORDO_TESTS_SIM_LIBRARIAN_H_
#define ORDO_TESTS_SIM_LIBRARIAN_H_

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "scheduler/core/event.h"
#include "tests/sim/network.h"
#include "tests/sim/sim_scheduler.h"
#include "tests/sim/world.h"

// Who names checkpoints: has aliases name them, and move from one to another;
// pins them, thins and deletes them, whether or not something holds them.

namespace ordo::tests::sim {

class Librarian {
 public:
  // All outlive it.
  Librarian(World& world, Network& network, SimScheduler& scheduler)
      : world_(world),
        network_(network),
        scheduler_(scheduler),
        dice_(world.MakeDice("librarian")) {}

  void Begin(double names_per_minute);

  // Names nothing more, and takes back all that is named.
  void Settle();
  // Nothing is under way.
  bool IsIdle() const { return num_under_way_ == 0; }

 private:
  void Repeat();
  void Act();
  void SetAlias(const std::string& alias,
                const scheduler::core::CheckpointPtr& checkpoint);
  void DeleteAlias(const std::string& alias);
  void Change(scheduler::CheckpointVerb verb, const std::string& checkpoint);
  // Until nothing is named.
  void Clear();
  // Calls the scheduler. That there is no such thing, that something holds it,
  // or that it was changed meanwhile, is no mistake.
  template <typename T>
  void Call(const std::string& what, std::function<void(Reply<T>)> serve);
  void After(absl::Duration delay, std::function<void()> then);

  World& world_;
  Network& network_;
  SimScheduler& scheduler_;
  Dice dice_;
  double per_minute_ = 0;
  int num_under_way_ = 0;
  bool settled_ = false;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_LIBRARIAN_H_

#ifndef ORDO_TESTS_SIM_FAULTS_H_
#define ORDO_TESTS_SIM_FAULTS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/network.h"
#include "tests/sim/scenario.pb.h"
#include "tests/sim/sim_scheduler.h"
#include "tests/sim/sim_worker.h"
#include "tests/sim/world.h"

// What goes wrong, and when: each kind of fault at its own rate, with draws of
// its own.

namespace ordo::tests::sim {

struct FaultTargets {
  Network* network = nullptr;
  SimScheduler* scheduler = nullptr;
  std::vector<SimWorker*> workers;
};

class Trouble {
 public:
  // What the targets point to outlives it.
  Trouble(World& world, Faults faults, FaultTargets targets);

  // Until the world ends its trouble.
  void Begin();

 private:
  using Strike = std::function<void(Dice&)>;

  void BeginProcesses();
  void BeginMachines();
  void BeginStore();
  // `strike` again and again, so often in the mean.
  void Plan(const std::string& name, double per_minute, Strike strike);
  void PlanNext(std::shared_ptr<Dice> dice, double per_minute, Strike strike);
  SimWorker& Any(Dice& dice);
  void KillWorker(SimWorker& worker, Dice& dice);
  void CutLink(Dice& dice);
  void Stall(Dice& dice);
  void JumpClock(Dice& dice);

  World& world_;
  const Faults faults_;
  const FaultTargets targets_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_FAULTS_H_

#include "tests/sim/faults.h"

#include <memory>
#include <utility>

#include "absl/time/time.h"

namespace ordo::tests::sim {

Trouble::Trouble(World& world, Faults faults, FaultTargets targets)
    : world_(world), faults_(std::move(faults)), targets_(std::move(targets)) {}

void Trouble::Begin() {
  BeginProcesses();
  BeginMachines();
  BeginStore();
}

void Trouble::BeginProcesses() {
  const ProcessFaults& rates = faults_.processes();
  Plan("worker kills", rates.worker_kills_per_minute(),
       [this](Dice& dice) { KillWorker(Any(dice), dice); });
  Plan("supervisor kills", rates.supervisor_kills_per_minute(),
       [this](Dice& dice) { Any(dice).machine().KillSupervisor(dice); });
  Plan("trainer kills", rates.trainer_kills_per_minute(),
       [this](Dice& dice) { Any(dice).machine().KillTrainer(dice); });
  Plan("drains", rates.drains_per_minute(),
       [this](Dice& dice) { Any(dice).Drain(); });
  Plan("scheduler kills", rates.scheduler_kills_per_minute(),
       [this](Dice&) { targets_.scheduler->Kill(); });
  Plan("stalls", rates.stalls_per_minute(),
       [this](Dice& dice) { Stall(dice); });
}

void Trouble::BeginMachines() {
  const ProcessFaults& rates = faults_.processes();
  Plan("reboots", rates.reboots_per_minute(), [this](Dice& dice) {
    SimWorker& worker = Any(dice);
    if (!worker.runs()) return;
    world_.Note("power is lost on " + worker.id());
    KillWorker(worker, dice);
    worker.machine().LosePower();
  });
  Plan("scheduler reboots", rates.scheduler_reboots_per_minute(),
       [this](Dice&) { targets_.scheduler->LosePower(); });
  Plan("device faults", rates.device_faults_per_minute(),
       [this](Dice& dice) { Any(dice).machine().FailDevice(dice); });
  Plan("clock jumps", rates.clock_jumps_per_minute(),
       [this](Dice& dice) { JumpClock(dice); });
  Plan("cuts", faults_.network().cuts_per_minute(),
       [this](Dice& dice) { CutLink(dice); });
}

void Trouble::BeginStore() {
  const StoreFaults& rates = faults_.store();
  Plan("slow store", rates.slow_per_minute(), [this](Dice& dice) {
    targets_.scheduler->SlowStore(
        dice.Between(absl::Seconds(1), absl::Seconds(20)));
  });
  Plan("full store", rates.full_per_minute(), [this](Dice& dice) {
    targets_.scheduler->FillStore(
        dice.Between(absl::Seconds(1), absl::Seconds(20)));
  });
  Plan("broken store", rates.failures_per_minute(), [this](Dice& dice) {
    targets_.scheduler->BreakStore(
        dice.Between(absl::Milliseconds(100), absl::Seconds(10)));
  });
}

void Trouble::Plan(const std::string& name, double per_minute, Strike strike) {
  if (per_minute <= 0) return;
  PlanNext(std::make_shared<Dice>(world_.MakeDice(name)), per_minute,
           std::move(strike));
}

void Trouble::PlanNext(std::shared_ptr<Dice> dice, double per_minute,
                       Strike strike) {
  const absl::Duration delay =
      dice->Between(absl::ZeroDuration(), absl::Minutes(2) / per_minute);
  world_.After(delay, "", [this, dice, per_minute, strike] {
    if (!world_.troubled()) return;
    strike(*dice);
    PlanNext(dice, per_minute, strike);
  });
}

SimWorker& Trouble::Any(Dice& dice) {
  return *targets_.workers[dice.Int(targets_.workers.size())];
}

void Trouble::KillWorker(SimWorker& worker, Dice& dice) {
  if (!worker.runs()) return;
  worker.Kill();
  world_.After(
      dice.Between(absl::Milliseconds(10),
                   absl::Milliseconds(faults_.processes().max_away_ms())),
      "", [&worker] {
        if (!worker.runs()) worker.Start();
      });
}

void Trouble::CutLink(Dice& dice) {
  const std::string worker = Any(dice).id();
  const uint64_t kind = dice.Int(3);
  const absl::Duration duration =
      dice.Between(absl::Milliseconds(10),
                   absl::Milliseconds(faults_.network().max_cut_ms()));
  const auto cut = [&](const std::string& from, const std::string& to) {
    world_.Note("cut " + from + " from " + to);
    targets_.network->Cut(from, to);
    world_.After(duration, "mend " + from + " to " + to,
                 [this, from, to] { targets_.network->Mend(from, to); });
  };
  if (kind != 0) cut(worker, "scheduler");
  if (kind != 1) cut("scheduler", worker);
}

void Trouble::Stall(Dice& dice) {
  const absl::Duration duration =
      dice.Between(absl::Milliseconds(100),
                   absl::Milliseconds(faults_.processes().max_stall_ms()));
  const uint64_t who = dice.Int(targets_.workers.size() + 1);
  if (who < targets_.workers.size()) {
    world_.Note("stall " + targets_.workers[who]->id());
    targets_.workers[who]->Stall(duration);
  } else {
    world_.Note("stall scheduler");
    targets_.scheduler->Stall(duration);
  }
}

void Trouble::JumpClock(Dice& dice) {
  const absl::Duration by = dice.Between(-absl::Hours(24), absl::Hours(24));
  const uint64_t who = dice.Int(targets_.workers.size() + 1);
  MachineClock& clock = who < targets_.workers.size()
                            ? targets_.workers[who]->machine().clock()
                            : targets_.scheduler->clock();
  world_.Note("a clock jumps");
  clock.Jump(by);
}

}  // namespace ordo::tests::sim

#ifndef ORDO_TESTS_SIM_MACHINE_H_
#define ORDO_TESTS_SIM_MACHINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "tests/sim/oracle.h"
#include "tests/sim/scenario.pb.h"
#include "tests/sim/world.h"
#include "worker/agent/core.h"
#include "worker/agent/facts.h"

// A machine with its devices, and what runs on it beside the worker process:
// for each task a supervisor and a trainer, which outlive that process. What
// they write, journal and progress records, lies on the machine's disk;
// checkpoints on the shared storage.

namespace ordo::tests::sim {

// The kernel that jobs may name and devices may lack, as a recipe says it.
inline constexpr char kKernel[] = "x";

// The evaluation that trainers make on the way, and its score.
inline constexpr char kScored[] = "addition";
inline constexpr char kScore[] = "score";

// The ranks of an attempt, which train in step: rank 0 does the work, when all
// are there.
struct Gang {
  std::set<int32_t> arrived;
  // By rank: told what becomes of the others.
  std::map<int32_t, std::function<void()>> tell;
  // One of them has done all of the work, was told to stop, or is gone.
  bool finished = false;
  bool stopping = false;
  bool broken = false;

  bool HasMet(int num_ranks) const {
    return static_cast<int>(arrived.size()) == num_ranks;
  }
  void TellAll() const {
    for (const auto& [rank, then] : tell) then();
  }
};

// The storage that all machines share: folders of checkpoints by resource name,
// with the optimizer's state or without, and where the ranks of an attempt
// meet.
class Storage {
 public:
  Gang& GangOf(const AttemptKey& key) { return gangs_[{key.job, key.attempt}]; }
  void Write(const std::string& checkpoint) { folders_.insert(checkpoint); }
  void Remove(const std::string& checkpoint) {
    folders_.erase(checkpoint);
    thin_.erase(checkpoint);
  }
  void Thin(const std::string& checkpoint) { thin_.insert(checkpoint); }
  bool Has(const std::string& checkpoint) const {
    return folders_.count(checkpoint) > 0;
  }
  bool IsWhole(const std::string& checkpoint) const {
    return Has(checkpoint) && thin_.count(checkpoint) == 0;
  }

 private:
  std::set<std::string> folders_;
  std::set<std::string> thin_;
  std::map<std::pair<std::string, int32_t>, Gang> gangs_;
};

// The folder of a task on a machine's disk.
struct Task {
  agent::v1::DesiredAttempt desired;
  // The journal and the progress records.
  worker::agent::SupervisorFacts facts;
  std::vector<training::v1::ProgressRecord> records;

  // The processes.
  Life supervisor;
  Life trainer;
  bool stubborn = false;
  // It has said how it begins.
  bool began = false;
  int64_t step = 0;
};

struct MachineOptions {
  std::string id;
  // Until trouble ends.
  TrainerFaults faults;
  int max_step_ms = 100;
  double clock_drift = 0;
  // Called cpu:0 and so on; the first may fail all that runs on it.
  int num_devices = 1;
  bool bad_device = false;
};

class Machine {
 public:
  // All outlive the machine. `is_live` says whether the scheduler runs this
  // attempt: only then must what it needs be there.
  Machine(World& world, Storage& storage, Oracle& oracle,
          MachineOptions options);

  void set_is_live(std::function<bool(const AttemptKey&)> is_live) {
    is_live_ = std::move(is_live);
  }
  // Called after each change of a task's files.
  void set_changed(std::function<void(const AttemptKey&)> changed) {
    changed_ = std::move(changed);
  }

  const std::string& id() const { return options_.id; }
  MachineClock& clock() { return clock_; }
  const std::map<AttemptKey, std::unique_ptr<Task>>& tasks() const {
    return tasks_;
  }
  Task* Find(const AttemptKey& key);

  // What the driver has said of the devices, by name, since somebody listens.
  using DriverFaults =
      std::map<std::string, std::vector<workers::v1::DeviceFault>>;
  const DriverFaults& driver_faults() const { return driver_faults_; }
  void ListenToDriver() { driver_faults_.clear(); }

  // What a worker process does. Start fails as its agent's Task::Start does;
  // `cause` then says what of.
  absl::Status Start(const agent::v1::DesiredAttempt& desired,
                     agent::v1::ObservedAttempt::Cause* cause);
  void Signal(const AttemptKey& key, bool stop, absl::Duration grace);
  // Of a task whose supervisor is dead.
  void EndLeftovers(const AttemptKey& key);
  void Remove(const AttemptKey& key);

  // Faults. The kills choose one of those that run; nothing if none does.
  void KillSupervisor(Dice& dice);
  void KillTrainer(Dice& dice);
  // The driver tells of an error of a device.
  void FailDevice(Dice& dice);
  // Everything that runs is gone, and its clock begins anew.
  void LosePower();

 private:
  // How an attempt will go.
  struct Plan;

  bool Chance(Dice& dice, double probability) const {
    return world_.troubled() && dice.Chance(probability);
  }
  void StartTrainer(const AttemptKey& key);
  // What it trains on, if that takes so long that it says so.
  void ReadData(const AttemptKey& key, const std::shared_ptr<Plan>& plan);
  void BeginWork(const AttemptKey& key, const std::shared_ptr<Plan>& plan);
  bool FindStart(const AttemptKey& key, Task& task, Plan& plan);
  // Of an attempt with several ranks.
  void JoinGang(const AttemptKey& key, const std::shared_ptr<Plan>& plan);
  void TakeGang(const AttemptKey& key, const std::shared_ptr<Plan>& plan);
  void LeaveStopped(const AttemptKey& key, bool with_checkpoint);
  // What it says last.
  void WriteFinished(const AttemptKey& key, training::v1::ExitCode code);
  void NextPiece(const AttemptKey& key, const std::shared_ptr<Plan>& plan);
  void EndPiece(const AttemptKey& key, const std::shared_ptr<Plan>& plan);
  void Conclude(const AttemptKey& key, const std::shared_ptr<Plan>& plan);
  // Of an evaluation on the way, if one is due.
  void WriteScore(const AttemptKey& key, const Task& task);
  void Answer(const AttemptKey& key);
  void WriteCheckpoint(const AttemptKey& key, Task& task, bool fails);
  void Write(const AttemptKey& key, training::v1::ProgressRecord record);
  // The trainer leaves.
  void Leave(const AttemptKey& key, int exit_code, int signal, TrueEnd end);
  void Changed(const AttemptKey& key);

  World& world_;
  Storage& storage_;
  Oracle& oracle_;
  const MachineOptions options_;
  MachineClock clock_;
  Dice starts_;
  Dice boots_;
  std::function<bool(const AttemptKey&)> is_live_;
  std::function<void(const AttemptKey&)> changed_;
  std::map<AttemptKey, std::unique_ptr<Task>> tasks_;
  DriverFaults driver_faults_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_MACHINE_H_

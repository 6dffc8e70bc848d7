#include "tests/sim/machine.h"

#include <algorithm>
#include <limits>
#include <map>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "base/units/proto_time.h"
#include "model/catalog/result_key.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "scheduler/core/effect.h"

namespace ordo::tests::sim {
namespace {

using agent::v1::DesiredAttempt;
using agent::v1::ObservedAttempt;
using training::v1::ExitCode;
using training::v1::ProgressRecord;

constexpr absl::Duration kForkTime = absl::Milliseconds(2);
// A trainer reports so often before it ends, and at least so often in steps.
constexpr int64_t kPieces = 6;
constexpr int64_t kMaxPiece = 20;
// One with more steps than this takes its time for each: it is meant to be
// cancelled, and should fill no store until then.
constexpr int64_t kManySteps = 1'000'000;

int NumRanks(const DesiredAttempt& desired) {
  return std::max(1, desired.train().resources().ranks());
}

int64_t TotalSteps(const DesiredAttempt& desired) {
  return desired.has_train() ? desired.train().training().steps() : kPieces;
}

// Steps between evaluations; 0: there are none on the way.
int64_t EveryOf(const DesiredAttempt& desired) {
  const auto& evaluations = desired.train().evaluations();
  return evaluations.empty() ? 0 : evaluations[0].every_steps();
}

// Of what a run of a job has computed so far.
std::string DigestOf(const AttemptKey& key, int64_t step) {
  return absl::StrCat("state of ", key.job, " at ", step);
}

// An evaluation of a checkpoint, of a task that outlives it.
struct Asked {
  const training::v1::CheckpointSource* source;
  const training::v1::Evaluation* evaluation;
  // Id of its report.
  std::string report;
};

// What a task has to report that evaluates, or decides a gate.
std::vector<Asked> AskedIn(const DesiredAttempt& desired) {
  std::vector<Asked> asked;
  for (const auto& subject : desired.gate().subjects()) {
    for (const auto& evaluation : desired.gate().evaluations()) {
      const std::string id =
          absl::StrCat(evaluation.name(), "-", subject.role());
      if (desired.gate().finished_reports().count(id) > 0) continue;
      asked.push_back({&subject.checkpoint(), &evaluation, id});
    }
  }
  const auto& finished = desired.evaluate().finished_reports();
  for (const auto& source : desired.evaluate().checkpoints()) {
    for (const auto& evaluation : desired.evaluate().evaluations()) {
      const std::string id =
          absl::StrCat(evaluation.name(), "-", source.step());
      if (std::count(finished.begin(), finished.end(), id) > 0) continue;
      asked.push_back({&source, &evaluation, id});
    }
  }
  return asked;
}

}  // namespace

struct Machine::Plan {
  enum class Fate { kFinish, kCrash, kError, kDeviceError, kRefuse, kHang };

  explicit Plan(Dice draws) : dice(std::move(draws)) {}

  Dice dice;
  Fate fate = Fate::kFinish;
  // Where its fate meets it, of the steps that are left.
  int64_t last_step = 0;
  int64_t piece_end = 0;
  absl::Duration step_time;
};

Machine::Machine(World& world, Storage& storage, Oracle& oracle,
                 MachineOptions options)
    : world_(world),
      storage_(storage),
      oracle_(oracle),
      options_(std::move(options)),
      clock_(world, world.MakeDice(options_.id + "/clock"),
             options_.clock_drift),
      starts_(world.MakeDice(options_.id + "/starts")),
      boots_(world.MakeDice(options_.id + "/boots")) {}

Task* Machine::Find(const AttemptKey& key) {
  const auto found = tasks_.find(key);
  return found == tasks_.end() ? nullptr : found->second.get();
}

void Machine::Changed(const AttemptKey& key) {
  if (changed_) changed_(key);
}

absl::Status Machine::Start(const DesiredAttempt& desired,
                            ObservedAttempt::Cause* cause) {
  const AttemptKey key{desired.job(), desired.attempt(), desired.rank()};
  oracle_.TrainerStarted(key, options_.id);
  if (Chance(starts_, options_.faults.start_failure())) {
    const bool own = starts_.Chance(0.5);
    *cause = own ? ObservedAttempt::START_FAILED : ObservedAttempt::HOST_FAILED;
    oracle_.TrainerEnded(key, own ? TrueEnd::kOwnFault : TrueEnd::kInnocent);
    return absl::InternalError("cannot be started");
  }
  for (const auto& [other, task] : tasks_) {
    if (!task->trainer.runs() && !task->supervisor.runs()) continue;
    for (const std::string& device : task->desired.devices()) {
      if (std::count(desired.devices().begin(), desired.devices().end(),
                     device) > 0 &&
          !task->facts.group_empty) {
        world_.Fail(absl::StrCat(key.ToString(), " starts on ", device, " of ",
                                 options_.id, ", where ", other.ToString(),
                                 " runs"));
      }
    }
  }
  auto task = std::make_unique<Task>();
  task->desired = desired;
  task->supervisor.Begin();
  task->facts.supervisor_pid = 1;
  world_.After(kForkTime, "", task->supervisor,
               [this, key] { StartTrainer(key); });
  tasks_[key] = std::move(task);
  return absl::OkStatus();
}

void Machine::StartTrainer(const AttemptKey& key) {
  Task& task = *tasks_.at(key);
  if (task.facts.stop_requested || task.facts.kill_requested) return;
  task.facts.trainer_start_ns = absl::ToUnixNanos(clock_.Now().wall);
  task.trainer.Begin();
  auto plan =
      std::make_shared<Plan>(world_.MakeDice("trainer/" + key.ToString()));
  const TrainerFaults& faults = options_.faults;
  // It computes on its first device.
  if (world_.troubled() && options_.bad_device &&
      task.desired.devices(0) == "cpu:0") {
    plan->fate = Plan::Fate::kDeviceError;
  } else if (Chance(plan->dice, faults.crash())) {
    plan->fate = Plan::Fate::kCrash;
  } else if (Chance(plan->dice, faults.error())) {
    plan->fate = Plan::Fate::kError;
  } else if (Chance(plan->dice, faults.refuse())) {
    plan->fate = Plan::Fate::kRefuse;
  } else if (Chance(plan->dice, faults.hang())) {
    plan->fate = Plan::Fate::kHang;
  }
  task.stubborn = Chance(plan->dice, faults.stubborn());
  plan->step_time = plan->dice.Between(
      absl::Milliseconds(1), absl::Milliseconds(options_.max_step_ms));
  if (TotalSteps(task.desired) > kManySteps) plan->step_time = absl::Seconds(1);
  world_.After(
      plan->dice.Between(absl::Milliseconds(5), absl::Milliseconds(500)),
      "trainer of " + key.ToString() + " is up", task.trainer,
      [this, key, plan] { ReadData(key, plan); });
  Changed(key);
}

void Machine::ReadData(const AttemptKey& key,
                       const std::shared_ptr<Plan>& plan) {
  const Task& task = *tasks_.at(key);
  Dice dice = world_.MakeDice("data/" + key.ToString());
  // A storage that fails to take checkpoints is slow to read from.
  if (!task.desired.has_train() ||
      !Chance(dice, options_.faults.checkpoint_failure())) {
    return BeginWork(key, plan);
  }
  ProgressRecord record;
  record.mutable_waiting()->set_step(0);
  Write(key, record);
  world_.After(dice.Between(absl::Milliseconds(1), absl::Seconds(2)),
               key.ToString() + " has read its data", task.trainer,
               [this, key, plan] { BeginWork(key, plan); });
}

// Where the attempt goes on from; false when what it needs is gone.
bool Machine::FindStart(const AttemptKey& key, Task& task, Plan& plan) {
  // With whether a run goes on from it.
  std::vector<std::pair<std::string, bool>> needed;
  training::v1::TrainerStarted started;
  if (task.desired.has_train()) {
    const training::v1::TrainSpec& spec = task.desired.train();
    if (spec.has_start()) needed.emplace_back(spec.start().name(), true);
    if (!spec.resume().empty()) {
      needed.emplace_back(spec.resume(0).name(), true);
      started.set_start_step(spec.resume(0).step());
      started.set_resumed_from(spec.resume(0).name());
    }
  }
  for (const auto& source : task.desired.evaluate().checkpoints()) {
    needed.emplace_back(source.name(), false);
  }
  for (const auto& subject : task.desired.gate().subjects()) {
    needed.emplace_back(subject.checkpoint().name(), false);
  }
  for (const auto& [name, whole] : needed) {
    if (whole ? storage_.IsWhole(name) : storage_.Has(name)) continue;
    if (is_live_(key)) {
      world_.Fail(absl::StrCat("attempt ", key.ToString(),
                               " is live and needs ", name, ", which was ",
                               storage_.Has(name) ? "thinned" : "removed"));
    }
    return false;
  }
  task.step = started.start_step();
  if (task.desired.has_train()) {
    started.set_state_digest(DigestOf(key, task.step));
    started.mutable_control()->set_initial_digest(DigestOf(key, 0));
  }
  const int64_t left =
      std::max<int64_t>(0, TotalSteps(task.desired) - started.start_step());
  plan.last_step = TotalSteps(task.desired);
  if (plan.fate != Plan::Fate::kFinish) {
    // Not later than a short run would end.
    const int64_t most = std::min(left, kPieces * kMaxPiece);
    plan.last_step = task.step + static_cast<int64_t>(plan.dice.Int(most + 1));
  }
  ProgressRecord record;
  *record.mutable_started() = started;
  const bool late = !task.records.empty();
  Write(key, record);
  task.began = true;
  oracle_.TrainerBegan(key, started, late);
  return true;
}

void Machine::BeginWork(const AttemptKey& key,
                        const std::shared_ptr<Plan>& plan) {
  Task& task = *tasks_.at(key);
  if (!FindStart(key, task, *plan)) {
    Leave(key, ExitCode::CHECKPOINT_DAMAGED, 0, TrueEnd::kInnocent);
    return;
  }
  if (NumRanks(task.desired) == 1) {
    NextPiece(key, plan);
  } else {
    JoinGang(key, plan);
  }
}

void Machine::JoinGang(const AttemptKey& key,
                       const std::shared_ptr<Plan>& plan) {
  Task& task = *tasks_.at(key);
  Gang& gang = storage_.GangOf(key);
  gang.arrived.insert(key.rank);
  const Life& life = task.trainer;
  gang.tell[key.rank] = [this, key, plan, watch = life.watch()] {
    const Task* joined = Find(key);
    if (watch.expired() || joined == nullptr) return;
    world_.After(plan->dice.Between(absl::Milliseconds(1), absl::Seconds(3)),
                 key.ToString() + " hears of the others", joined->trainer,
                 [this, key, plan] { TakeGang(key, plan); });
  };
  if (gang.finished || gang.stopping || gang.broken) {
    return gang.tell[key.rank]();
  }
  if (gang.HasMet(NumRanks(task.desired))) gang.TellAll();
}

void Machine::TakeGang(const AttemptKey& key,
                       const std::shared_ptr<Plan>& plan) {
  const Gang& gang = storage_.GangOf(key);
  if (gang.finished) {
    WriteFinished(key, ExitCode::FINISHED);
    Leave(key, ExitCode::FINISHED, 0, TrueEnd::kFinished);
  } else if (gang.broken) {
    Leave(key, ExitCode::PEER_LOST, 0, TrueEnd::kInnocent);
  } else if (gang.stopping) {
    LeaveStopped(key, key.rank == 0);
  } else if (key.rank == 0) {
    NextPiece(key, plan);
  } else if (plan->fate != Plan::Fate::kFinish) {
    // Rank 0 does the steps: its fate meets this one some time.
    world_.After(plan->dice.Between(absl::ZeroDuration(), absl::Seconds(2)),
                 key.ToString() + " meets its fate", tasks_.at(key)->trainer,
                 [this, key, plan] { Conclude(key, plan); });
  }
}

void Machine::LeaveStopped(const AttemptKey& key, bool with_checkpoint) {
  Task& task = *tasks_.at(key);
  const int num_ranks = NumRanks(task.desired);
  const bool met = num_ranks == 1 || storage_.GangOf(key).HasMet(num_ranks);
  // Before that it has done nothing that is to be kept.
  if (with_checkpoint && task.began && met) {
    WriteCheckpoint(key, task, /*fails=*/false);
  }
  WriteFinished(key, ExitCode::STOPPED);
  Leave(key, ExitCode::STOPPED, 0, TrueEnd::kInnocent);
}

void Machine::WriteFinished(const AttemptKey& key, ExitCode code) {
  const Task& task = *tasks_.at(key);
  ProgressRecord record;
  training::v1::TrainerFinished& finished = *record.mutable_finished();
  finished.set_code(code);
  finished.set_step(task.step);
  if (task.desired.has_train() && task.began) {
    finished.set_state_digest(DigestOf(key, task.step));
  }
  Write(key, record);
}

// Works until it reports next: up to a checkpoint or to its end.
void Machine::NextPiece(const AttemptKey& key,
                        const std::shared_ptr<Plan>& plan) {
  Task& task = *tasks_.at(key);
  const int64_t length =
      std::clamp<int64_t>(TotalSteps(task.desired) / kPieces, 1, kMaxPiece);
  plan->piece_end = std::min(plan->last_step, task.step + length);
  if (const int64_t every = EveryOf(task.desired); every > 0) {
    plan->piece_end =
        std::min(plan->piece_end, (task.step / every + 1) * every);
  }
  world_.After((plan->piece_end - task.step) * plan->step_time,
               key.ToString() + " works", task.trainer,
               [this, key, plan] { EndPiece(key, plan); });
}

void Machine::EndPiece(const AttemptKey& key,
                       const std::shared_ptr<Plan>& plan) {
  Task& task = *tasks_.at(key);
  if (plan->piece_end > task.step || task.step == 0) {
    task.step = plan->piece_end;
    ProgressRecord record;
    if (task.desired.has_train()) {
      record.mutable_step()->set_step(task.step);
      record.mutable_step()->set_total_steps(TotalSteps(task.desired));
    } else {
      record.mutable_evaluation()->set_name("addition");
      record.mutable_evaluation()->set_done(task.step);
      record.mutable_evaluation()->set_total(TotalSteps(task.desired));
    }
    Write(key, record);
    WriteScore(key, task);
    if (task.desired.has_train() && plan->dice.Chance(0.5)) {
      WriteCheckpoint(key, task,
                      Chance(plan->dice, options_.faults.checkpoint_failure()));
    }
  }
  if (task.step < plan->last_step) {
    NextPiece(key, plan);
  } else {
    Conclude(key, plan);
  }
}

void Machine::Conclude(const AttemptKey& key,
                       const std::shared_ptr<Plan>& plan) {
  Task& task = *tasks_.at(key);
  switch (plan->fate) {
    case Plan::Fate::kFinish: {
      if (task.desired.has_train()) {
        WriteCheckpoint(key, task, /*fails=*/false);
      } else if (task.desired.evaluate().evaluations_size() > 0 ||
                 task.desired.gate().evaluations_size() > 0) {
        Answer(key);
      } else {
        ProgressRecord report;
        const std::string id = absl::StrCat("addition-", task.step);
        report.mutable_report()->set_id(id);
        report.mutable_report()->set_folder(
            absl::StrCat("results/", id, "-", key.attempt));
        Write(key, report);
      }
      const auto& parts = task.desired.summarize().parts();
      const bool all_succeeded =
          std::all_of(parts.begin(), parts.end(), [](const auto& part) {
            return part.state() == "SUCCEEDED" ||
                   part.reason() == "STOPPED_EARLY";
          });
      const int code =
          all_succeeded ? ExitCode::FINISHED : ExitCode::PART_FAILED;
      WriteFinished(key, static_cast<ExitCode>(code));
      Leave(key, code, 0,
            all_succeeded ? TrueEnd::kFinished : TrueEnd::kRefused);
      return;
    }
    case Plan::Fate::kCrash:
      Leave(key, 0, SIGSEGV, TrueEnd::kOwnFault);
      return;
    case Plan::Fate::kError: {
      constexpr int kCodes[] = {ExitCode::UNKNOWN_FAILURE,
                                ExitCode::OUT_OF_MEMORY, ExitCode::DEVICE_ERROR,
                                ExitCode::STORAGE_ERROR, 99};
      const int code = kCodes[plan->dice.Int(std::size(kCodes))];
      // No device fails once trouble has ended.
      Leave(key,
            code == ExitCode::DEVICE_ERROR && !world_.troubled()
                ? ExitCode::UNKNOWN_FAILURE
                : code,
            0, TrueEnd::kOwnFault);
      return;
    }
    case Plan::Fate::kDeviceError:
      Leave(key,
            world_.troubled() ? ExitCode::DEVICE_ERROR
                              : ExitCode::UNKNOWN_FAILURE,
            0, TrueEnd::kOwnFault);
      return;
    case Plan::Fate::kRefuse:
      Leave(key,
            plan->dice.Chance(0.5) ? ExitCode::BAD_SPEC : ExitCode::NON_FINITE,
            0, TrueEnd::kRefused);
      return;
    case Plan::Fate::kHang:
      task.stubborn = true;
      // Its supervisor notices.
      world_.After(base::ToDuration(task.desired.step_timeout()),
                   key.ToString() + " hangs", task.supervisor, [this, key] {
                     Task& hung = *tasks_.at(key);
                     if (!hung.trainer.runs()) return;
                     hung.facts.hang_ms = 1;
                     Leave(key, 0, SIGKILL, TrueEnd::kOwnFault);
                   });
      return;
  }
}

void Machine::WriteScore(const AttemptKey& key, const Task& task) {
  const int64_t every = EveryOf(task.desired);
  if (every == 0 || task.step % every != 0) return;
  const std::string id = absl::StrCat(kScored, "-", task.step);
  const auto& finished = task.desired.train().finished_reports();
  if (std::count(finished.begin(), finished.end(), id) > 0) return;
  // However often it is made, it is the same.
  Dice dice = world_.MakeDice(absl::StrCat("score/", key.job, "/", task.step));
  ProgressRecord record;
  record.mutable_report()->set_id(id);
  record.mutable_report()->set_step(task.step);
  // Perhaps it is written after it.
  record.mutable_report()->set_checkpoint(
      absl::StrCat(task.step, "-", key.attempt));
  record.mutable_report()->set_folder(
      absl::StrCat("results/", id, "-", key.attempt));
  (*record.mutable_report()->mutable_metrics())[kScore] =
      dice.Chance(0.1) ? std::numeric_limits<double>::infinity()
                       : static_cast<double>(dice.Int(8));
  Write(key, record);
}

// Reports on all that it is asked and has not reported, with what is known of
// it, and what it has found itself.
void Machine::Answer(const AttemptKey& key) {
  const DesiredAttempt desired = tasks_.at(key)->desired;
  const bool is_gate = desired.has_gate();
  std::map<std::string, std::string> found;
  for (const auto& known : is_gate ? desired.gate().known_results()
                                   : desired.evaluate().known_results()) {
    found[known.key()] = known.report();
  }
  const std::string& device = is_gate ? desired.gate().resources().device()
                                      : desired.evaluate().resources().device();
  for (const Asked& asked : AskedIn(desired)) {
    ProgressRecord record;
    training::v1::ReportWritten& report = *record.mutable_report();
    report.set_id(asked.report);
    report.set_folder(absl::StrCat("results/", asked.report, "-", key.attempt));
    report.set_step(asked.source->step());
    *report.mutable_key() = model::catalog::QuestionOf(
        {asked.source->manifest_sha256(), *asked.evaluation, nullptr, device});
    report.mutable_key()->set_precision("fp32");
    const auto [known, is_new] =
        found.emplace(model::catalog::KeyDigest(report.key()),
                      absl::StrCat("jobs/", key.job, "/reports/", report.id()));
    if (!is_new) report.set_taken_from(known->second);
    Write(key, record);
  }
}

void Machine::WriteCheckpoint(const AttemptKey& key, Task& task, bool fails) {
  ProgressRecord record;
  if (fails) {
    record.mutable_checkpoint_failed()->set_step(task.step);
    Write(key, record);
    return;
  }
  const std::string id = absl::StrCat(task.step, "-", key.attempt);
  const std::string name = absl::StrCat("jobs/", key.job, "/checkpoints/", id);
  storage_.Write(name);
  oracle_.CheckpointWritten(key, name);
  record.mutable_checkpoint()->set_id(id);
  record.mutable_checkpoint()->set_step(task.step);
  record.mutable_checkpoint()->set_manifest_sha256("digest of " + name);
  record.mutable_checkpoint()->add_files()->set_path(
      scheduler::core::kOptimizerFile);
  Write(key, record);
}

void Machine::Write(const AttemptKey& key, ProgressRecord record) {
  *record.mutable_time() = scheduler::core::ToTimestamp(clock_.Now().wall);
  tasks_.at(key)->records.push_back(std::move(record));
  Changed(key);
}

void Machine::Leave(const AttemptKey& key, int exit_code, int signal,
                    TrueEnd end) {
  Task& task = *tasks_.at(key);
  task.trainer.End();
  oracle_.TrainerEnded(key, end);
  if (exit_code == ExitCode::DEVICE_ERROR) {
    oracle_.DeviceFailed(options_.id, task.desired.devices(0), 1);
  }
  if (NumRanks(task.desired) > 1) {
    Gang& gang = storage_.GangOf(key);
    const bool stopped = exit_code == ExitCode::STOPPED;
    (end == TrueEnd::kFinished ? gang.finished
     : stopped                 ? gang.stopping
                               : gang.broken) = true;
    gang.TellAll();
  }
  if (!task.supervisor.runs()) {
    // Nobody is left to write down how.
    Changed(key);
    return;
  }
  worker::supervisor::JournalRecord exit{};
  exit.exit_code = exit_code;
  exit.signal = signal;
  exit.time_ns = absl::ToUnixNanos(clock_.Now().wall);
  task.facts.exit = exit;
  Changed(key);
  world_.After(
      kForkTime, key.ToString() + " is gone", task.supervisor, [this, key] {
        Task& gone = *tasks_.at(key);
        gone.facts.group_empty = true;
        gone.facts.group_empty_ns = absl::ToUnixNanos(clock_.Now().wall);
        gone.supervisor.End();
        Changed(key);
      });
}

void Machine::Signal(const AttemptKey& key, bool stop, absl::Duration grace) {
  Task* task = Find(key);
  if (task == nullptr || !task->supervisor.runs() || task->facts.exit) return;
  (stop ? task->facts.stop_requested : task->facts.kill_requested) = true;
  Changed(key);
  if (!task->trainer.runs()) {
    // The supervisor had not started it yet, and will not.
    Leave(key, 0, SIGKILL, TrueEnd::kInnocent);
    return;
  }
  const auto leave = [this, key](auto how) {
    return [this, key, how] {
      Task& asked = *tasks_.at(key);
      if (asked.trainer.runs()) how(asked);
    };
  };
  world_.After(grace, "grace of " + key.ToString() + " is over",
               task->supervisor, leave([this, key](Task&) {
                 Leave(key, 0, SIGKILL, TrueEnd::kInnocent);
               }));
  if (task->stubborn) return;
  world_.After(starts_.Between(absl::Milliseconds(1), absl::Milliseconds(300)),
               key.ToString() + " obeys", task->trainer,
               leave([this, key, stop](const Task& asked) {
                 LeaveStopped(
                     key, stop && asked.desired.has_train() && key.rank == 0);
               }));
}

void Machine::EndLeftovers(const AttemptKey& key) {
  Task* task = Find(key);
  if (task == nullptr || !task->trainer.runs()) return;
  Leave(key, 0, SIGKILL, TrueEnd::kInnocent);
}

void Machine::Remove(const AttemptKey& key) {
  const Task* task = Find(key);
  if (task == nullptr) return;
  if (task->trainer.runs() || task->supervisor.runs()) {
    world_.Fail(absl::StrCat("the task ", key.ToString(), " of ", options_.id,
                             " is forgotten and runs"));
  }
  tasks_.erase(key);
}

void Machine::KillSupervisor(Dice& dice) {
  std::vector<AttemptKey> keys;
  for (const auto& [key, task] : tasks_) {
    if (task->supervisor.runs()) keys.push_back(key);
  }
  if (keys.empty()) return;
  const AttemptKey& key = keys[dice.Int(keys.size())];
  world_.Note("kill supervisor of " + key.ToString());
  tasks_.at(key)->supervisor.End();
  Changed(key);
}

void Machine::KillTrainer(Dice& dice) {
  std::vector<AttemptKey> keys;
  for (const auto& [key, task] : tasks_) {
    if (task->trainer.runs()) keys.push_back(key);
  }
  if (keys.empty()) return;
  const AttemptKey& key = keys[dice.Int(keys.size())];
  world_.Note("kill trainer of " + key.ToString());
  // Nobody can tell it from a crash.
  Leave(key, 0, SIGKILL, TrueEnd::kOwnFault);
}

void Machine::FailDevice(Dice& dice) {
  const std::string device =
      absl::StrCat("cpu:", dice.Int(options_.num_devices));
  workers::v1::DeviceFault fault;
  fault.set_grave(dice.Chance(0.5));
  fault.set_code(fault.grave() ? "XID_79" : "XID_63");
  *fault.mutable_time() = scheduler::core::ToTimestamp(clock_.Now().wall);
  world_.Note(absl::StrCat(fault.code(), " of ", device, " of ", id()));
  // A grave one is enough.
  oracle_.DeviceFailed(id(), device, fault.grave() ? 3 : 1);
  driver_faults_[device].push_back(fault);
}

void Machine::LosePower() {
  clock_.Boot(boots_.Between(absl::Seconds(1), absl::Hours(1)));
  for (const auto& [key, task] : tasks_) {
    if (task->trainer.runs()) {
      oracle_.TrainerEnded(key, TrueEnd::kInnocent);
      Gang& gang = storage_.GangOf(key);
      gang.broken = true;
      gang.TellAll();
    }
    task->trainer.End();
    task->supervisor.End();
  }
}

}  // namespace ordo::tests::sim

#include "scheduler/core/task.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/names.h"
#include "scheduler/core/pace.h"
#include "scheduler/core/references.h"
#include "scheduler/core/results.h"
#include "scheduler/core/trials.h"

namespace ordo::scheduler::core {
namespace {

absl::StatusOr<SpecPtr> SpecOf(const JobEntry& entry) {
  const Live* live = LiveIn(entry);
  if (live != nullptr && live->spec != nullptr) return live->spec;
  return entry.job->facts->spec->Get();
}

// A checkpoint that the spec names. It was there when the job was created, or
// when what it needs had ended, and is kept since.
training::v1::CheckpointSource PinnedSource(const State& state,
                                            const std::string& name) {
  if (const CheckpointPtr checkpoint = FindReferenced(state, name)) {
    return SourceOf(*checkpoint);
  }
  training::v1::CheckpointSource source;
  source.set_name(name);
  source.set_path(name);
  return source;
}

// Where a report lies, relative to the storage root.
std::string FolderOf(const reports::v1::Report& report) {
  return absl::StrCat(JobName(JobIdOf(report.name())), "/", report.folder());
}

struct Subject {
  std::string role;
  std::string reference;
};

// One of what a gate compares. A report that it names is kept as a checkpoint
// is.
void AddSubject(const State& state, const Subject& of,
                training::v1::GateSpec* task) {
  training::v1::GateSpec::Subject* subject = task->add_subjects();
  subject->set_role(of.role);
  if (const ReportPtr report = FindReport(state, of.reference)) {
    subject->set_report(FolderOf(*report));
  } else {
    *subject->mutable_checkpoint() = PinnedSource(state, of.reference);
  }
}

// What of a job's resources is its trainer's: how many it is one of, and what
// it computes with. The rest was for placement; trainers of the release before
// this one refuse it.
void SetResources(const jobs::v1::JobSpec& spec,
                  training::v1::Resources* resources) {
  const training::v1::Resources& asked = spec.resources();
  if (asked.has_ranks()) resources->set_ranks(asked.ranks());
  resources->set_device(asked.device());
  if (asked.has_threads()) resources->set_threads(asked.threads());
}

// What is known of what the job asks.
template <typename Task>
void SetKnownResults(const State& state, const JobEntry& entry,
                     const jobs::v1::JobSpec& spec, Task* task) {
  const int32_t num_left_out = AddKnownResults(
      state, QuestionsOf(state, entry, spec), task->mutable_known_results());
  if (num_left_out > 0) task->set_num_results_left_out(num_left_out);
}

// As many steps as its paces, which have ended, leave it.
absl::Status SetPaced(const State& state, const JobFacts& job,
                      training::v1::TrainSpec* task) {
  const Demand& demand = job.demand();
  if (demand.paces.empty()) return absl::OkStatus();
  const std::optional<int64_t> steps = PacedSteps(state, demand);
  if (!steps.has_value()) {
    return absl::DataLossError(
        absl::StrCat(JobName(job.id), ": ", NothingMeasuredBy(demand)));
  }
  task->mutable_training()->set_steps(*steps);
  return absl::OkStatus();
}

// What the best of its trials shows, which have ended.
absl::Status SetTuned(const State& state, const JobFacts& job,
                      const jobs::v1::JobSpec& spec,
                      training::v1::TrainSpec* task) {
  const Trials& trials = job.demand().tuned_by;
  if (trials.jobs.empty()) return absl::OkStatus();
  const std::optional<size_t> best = BestTrial(state, trials);
  if (!best.has_value()) {
    return absl::DataLossError(
        absl::StrCat(JobName(job.id), ": ", NothingOf(state, trials)));
  }
  task->mutable_training()->set_learning_rate(
      spec.tuned_by().trials(static_cast<int>(*best)).learning_rate());
  return absl::OkStatus();
}

// What nobody knows to have run may be another job's of this name. The first
// attempt finds nothing that it would remove.
void SetOwnAttempts(const JobRecord& job, training::v1::TrainSpec* task) {
  if (job.attempt_number() == 1) return;
  for (const AttemptPtr& attempt : job.attempts) {
    if (attempt->has_run_time() || attempt->number() == job.attempt_number()) {
      task->add_own_attempts(attempt->number());
    }
  }
}

}  // namespace

training::v1::CheckpointSource SourceOf(
    const checkpoints::v1::Checkpoint& checkpoint) {
  training::v1::CheckpointSource source;
  source.set_name(checkpoint.name());
  // The resource name is the path below the storage root.
  source.set_path(checkpoint.name());
  source.set_manifest_sha256(checkpoint.manifest_sha256());
  source.set_step(checkpoint.step());
  return source;
}

absl::Status SetTrainTask(const State& state, const JobEntry& entry,
                          training::v1::TrainSpec* task) {
  ORDO_ASSIGN_OR_RETURN(const SpecPtr held, SpecOf(entry));
  const jobs::v1::JobSpec& spec = *held;
  task->set_job(entry.job->id());
  task->set_attempt(entry.job->attempt_number());
  task->mutable_model()->MergeFrom(spec.model());
  task->mutable_model()->clear_from();
  task->mutable_model()->clear_from_sha256();
  task->mutable_encoding()->MergeFrom(spec.encoding());
  task->mutable_data()->MergeFrom(spec.data());
  task->mutable_training()->MergeFrom(spec.training());
  ORDO_RETURN_IF_ERROR(SetPaced(state, *entry.job->facts, task));
  ORDO_RETURN_IF_ERROR(SetTuned(state, *entry.job->facts, spec, task));
  task->mutable_checkpoint()->MergeFrom(spec.checkpoint());
  // Done here; trainers of the release before this one refuse it.
  task->mutable_checkpoint()->clear_keep_optimizer();
  *task->mutable_evaluations() = spec.evaluations();
  SetResources(spec, task->mutable_resources());
  for (auto it = entry.checkpoints.rbegin();
       it != entry.checkpoints.rend() && task->resume_size() < kMaxResume;
       ++it) {
    if (it->second->state() != checkpoints::v1::Checkpoint::AVAILABLE) continue;
    if (it->second->has_thin_time()) continue;
    *task->add_resume() = SourceOf(*it->second);
  }
  if (!spec.start_from().empty()) {
    *task->mutable_start() = PinnedSource(state, spec.start_from());
  }
  if (!spec.model().from().empty()) {
    *task->mutable_base() = PinnedSource(state, spec.model().from());
  }
  for (const auto& [id, report] : entry.reports) task->add_finished_reports(id);
  SetOwnAttempts(*entry.job, task);
  return absl::OkStatus();
}

absl::Status SetEvaluateTask(const State& state, const JobEntry& entry,
                             training::v1::EvaluateSpec* task) {
  ORDO_ASSIGN_OR_RETURN(const SpecPtr held, SpecOf(entry));
  const jobs::v1::JobSpec& spec = *held;
  task->set_job(entry.job->id());
  task->set_attempt(entry.job->attempt_number());
  if (FollowedBy(*entry.job->facts).empty()) {
    for (const std::string& name : spec.checkpoints()) {
      *task->add_checkpoints() = PinnedSource(state, name);
    }
  } else {
    for (const CheckpointPtr& checkpoint : EvaluatedBy(state, entry, spec)) {
      if (checkpoint == nullptr) continue;
      *task->add_checkpoints() = SourceOf(*checkpoint);
    }
  }
  *task->mutable_evaluations() = spec.evaluations();
  if (spec.has_encoding()) task->mutable_encoding()->MergeFrom(spec.encoding());
  SetResources(spec, task->mutable_resources());
  for (const auto& [id, report] : entry.reports) task->add_finished_reports(id);
  SetKnownResults(state, entry, spec, task);
  return absl::OkStatus();
}

absl::Status SetGateTask(const State& state, const JobEntry& entry,
                         training::v1::GateSpec* task) {
  ORDO_ASSIGN_OR_RETURN(const SpecPtr held, SpecOf(entry));
  const jobs::v1::JobSpec& spec = *held;
  task->set_job(entry.job->id());
  task->set_attempt(entry.job->attempt_number());
  const training::v1::Gate& gate = spec.gate();
  AddSubject(state, {"candidate", gate.candidate()}, task);
  AddSubject(state, {"baseline", gate.baseline()}, task);
  if (!gate.anchor().empty()) {
    AddSubject(state, {"anchor", gate.anchor()}, task);
  }
  *task->mutable_evaluations() = spec.evaluations();
  *task->mutable_gate() = gate;
  SetResources(spec, task->mutable_resources());
  for (const auto& [id, report] : entry.reports) {
    (*task->mutable_finished_reports())[id] = FolderOf(*report);
  }
  SetKnownResults(state, entry, spec, task);
  return absl::OkStatus();
}

absl::Status SetBenchmarkTask(const JobEntry& entry,
                              training::v1::BenchmarkSpec* task) {
  ORDO_ASSIGN_OR_RETURN(const SpecPtr held, SpecOf(entry));
  const jobs::v1::JobSpec& spec = *held;
  task->set_job(entry.job->id());
  task->set_attempt(entry.job->attempt_number());
  *task->mutable_benchmark() = spec.benchmark();
  SetResources(spec, task->mutable_resources());
  for (const auto& [id, report] : entry.reports) task->add_finished_reports(id);
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::core

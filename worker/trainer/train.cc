#include "worker/trainer/train.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "model/evaluation/report.h"
#include "model/training/checkpoint.h"
#include "model/training/checkpoint_writer.h"
#include "model/training/durable_folder.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "worker/trainer/evaluate.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/starting_point.h"
#include "worker/trainer/step_meter.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::CheckpointWriter;
using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::training::v1::Evaluation;
using ordo::training::v1::ExitCode;
using ordo::training::v1::TrainSpec;

// One training task in progress. The step boundary is where everything but
// stepping happens: at each, the run's state is whole.
class TrainTask {
 public:
  TrainTask(const TrainerContext& context, Run* run, Progress* progress)
      : context_(context),
        run_(*run),
        spec_(run->spec()),
        progress_(*progress),
        meter_(context.clock, spec_.training()),
        writer_(context.files, context.clock, CheckpointsFolder(context)),
        finished_reports_(spec_.finished_reports().begin(),
                          spec_.finished_reports().end()) {}

  absl::StatusOr<ExitCode> Main(const Environment& environment) {
    ORDO_RETURN_IF_ERROR(Start(environment));
    while (true) {
      ORDO_RETURN_IF_ERROR(progress_.CheckFolder());
      FinishWrite(writer_.Poll());
      if (CheckpointIsDue()) BeginCheckpoint();
      ORDO_ASSIGN_OR_RETURN(const bool evaluated, EvaluateWhatIsDue());
      if (!evaluated) return Stop();
      if (run_.cursors().step == spec_.training().steps()) return Finish();
      if (context_.stop_requested()) return Stop();
      ORDO_ASSIGN_OR_RETURN(const auto result, run_.Step());
      ReportStep(result);
    }
  }

 private:
  absl::Status Start(const Environment& environment) {
    environment_ = environment;
    model::training::RemoveTemporaries(context_.files,
                                       CheckpointsFolder(context_))
        .IgnoreError();
    ORDO_ASSIGN_OR_RETURN(const StartingPoint point,
                          LoadStartingPoint(context_, environment_, &run_));
    exact_ = point.exact;
    if (!point.own_checkpoint.empty()) {
      durable_step_ = run_.cursors().step;
      durable_id_ = point.own_checkpoint;
    }
    ordo::training::v1::TrainerStarted started;
    started.set_build_digest(context_.build_digest);
    started.set_start_step(run_.cursors().step);
    started.set_resumed_from(point.resumed_from);
    started.set_exact(point.exact);
    started.set_state_digest(point.state_digest);
    for (const std::string& warning : point.warnings) {
      started.add_warnings(warning);
      base::LogWarning(warning);
    }
    progress_.Started(started);
    base::LogInfo("training started", {{"step", run_.cursors().step},
                                       {"steps", spec_.training().steps()},
                                       {"from", point.resumed_from},
                                       {"state", point.state_digest}});
    meter_.Start(run_.cursors());
    return absl::OkStatus();
  }

  void ReportStep(const model::training::StepResult& result) {
    if (result.skipped) {
      progress_.Warning(absl::StrCat("step ", run_.cursors().step - 1,
                                     " was skipped: loss or gradient is not "
                                     "finite"));
    }
    if (const auto done = meter_.Record(result, run_.cursors())) {
      progress_.Step(*done);
    }
  }

  // Checkpoints.

  bool CheckpointIsDue() const {
    const int64_t step = run_.cursors().step;
    if (step == 0 || step == durable_step_ || step == begun_step_) return false;
    return step % spec_.checkpoint().every_steps() == 0 ||
           step == spec_.training().steps() || AnyEvaluationIsDue();
  }

  void BeginCheckpoint() {
    FinishWrite(writer_.Wait());
    begun_step_ = run_.cursors().step;
    TrainSpec recorded = spec_;
    recorded.clear_resume();
    recorded.clear_start();
    recorded.clear_finished_reports();
    writer_.Start({run_.State(), std::move(recorded), environment_, exact_});
  }

  void FinishWrite(std::optional<CheckpointWriter::Outcome> outcome) {
    if (!outcome) return;
    if (!outcome->written.ok()) {
      write_error_ = outcome->written.status();
      progress_.CheckpointFailed(outcome->step, write_error_);
      return;
    }
    durable_step_ = outcome->step;
    durable_id_ = outcome->written->id();
    progress_.Checkpoint(*outcome->written);
    base::LogInfo("checkpoint written",
                  {{"id", outcome->written->id()},
                   {"seconds", outcome->written->write_seconds()}});
    if (context_.prune_checkpoints) Prune();
  }

  // Removes all but the newest checkpoints that the policy keeps.
  void Prune() {
    const std::string folder = CheckpointsFolder(context_);
    const auto ids = model::training::ListCheckpoints(context_.files, folder);
    if (!ids.ok()) return;
    for (size_t i = spec_.checkpoint().keep(); i < ids->size(); ++i) {
      const absl::Status status =
          context_.files.RemoveTree(base::JoinPath(folder, (*ids)[i]));
      if (!status.ok()) {
        base::LogWarning("old checkpoint not removed", {{"error", status}});
      }
    }
  }

  // Waits until the state at this step is durable, trying once more if needed.
  absl::Status MakeDurable() {
    FinishWrite(writer_.Wait());
    if (durable_step_ != run_.cursors().step) {
      BeginCheckpoint();
      FinishWrite(writer_.Wait());
    }
    if (durable_step_ == run_.cursors().step) return absl::OkStatus();
    return WithExitCode(write_error_, ordo::training::v1::STORAGE_ERROR);
  }

  // Evaluations.

  bool IsDue(const Evaluation& evaluation) const {
    const int64_t step = run_.cursors().step;
    const bool repeats = evaluation.has_every_steps() && step > 0 &&
                         step % evaluation.every_steps() == 0;
    if (!repeats && step != spec_.training().steps()) return false;
    return finished_reports_.count(
               model::evaluation::ReportId(evaluation, step)) == 0;
  }

  bool AnyEvaluationIsDue() const {
    for (const Evaluation& evaluation : spec_.evaluations()) {
      if (IsDue(evaluation)) return true;
    }
    return false;
  }

  // False when a request to stop ended it.
  absl::StatusOr<bool> EvaluateWhatIsDue() {
    if (!AnyEvaluationIsDue()) return true;
    for (const Evaluation& evaluation : spec_.evaluations()) {
      if (!IsDue(evaluation)) continue;
      const absl::Status status = EvaluateOne(evaluation);
      if (absl::IsCancelled(status)) return false;
      ORDO_RETURN_IF_ERROR(status);
    }
    meter_.Start(run_.cursors());
    return true;
  }

  absl::Status EvaluateOne(const Evaluation& evaluation) {
    const int64_t step = run_.cursors().step;
    EvaluationSubject subject;
    subject.report.job = spec_.job();
    subject.report.attempt = spec_.attempt();
    subject.report.evaluation = evaluation;
    subject.report.step = step;
    subject.report.id = model::evaluation::ReportId(evaluation, step);
    subject.model = &run_.model();
    subject.trained_on = &spec_.data();
    subject.precision = spec_.training().precision();
    subject.checkpoint = [this]() -> absl::StatusOr<std::string> {
      ORDO_RETURN_IF_ERROR(MakeDurable());
      return durable_id_;
    };
    const absl::Status status =
        EvaluateAndReport(context_, subject, &progress_);
    if (absl::IsCancelled(status)) return status;
    finished_reports_.insert(subject.report.id);
    const bool storage_failed =
        !status.ok() && ExitCodeOf(status) == ordo::training::v1::STORAGE_ERROR;
    if (storage_failed && step < spec_.training().steps()) {
      progress_.Warning(absl::StrCat("report ", subject.report.id,
                                     " is left out: ", status.message()));
      return absl::OkStatus();
    }
    return status;
  }

  // Ends.

  absl::StatusOr<ExitCode> Stop() {
    ORDO_RETURN_IF_ERROR(MakeDurable());
    return ordo::training::v1::STOPPED;
  }

  absl::StatusOr<ExitCode> Finish() {
    ORDO_RETURN_IF_ERROR(MakeDurable());
    return ordo::training::v1::FINISHED;
  }

  const TrainerContext& context_;
  Run& run_;
  const TrainSpec& spec_;
  Progress& progress_;
  StepMeter meter_;
  CheckpointWriter writer_;
  Environment environment_;
  bool exact_ = true;
  // Step of the newest checkpoint of this job that is known to be durable, and
  // of the newest that was begun; -1 if there is none.
  int64_t durable_step_ = -1;
  std::string durable_id_;
  int64_t begun_step_ = -1;
  absl::Status write_error_;
  std::set<std::string> finished_reports_;
};

}  // namespace

absl::StatusOr<ExitCode> Train(const TrainerContext& context,
                               const TrainSpec& spec, Progress* progress) {
  ordo::training::v1::TrainerFinished finished;
  const auto train = [&]() -> absl::StatusOr<ExitCode> {
    model::training::ConfigureNumerics(spec.resources().threads());
    ORDO_ASSIGN_OR_RETURN(const auto run, Run::Create(spec));
    const auto code =
        TrainTask(context, run.get(), progress)
            .Main(model::training::CurrentEnvironment(context.build_digest));
    finished.set_step(run->cursors().step);
    finished.set_state_digest(model::training::StateDigest(run->State()));
    return code;
  };
  const absl::StatusOr<ExitCode> code = train();
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(code.ok()
                           ? absl::StrCat(*code == ordo::training::v1::FINISHED
                                              ? "finished at step "
                                              : "stopped on request at step ",
                                          finished.step())
                           : MessageForPeople(code.status()));
  const absl::Status told = progress->Finished(finished);
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer

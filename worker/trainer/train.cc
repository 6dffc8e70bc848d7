#include "worker/trainer/train.h"

#include <algorithm>
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
#include "model/guard.h"
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

// Between tries to write what a full or slow disk did not take.
constexpr absl::Duration kRetryDelay = absl::Seconds(10);

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
    const absl::StatusOr<ExitCode> code =
        model::Guard("train", [&] { return Loop(environment); });
    // A checkpoint in flight is good whatever ended the run.
    if (!code.ok()) FinishWrite(writer_.Wait());
    return code;
  }

 private:
  absl::StatusOr<ExitCode> Loop(const Environment& environment) {
    ORDO_RETURN_IF_ERROR(Start(environment));
    while (true) {
      ORDO_RETURN_IF_ERROR(progress_.CheckFolder());
      FinishWrite(writer_.Poll());
      WriteWaitingReports();
      if (CheckpointIsDue()) BeginCheckpoint();
      ORDO_ASSIGN_OR_RETURN(const bool evaluated, EvaluateWhatIsDue());
      if (!evaluated) return Stop();
      if (run_.cursors().step == spec_.training().steps()) return Finish();
      if (context_.stop_requested()) return Stop();
      ORDO_ASSIGN_OR_RETURN(const auto result, run_.Step());
      ReportStep(result);
    }
  }

  absl::Status Start(const Environment& environment) {
    environment_ = environment;
    model::training::RemoveTemporaries(context_.files,
                                       CheckpointsFolder(context_))
        .IgnoreError();
    RemoveUntoldCheckpoints();
    ORDO_ASSIGN_OR_RETURN(const StartingPoint point,
                          LoadStartingPoint(context_, environment_, &run_));
    exact_ = point.exact;
    passed_over_.insert(point.passed_over.begin(), point.passed_over.end());
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

  // Checkpoints that an older attempt put into place and did not live to tell
  // of: those newer than any that the job knows. Nobody else would remove them.
  void RemoveUntoldCheckpoints() {
    const std::string folder = CheckpointsFolder(context_);
    const auto ids = model::training::ListCheckpoints(context_.files, folder);
    if (!ids.ok()) return;
    std::pair<int64_t, int64_t> newest_known(0, 0);
    for (const auto& source : spec_.resume()) {
      const auto number =
          model::training::ParseCheckpointId(base::NameOf(source.path()));
      if (!number) continue;
      newest_known =
          std::max(newest_known, std::pair(number->attempt, number->step));
    }
    for (const std::string& id : *ids) {
      const auto number = model::training::ParseCheckpointId(id);
      if (number->attempt < spec_.attempt() &&
          std::pair(number->attempt, number->step) > newest_known) {
        RemoveCheckpoint(id);
      }
    }
  }

  void RemoveCheckpoint(const std::string& id) {
    const absl::Status status = context_.files.RemoveTree(
        base::JoinPath(CheckpointsFolder(context_), id));
    if (status.ok()) {
      base::LogInfo("checkpoint removed", {{"id", id}});
    } else {
      base::LogWarning("checkpoint not removed", {{"error", status}});
    }
  }

  bool CheckpointIsDue() const {
    const int64_t step = run_.cursors().step;
    if (step == 0 || step == durable_step_ || step == begun_step_) return false;
    if (retry_at_ && context_.clock.Monotonic() >= *retry_at_) return true;
    return step % spec_.checkpoint().every_steps() == 0 ||
           step == spec_.training().steps() || AnyEvaluationIsDue();
  }

  void BeginCheckpoint() {
    const absl::Duration start = context_.clock.Monotonic();
    FinishWrite(writer_.Wait());
    const absl::Duration waited = context_.clock.Monotonic() - start;
    begun_step_ = run_.cursors().step;
    retry_at_.reset();
    TrainSpec recorded = spec_;
    recorded.clear_resume();
    recorded.clear_start();
    recorded.clear_base();
    recorded.clear_finished_reports();
    writer_.Start({run_.State(), std::move(recorded), environment_, exact_},
                  waited);
  }

  void FinishWrite(std::optional<CheckpointWriter::Outcome> outcome) {
    if (!outcome) return;
    if (!outcome->written.ok()) {
      write_error_ = outcome->written.status();
      retry_at_ = context_.clock.Monotonic() + kRetryDelay;
      progress_.CheckpointFailed(outcome->step, write_error_);
      return;
    }
    durable_step_ = outcome->step;
    durable_id_ = outcome->written->id();
    passed_over_.erase(durable_id_);
    progress_.Checkpoint(*outcome->written);
    base::LogInfo("checkpoint written",
                  {{"id", outcome->written->id()},
                   {"seconds", outcome->written->write_seconds()}});
    if (context_.prune_checkpoints) Prune();
  }

  // Removes all but the newest checkpoints that the policy keeps. Those beyond
  // the newest good one are of a run that was longer, or were passed over as
  // damaged: the former stay, the latter go, and neither takes the place of a
  // good one.
  void Prune() {
    const auto ids = model::training::ListCheckpoints(
        context_.files, CheckpointsFolder(context_));
    if (!ids.ok()) return;
    int num_kept = 0;
    for (const std::string& id : *ids) {
      const bool damaged = passed_over_.count(id) != 0;
      const auto number = model::training::ParseCheckpointId(id);
      if (!damaged && number->step > durable_step_) continue;
      const bool keep = id == durable_id_ ||
                        (!damaged && num_kept < spec_.checkpoint().keep());
      if (keep) {
        ++num_kept;
      } else {
        RemoveCheckpoint(id);
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
    subject.checkpoint = [this]() -> absl::StatusOr<std::string> {
      ORDO_RETURN_IF_ERROR(MakeDurable());
      return durable_id_;
    };
    const bool at_end = step == spec_.training().steps();
    const auto result = RunEvaluation(context_, subject, &progress_);
    if (absl::IsCancelled(result.status())) return result.status();
    finished_reports_.insert(subject.report.id);
    if (!result.ok()) {
      // Without its checkpoint a report says nothing.
      return at_end ? result.status() : LeaveOut(subject, result.status());
    }
    const absl::Status written = WriteResult(context_, *result, &progress_);
    if (written.ok() || at_end) return written;
    progress_.Warning(absl::StrCat("report ", subject.report.id,
                                   " waits for the disk: ", written.message()));
    waiting_reports_.push_back(*result);
    report_retry_at_ = context_.clock.Monotonic() + kRetryDelay;
    return absl::OkStatus();
  }

  absl::Status LeaveOut(const EvaluationSubject& subject,
                        const absl::Status& why) {
    if (ExitCodeOf(why) != ordo::training::v1::STORAGE_ERROR) return why;
    progress_.Warning(absl::StrCat("report ", subject.report.id,
                                   " is left out: ", why.message()));
    return absl::OkStatus();
  }

  // Tries again, after a delay, to write what could not be written.
  void WriteWaitingReports() {
    if (waiting_reports_.empty() ||
        context_.clock.Monotonic() < report_retry_at_) {
      return;
    }
    report_retry_at_ = context_.clock.Monotonic() + kRetryDelay;
    while (!waiting_reports_.empty() &&
           WriteResult(context_, waiting_reports_.front(), &progress_).ok()) {
      waiting_reports_.erase(waiting_reports_.begin());
    }
  }

  // The last try: nobody computes them again.
  void WriteOrLeaveOutWaitingReports() {
    for (const EvaluationResult& result : waiting_reports_) {
      const absl::Status status = WriteResult(context_, result, &progress_);
      if (status.ok()) continue;
      progress_.Warning(absl::StrCat("report ", result.report.id,
                                     " is left out: ", status.message()));
    }
    waiting_reports_.clear();
  }

  // Ends.

  absl::StatusOr<ExitCode> Stop() {
    WriteOrLeaveOutWaitingReports();
    ORDO_RETURN_IF_ERROR(MakeDurable());
    return ordo::training::v1::STOPPED;
  }

  absl::StatusOr<ExitCode> Finish() {
    WriteOrLeaveOutWaitingReports();
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
  // When to try again, after a write failed; by the monotonic clock.
  std::optional<absl::Duration> retry_at_;
  // Checkpoints of this job that were found damaged.
  std::set<std::string> passed_over_;
  std::set<std::string> finished_reports_;
  // Evaluations whose report could not be written, and when to try again.
  std::vector<EvaluationResult> waiting_reports_;
  absl::Duration report_retry_at_;
};

}  // namespace

absl::StatusOr<ExitCode> Train(const TrainerContext& context,
                               const TrainSpec& spec, Progress* progress) {
  ordo::training::v1::TrainerFinished finished;
  const auto train = [&]() -> absl::StatusOr<ExitCode> {
    ORDO_ASSIGN_OR_RETURN(const c10::Device device,
                          OpenDevice(context, spec.resources()));
    model::training::ConfigureNumerics(spec.resources().threads());
    ORDO_ASSIGN_OR_RETURN(const auto run, Run::Create(spec, device));
    const auto code = TrainTask(context, run.get(), progress)
                          .Main(model::training::CurrentEnvironment(
                              context.build_digest, spec.training().kernel()));
    finished.set_step(run->cursors().step);
    finished.set_state_digest(model::training::StateDigest(run->State()));
    return code;
  };
  const absl::StatusOr<ExitCode> code = model::Guard("train", train);
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(code.ok()
                           ? absl::StrCat(*code == ordo::training::v1::FINISHED
                                              ? "finished at step "
                                              : "stopped on request at step ",
                                          finished.step())
                           : std::string(code.status().message()));
  const absl::Status told = progress->Finished(finished);
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer

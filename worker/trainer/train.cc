#include "worker/trainer/train.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "model/catalog/tokens.h"
#include "model/evaluation/evaluate.h"
#include "model/evaluation/report.h"
#include "model/guard.h"
#include "model/tasks/registry.h"
#include "model/training/c10d.h"
#include "model/training/collective.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "worker/trainer/checkpoints.h"
#include "worker/trainer/control.h"
#include "worker/trainer/data.h"
#include "worker/trainer/evaluate.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/follow.h"
#include "worker/trainer/leader.h"
#include "worker/trainer/memory.h"
#include "worker/trainer/starting_point.h"
#include "worker/trainer/step_meter.h"
#include "worker/trainer/waiting_reports.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::Collective;
using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::training::v1::Evaluation;
using ordo::training::v1::ExitCode;
using ordo::training::v1::TrainSpec;

// One training task in progress. The step boundary is where everything but
// stepping happens: at each, the run's state is whole.
class TrainTask {
 public:
  TrainTask(const TrainerContext& context, Run* run, Progress* progress,
            Leader* leader)
      : context_(context),
        leader_(*leader),
        run_(*run),
        spec_(run->spec()),
        progress_(*progress),
        meter_(context.clock, spec_.training()),
        checkpoints_(context, *run, progress),
        finished_reports_(spec_.finished_reports().begin(),
                          spec_.finished_reports().end()),
        waiting_reports_(context.clock, OfWaitingReports()) {}

  absl::StatusOr<ExitCode> Main(const Environment& environment) {
    const absl::StatusOr<ExitCode> code =
        model::Guard("train", [&] { return Loop(environment); });
    // A checkpoint in flight is good whatever ended the run.
    if (!code.ok()) checkpoints_.Wait().IgnoreError();
    return code;
  }

  double MeanStepSeconds() const { return meter_.MeanStepSeconds(); }

  // The storage may hold up the end of this object for as long as it likes.
  bool IsHeldUp() const { return checkpoints_.IsHeldUp(); }

 private:
  absl::StatusOr<ExitCode> Loop(const Environment& environment) {
    ORDO_RETURN_IF_ERROR(Start(environment));
    ORDO_RETURN_IF_ERROR(MakeEvaluations());
    while (true) {
      ORDO_RETURN_IF_ERROR(progress_.CheckFolder());
      checkpoints_.Poll();
      waiting_reports_.Retry();
      ORDO_RETURN_IF_ERROR(WriteCheckpointIfDue());
      ORDO_ASSIGN_OR_RETURN(const bool evaluated, EvaluateWhatIsDue());
      if (!evaluated) return Stop();
      if (run_.cursors().step == spec_.training().steps()) return Finish();
      ORDO_ASSIGN_OR_RETURN(const bool stepped, Step());
      if (!stepped) return Stop();
    }
  }

  absl::Status WriteCheckpointIfDue() {
    const int64_t step = run_.cursors().step;
    const bool may_wait = checkpoints_.MayWaitAt(step);
    ORDO_RETURN_IF_ERROR(checkpoints_.WriteIfDue(AnyEvaluationIsDue(step)));
    // A step takes no longer because the storage is slow.
    if (may_wait) meter_.Start(run_.cursors());
    return absl::OkStatus();
  }

  // False when the run is to stop here. Other ranks are asked to stop with the
  // step, so they come one step further.
  absl::StatusOr<bool> Step() {
    if (leader_.stop_agreed()) return false;
    const int64_t next = run_.cursors().step + 1;
    model::training::Wishes wishes;
    wishes.stop = context_.stop_requested();
    // While this rank waits the others give signs of life.
    wishes.pause = next == spec_.training().steps() ||
                   AnyEvaluationIsDue(next) || checkpoints_.MayWaitAt(next);
    if (wishes.stop && leader_.alone()) return false;
    ORDO_RETURN_IF_ERROR(leader_.BeginStep());
    ORDO_ASSIGN_OR_RETURN(const auto result, run_.Step(wishes));
    leader_.EndStep(result.wishes);
    ReportStep(result);
    return true;
  }

  absl::Status Start(const Environment& environment) {
    checkpoints_.RemoveLeftOver();
    ORDO_ASSIGN_OR_RETURN(StartingPoint point,
                          LoadStartingPoint(context_, environment, &run_));
    ORDO_RETURN_IF_ERROR(leader_.ShareStart(environment, &run_, &point));
    checkpoints_.Begin(point, environment);
    ordo::training::v1::TrainerStarted started;
    started.set_build_digest(context_.build_digest);
    started.set_start_step(run_.cursors().step);
    started.set_resumed_from(point.resumed_from);
    started.set_exact(point.exact);
    started.set_state_digest(point.state_digest);
    *started.mutable_control() = ControlOf(run_, environment, point.initial);
    for (const std::string& warning : point.warnings) {
      started.add_warnings(warning);
      base::LogWarning(warning);
    }
    progress_.Started(started);
    const absl::Status told =
        WriteInitialValues(context_, spec_.attempt(), point.initial);
    if (!told.ok()) progress_.Warning(std::string(told.message()));
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
    if (result.attention_kernels != attention_kernels_) {
      attention_kernels_ = result.attention_kernels;
      base::LogInfo("attention computed",
                    {{"kernels", absl::StrJoin(attention_kernels_, " ")}});
    }
    if (auto done = meter_.Record(result, run_.cursors())) {
      done->set_peak_memory_bytes(PeakMemoryBytes(run_.model().device()));
      progress_.Step(*done);
    }
  }

  // Evaluations.

  bool IsDue(const Evaluation& evaluation, int64_t step) const {
    const bool repeats = evaluation.has_every_steps() && step > 0 &&
                         step % evaluation.every_steps() == 0;
    if (!repeats && step != spec_.training().steps()) return false;
    return finished_reports_.count(
               model::evaluation::ReportId(evaluation, step)) == 0;
  }

  bool AnyEvaluationIsDue(int64_t step) const {
    for (const Evaluation& evaluation : spec_.evaluations()) {
      if (IsDue(evaluation, step)) return true;
    }
    return false;
  }

  // Two files may have the same ids; of unlike numbers of tokens they have not.
  absl::Status CheckTokenizer(const Evaluation& evaluation,
                              const model::tasks::EvaluationTask& task) const {
    const auto two =
        model::catalog::FindTwoTokenizers(evaluation, spec_.data());
    const int has = task.tokenizer().vocabulary_size();
    const int trained = run_.task().tokenizer().vocabulary_size();
    if (!two.has_value() || has == trained) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "params.tokenizer: ", two->named, " has ", has, " tokens, and ",
        two->trained, ", with which the model is trained, ", trained,
        ": ids do not mean the same; leave it out, which takes that of the "
        "training"));
  }

  // Makes the tasks of the evaluations to come, which read their data: what
  // would be missing at the end, or too much for the model, is told before the
  // training. They are kept: files of questions take their time.
  absl::Status MakeEvaluations() {
    TrainerContext context = context_;
    context.stop_requested = [this] { return leader_.StopRequested(); };
    for (int i = 0; i < spec_.evaluations_size(); ++i) {
      const Evaluation& evaluation = spec_.evaluations(i);
      const std::string last =
          model::evaluation::ReportId(evaluation, spec_.training().steps());
      if (finished_reports_.count(last) != 0) continue;
      const std::string path = absl::StrCat("evaluations[", i, "]");
      auto task = model::tasks::MakeEvaluationTask(
          evaluation, &spec_.data(),
          DataOf(context, {spec_.attempt(), 0, run_.cursors().step},
                 &progress_));
      ORDO_RETURN_IF_ERROR(AtEvaluation(task.status(), path));
      ORDO_RETURN_IF_ERROR(
          AtEvaluation(CheckTokenizer(evaluation, **task), path));
      ORDO_RETURN_IF_ERROR(AtEvaluation(
          model::evaluation::CheckVocabulary(run_.model(), **task), path));
      tasks_[i] = *std::move(task);
    }
    meter_.Start(run_.cursors());
    return absl::OkStatus();
  }

  // False when a request to stop ended it.
  absl::StatusOr<bool> EvaluateWhatIsDue() {
    const int64_t step = run_.cursors().step;
    if (!AnyEvaluationIsDue(step)) return true;
    for (int i = 0; i < spec_.evaluations_size(); ++i) {
      if (!IsDue(spec_.evaluations(i), step)) continue;
      const absl::Status status = EvaluateOne(i);
      if (absl::IsCancelled(status)) return false;
      ORDO_RETURN_IF_ERROR(status);
    }
    meter_.Start(run_.cursors());
    return true;
  }

  absl::Status EvaluateOne(int number) {
    const Evaluation& evaluation = spec_.evaluations(number);
    const int64_t step = run_.cursors().step;
    EvaluationSubject subject;
    subject.report.job = spec_.job();
    subject.report.attempt = spec_.attempt();
    subject.report.evaluation = evaluation;
    subject.report.step = step;
    subject.report.id = model::evaluation::ReportId(evaluation, step);
    subject.model = &run_.model();
    subject.trained_on = &spec_.data();
    subject.task = tasks_[number];
    subject.checkpoint = [this]() -> absl::StatusOr<std::string> {
      ORDO_RETURN_IF_ERROR(checkpoints_.MakeDurable());
      return checkpoints_.durable_id();
    };
    const bool at_end = step == spec_.training().steps();
    if (subject.task != nullptr) {
      // An id stands for one state; the digest is not there yet.
      const std::string id = checkpoints_.CurrentId();
      subject.kept_by =
          KeyOf({id, evaluation, nullptr, spec_.resources().device(),
                 subject.task->data_fingerprint()});
    }
    TrainerContext context = context_;
    context.stop_requested = [this] {
      // A trainer that dies meanwhile goes on from its checkpoint.
      checkpoints_.Poll();
      return leader_.StopRequested();
    };
    auto result = RunEvaluation(context, subject, &progress_);
    if (absl::IsCancelled(result.status())) return result.status();
    finished_reports_.insert(subject.report.id);
    if (!result.ok()) {
      // Without its checkpoint a report says nothing.
      return at_end ? result.status() : LeaveOut(subject, result.status());
    }
    const std::string& manifest = checkpoints_.durable_manifest();
    if (!manifest.empty()) {
      result->report.key =
          KeyOf({manifest, evaluation, nullptr, spec_.resources().device(),
                 result->data_fingerprint});
    }
    const absl::Status written =
        WriteResult(context_, *result, &progress_).status();
    if (written.ok() || at_end) return written;
    waiting_reports_.Add(*std::move(result), written);
    return absl::OkStatus();
  }

  absl::Status LeaveOut(const EvaluationSubject& subject,
                        const absl::Status& why) {
    if (ExitCodeOf(why) != ordo::training::v1::STORAGE_ERROR) return why;
    progress_.Warning(absl::StrCat("report ", subject.report.id,
                                   " is left out: ", why.message()));
    return absl::OkStatus();
  }

  WaitingReportsOptions OfWaitingReports() {
    WaitingReportsOptions options;
    options.write = [this](const EvaluationResult& result) {
      return WriteResult(context_, result, &progress_).status();
    };
    options.warn = [this](const std::string& warning) {
      progress_.Warning(warning);
    };
    return options;
  }

  // Ends.

  absl::StatusOr<ExitCode> Stop() {
    waiting_reports_.WriteOrLeaveOut();
    ORDO_RETURN_IF_ERROR(checkpoints_.MakeDurable());
    return ordo::training::v1::STOPPED;
  }

  absl::StatusOr<ExitCode> Finish() {
    waiting_reports_.WriteOrLeaveOut();
    ORDO_RETURN_IF_ERROR(checkpoints_.MakeDurable());
    return ordo::training::v1::FINISHED;
  }

  const TrainerContext& context_;
  Leader& leader_;
  Run& run_;
  const TrainSpec& spec_;
  Progress& progress_;
  StepMeter meter_;
  Checkpoints checkpoints_;
  std::set<std::string> finished_reports_;
  // By the evaluation's number; null: it is made when it is due.
  std::map<int, std::shared_ptr<const model::tasks::EvaluationTask>> tasks_;
  // Of the last step, as the log says.
  std::set<std::string> attention_kernels_;
  // Nobody computes these again.
  WaitingReports waiting_reports_;
};

// The other ranks of the task; null when it has one.
absl::StatusOr<std::unique_ptr<Collective>> MeetOthers(
    const TrainerContext& context, const TrainSpec& spec, c10::Device device) {
  if (spec.resources().ranks() <= 1) return nullptr;
  model::training::MeetOptions options;
  if (device.is_cuda()) {
    ORDO_ASSIGN_OR_RETURN(options.nccl, OpenNccl(context));
    options.on_stuck = [leave = context.leave](const absl::Status& failure) {
      base::LogError("the GPU's wait for other ranks does not end; leaving");
      leave(failure.ok() ? ordo::training::v1::PEER_LOST : ExitCodeOf(failure));
    };
  }
  options.rank = spec.rank();
  options.ranks = spec.resources().ranks();
  if (!spec.host().empty()) options.host = spec.host();
  options.address_file =
      base::JoinPath(AttemptFolder(context, spec.attempt()), "rendezvous");
  options.stop_requested = context.stop_requested;
  return model::training::Meet(context.files, context.clock, options);
}

std::string MessageOf(const absl::StatusOr<ExitCode>& code, int64_t step) {
  if (!code.ok()) return std::string(code.status().message());
  return absl::StrCat(*code == ordo::training::v1::FINISHED
                          ? "finished at step "
                          : "stopped on request at step ",
                      step);
}

// What a task needs of the process, made in this order.
struct Rank {
  std::unique_ptr<Collective> collective;
  std::unique_ptr<Run> run;
  std::optional<Leader> leader;
  std::optional<TrainTask> task;
};

absl::StatusOr<ExitCode> TrainAs(const TrainerContext& context,
                                 const TrainSpec& spec, Progress* progress,
                                 Rank* rank) {
  ORDO_ASSIGN_OR_RETURN(const c10::Device device,
                        OpenDevice(context, spec.resources()));
  model::training::ConfigureNumerics(spec.resources().threads());
  auto collective = MeetOthers(context, spec, device);
  // Nothing has been done that a checkpoint would have to keep.
  if (absl::IsCancelled(collective.status())) {
    return ordo::training::v1::STOPPED;
  }
  ORDO_RETURN_IF_ERROR(collective);
  rank->collective = *std::move(collective);
  auto run =
      Run::Create(spec, device, rank->collective.get(),
                  DataOf(context, {spec.attempt(), spec.rank(), 0}, progress));
  if (absl::IsCancelled(run.status())) return ordo::training::v1::STOPPED;
  ORDO_RETURN_IF_ERROR(run);
  rank->run = *std::move(run);
  Environment environment = model::training::CurrentEnvironment(
      context.build_digest, spec.training().kernel());
  environment.ranks = spec.resources().ranks();
  if (spec.rank() != 0) {
    return Follow(context,
                  {rank->collective.get(), rank->run.get(), environment},
                  progress);
  }
  rank->leader.emplace(rank->collective.get(), context);
  rank->task.emplace(context, rank->run.get(), progress, &*rank->leader);
  const auto code = rank->task->Main(environment);
  if (absl::IsCancelled(code.status())) return ordo::training::v1::STOPPED;
  return code;
}

}  // namespace

absl::StatusOr<ExitCode> Train(const TrainerContext& context,
                               const TrainSpec& spec, Progress* progress) {
  ordo::training::v1::TrainerFinished finished;
  Rank rank;
  const absl::StatusOr<ExitCode> code =
      model::Guard("train", [&]() -> absl::StatusOr<ExitCode> {
        auto code = TrainAs(context, spec, progress, &rank);
        if (rank.run != nullptr) {
          finished.set_step(rank.run->cursors().step);
          // After an error a GPU may not give it, and the other ranks wait.
          if (code.ok()) {
            finished.set_state_digest(
                model::training::StateDigest(rank.run->State()));
          }
        }
        return code;
      });
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(MessageOf(code, finished.step()));
  if (rank.task) finished.set_step_seconds(rank.task->MeanStepSeconds());
  const absl::Status told = progress->Finished(finished);
  if (rank.leader) rank.leader->End(finished);
  if (rank.task && rank.task->IsHeldUp()) {
    base::LogError("a write does not end; leaving",
                   {{"error", finished.message()}});
    context.leave(finished.code());
  }
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer

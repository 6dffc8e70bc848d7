#include "worker/trainer/evaluate.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "model/evaluation/evaluate.h"
#include "model/tasks/registry.h"
#include "model/training/checkpoint.h"
#include "model/training/model_config.h"
#include "model/training/numerics.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::LoadedModel;
using ordo::training::v1::CheckpointSource;
using ordo::training::v1::EvaluateSpec;
using ordo::training::v1::ExitCode;

// `id`, or with a number if another report of the task has it: two jobs'
// checkpoints may be of one step.
std::string UniqueId(const std::string& id, std::set<std::string>* taken) {
  std::string unique = id;
  for (int n = 2; !taken->insert(unique).second; ++n) {
    unique = absl::StrCat(id, "-", n);
  }
  return unique;
}

absl::StatusOr<LoadedModel> Load(const TrainerContext& context,
                                 const CheckpointSource& source) {
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        FolderOfSource(context, source));
  auto loaded = model::training::LoadModel(context.files, folder,
                                           source.manifest_sha256());
  if (loaded.ok()) return loaded;
  const absl::Status status = base::AddContext(
      loaded.status(), absl::StrCat("load checkpoint ", NameOfSource(source)));
  if (absl::IsResourceExhausted(status)) return status;
  return WithExitCode(status, ordo::training::v1::CHECKPOINT_DAMAGED);
}

absl::StatusOr<ExitCode> EvaluateAll(const TrainerContext& context,
                                     const EvaluateSpec& spec,
                                     Progress* progress) {
  const std::set<std::string> finished(spec.finished_reports().begin(),
                                       spec.finished_reports().end());
  std::set<std::string> taken;
  for (const CheckpointSource& source : spec.checkpoints()) {
    ORDO_ASSIGN_OR_RETURN(const LoadedModel loaded, Load(context, source));
    ORDO_ASSIGN_OR_RETURN(const std::string folder,
                          FolderOfSource(context, source));
    EvaluationSubject subject;
    subject.model = loaded.transformer.get();
    subject.trained_on =
        loaded.config.data.task().empty() ? nullptr : &loaded.config.data;
    subject.report.job = spec.job();
    subject.report.attempt = spec.attempt();
    subject.checkpoint = [&source] { return NameOfSource(source); };
    subject.report.step =
        source.step() > 0
            ? source.step()
            : model::training::ReadStep(context.files, folder).value_or(0);
    for (const auto& evaluation : spec.evaluations()) {
      subject.report.evaluation = evaluation;
      subject.report.id = UniqueId(
          model::evaluation::ReportId(evaluation, subject.report.step), &taken);
      if (finished.count(subject.report.id) != 0) continue;
      ORDO_RETURN_IF_ERROR(progress->CheckFolder());
      const absl::Status status = EvaluateAndReport(context, subject, progress);
      if (absl::IsCancelled(status)) return ordo::training::v1::STOPPED;
      ORDO_RETURN_IF_ERROR(status);
    }
  }
  return ordo::training::v1::FINISHED;
}

}  // namespace

absl::Status EvaluateAndReport(const TrainerContext& context,
                               const EvaluationSubject& subject,
                               Progress* progress) {
  const auto& about = subject.report;
  ORDO_ASSIGN_OR_RETURN(
      const auto task,
      model::tasks::MakeEvaluationTask(about.evaluation, subject.trained_on));
  model::evaluation::EvaluateOptions options;
  options.seed = about.evaluation.seed();
  options.precision = subject.precision;
  options.should_stop = context.stop_requested;
  options.on_progress = [&](int64_t num_done, int64_t num_total) {
    ordo::training::v1::EvaluationProgress record;
    record.set_name(about.evaluation.name());
    record.set_step(about.step);
    record.set_done(num_done);
    record.set_total(num_total);
    progress->Evaluation(record);
  };
  ORDO_ASSIGN_OR_RETURN(
      const model::tasks::Scores scores,
      model::evaluation::Evaluate(*subject.model, *task, options));
  model::evaluation::ReportSubject about_checkpoint = about;
  ORDO_ASSIGN_OR_RETURN(about_checkpoint.checkpoint, subject.checkpoint());
  const auto report = model::evaluation::WriteReport(
      context.files, context.job_folder, about_checkpoint, scores);
  ORDO_RETURN_IF_ERROR(
      WithExitCode(report.status(), ordo::training::v1::STORAGE_ERROR));
  progress->Report(*report, about.evaluation.name());
  base::LogInfo("report written", {{"id", about.id}});
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> EvaluateCheckpoints(const TrainerContext& context,
                                             const EvaluateSpec& spec,
                                             Progress* progress) {
  model::training::ConfigureNumerics(spec.resources().threads());
  ordo::training::v1::TrainerStarted started;
  started.set_build_digest(context.build_digest);
  started.set_exact(true);
  progress->Started(started);
  const absl::StatusOr<ExitCode> code = EvaluateAll(context, spec, progress);
  ordo::training::v1::TrainerFinished finished;
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(!code.ok() ? MessageForPeople(code.status())
                       : *code == ordo::training::v1::FINISHED
                           ? "all evaluations are done"
                           : "stopped on request");
  const absl::Status told = progress->Finished(finished);
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer

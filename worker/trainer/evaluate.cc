#include "worker/trainer/evaluate.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/evaluation/evaluate.h"
#include "model/formats/config_file.h"
#include "model/tasks/registry.h"
#include "model/training/checkpoint.h"
#include "model/training/model_config.h"
#include "model/training/numerics.h"
#include "worker/trainer/data.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::LoadedModel;
using ordo::training::v1::CheckpointSource;
using ordo::training::v1::Component;
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

absl::Status NotLoaded(const absl::Status& status,
                       const CheckpointSource& source) {
  const absl::Status named = base::AddContext(
      status, absl::StrCat("load checkpoint ", NameOfSource(source)));
  if (absl::IsResourceExhausted(named)) return named;
  return WithExitCode(named, ordo::training::v1::CHECKPOINT_DAMAGED);
}

// The task's encoding as it will be on this checkpoint; nothing when it has its
// own.
absl::StatusOr<std::optional<Component>> ResolveEncoding(
    const TrainerContext& context, const EvaluateSpec& spec,
    const CheckpointSource& source) {
  if (!spec.has_encoding()) return std::nullopt;
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        FolderOfSource(context, source));
  const auto config =
      model::formats::ReadConfigFile(context.files, folder, &spec.encoding());
  if (!config.ok()) return NotLoaded(config.status(), source);
  return config->config.encoding;
}

// Reports of one checkpoint that are not finished yet.
std::vector<model::evaluation::ReportSubject> DueReports(
    const EvaluateSpec& spec, int64_t step,
    const std::optional<Component>& encoding, std::set<std::string>* taken) {
  const std::set<std::string> finished(spec.finished_reports().begin(),
                                       spec.finished_reports().end());
  std::vector<model::evaluation::ReportSubject> due;
  for (const auto& evaluation : spec.evaluations()) {
    model::evaluation::ReportSubject report;
    report.job = spec.job();
    report.attempt = spec.attempt();
    report.step = step;
    report.evaluation = evaluation;
    report.encoding = encoding;
    report.id = UniqueId(
        model::evaluation::ReportId(evaluation, step, encoding), taken);
    if (finished.count(report.id) == 0) due.push_back(std::move(report));
  }
  return due;
}

absl::StatusOr<ExitCode> EvaluateAll(const TrainerContext& context,
                                     const EvaluateSpec& spec,
                                     Progress* progress) {
  ORDO_ASSIGN_OR_RETURN(const c10::Device device,
                        OpenDevice(context, spec.resources()));
  model::training::ConfigureNumerics(spec.resources().threads());
  std::set<std::string> taken;
  for (const CheckpointSource& source : spec.checkpoints()) {
    ORDO_ASSIGN_OR_RETURN(const int64_t step, StepOfSource(context, source));
    ORDO_ASSIGN_OR_RETURN(const auto encoding,
                          ResolveEncoding(context, spec, source));
    const auto due = DueReports(spec, step, encoding, &taken);
    if (due.empty()) continue;
    ORDO_ASSIGN_OR_RETURN(
        const LoadedModel loaded,
        LoadSource(context, source, {encoding ? &*encoding : nullptr, device}));
    EvaluationSubject subject;
    subject.model = loaded.transformer.get();
    subject.trained_on =
        loaded.config.data.task().empty() ? nullptr : &loaded.config.data;
    subject.checkpoint = [&source] { return NameOfSource(source); };
    for (const model::evaluation::ReportSubject& report : due) {
      subject.report = report;
      ORDO_RETURN_IF_ERROR(progress->CheckFolder());
      const auto result = RunEvaluation(context, subject, progress);
      if (absl::IsCancelled(result.status())) {
        return ordo::training::v1::STOPPED;
      }
      ORDO_RETURN_IF_ERROR(result.status());
      ORDO_RETURN_IF_ERROR(WriteResult(context, *result, progress));
    }
  }
  return ordo::training::v1::FINISHED;
}

}  // namespace

absl::StatusOr<EvaluationResult> RunEvaluation(const TrainerContext& context,
                                               const EvaluationSubject& subject,
                                               Progress* progress) {
  const auto& about = subject.report;
  if (subject.task != nullptr) {
    return RunTask(context, subject, *subject.task, progress);
  }
  ORDO_ASSIGN_OR_RETURN(
      const auto task,
      model::tasks::MakeEvaluationTask(
          about.evaluation, subject.trained_on,
          DataOf(context, {about.attempt, 0, about.step}, progress)));
  return RunTask(context, subject, *task, progress);
}

absl::StatusOr<EvaluationResult> RunTask(
    const TrainerContext& context, const EvaluationSubject& subject,
    const model::tasks::EvaluationTask& task, Progress* progress) {
  const auto& about = subject.report;
  const auto* entry = model::catalog::Find(
      model::catalog::Kind::kEvaluationTask, about.evaluation.task());
  model::evaluation::EvaluateOptions options;
  options.micro_batch = entry->evaluation.micro_batch;
  options.seed = about.evaluation.seed();
  EvaluationResult result;
  result.report = about;
  result.report.task_version = entry->evaluation.version;
  // What a GPU's kernels compute.
  if (subject.model->device().is_cuda()) result.report.precision = "bf16";
  if (task->inside() != nullptr) {
    // Looked at by plain operations, in a precision of its own.
    result.report.precision = task->inside()->precision;
    result.report.evaluation.clear_kernel();
  }
  options.precision = result.report.precision;
  options.kernel = about.evaluation.kernel();
  options.should_stop = context.stop_requested;
  options.on_progress = [&](int64_t num_done, int64_t num_total) {
    ordo::training::v1::EvaluationProgress record;
    record.set_name(subject.shown_as.empty() ? about.evaluation.name()
                                             : subject.shown_as);
    record.set_step(about.step);
    record.set_done(num_done);
    record.set_total(num_total);
    progress->Evaluation(record);
  };
  ORDO_ASSIGN_OR_RETURN(result.outcome, model::evaluation::Evaluate(
                                            *subject.model, task, options));
  ORDO_ASSIGN_OR_RETURN(result.report.checkpoint, subject.checkpoint());
  return result;
}

absl::StatusOr<LoadedModel> LoadSource(
    const TrainerContext& context, const CheckpointSource& source,
    const model::training::LoadOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        FolderOfSource(context, source));
  auto loaded = model::training::LoadModel(context.files, folder,
                                           source.manifest_sha256(), options);
  if (loaded.ok()) return loaded;
  return NotLoaded(loaded.status(), source);
}

absl::StatusOr<int64_t> StepOfSource(const TrainerContext& context,
                                     const CheckpointSource& source) {
  if (source.step() > 0) return source.step();
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        FolderOfSource(context, source));
  return model::training::ReadStep(context.files, folder).value_or(0);
}

absl::Status WriteResult(const TrainerContext& context,
                         const EvaluationResult& result, Progress* progress) {
  const auto report = model::evaluation::WriteReport(
      context.files, context.job_folder, result.report, result.outcome);
  ORDO_RETURN_IF_ERROR(
      WithExitCode(report.status(), ordo::training::v1::STORAGE_ERROR));
  progress->Report(*report, result.report.evaluation.name());
  base::LogInfo("report written", {{"id", result.report.id}});
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> EvaluateCheckpoints(const TrainerContext& context,
                                             const EvaluateSpec& spec,
                                             Progress* progress) {
  ordo::training::v1::TrainerStarted started;
  started.set_build_digest(context.build_digest);
  started.set_exact(true);
  progress->Started(started);
  const absl::StatusOr<ExitCode> code = EvaluateAll(context, spec, progress);
  ordo::training::v1::TrainerFinished finished;
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(!code.ok() ? std::string(code.status().message())
                       : *code == ordo::training::v1::FINISHED
                           ? "all evaluations are done"
                           : "stopped on request");
  const absl::Status told = progress->Finished(finished);
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer

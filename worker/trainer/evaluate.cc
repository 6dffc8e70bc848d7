#include "worker/trainer/evaluate.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/catalog/result_key.h"
#include "model/evaluation/answer_log.h"
#include "model/evaluation/evaluate.h"
#include "model/evaluation/taken_report.h"
#include "model/formats/config_file.h"
#include "model/tasks/registry.h"
#include "model/training/checkpoint.h"
#include "model/training/model_config.h"
#include "model/training/numerics.h"
#include "worker/trainer/data.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::evaluation::AnswerLog;
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

// A model as it is evaluated.
struct Evaluated {
  int64_t step;
  const std::optional<Component>& encoding;
};

struct DueReport {
  // Path of its evaluation in the job's spec.
  std::string field;
  model::evaluation::ReportSubject report;
};

// Reports of one checkpoint that are not finished yet.
std::vector<DueReport> DueReports(const EvaluateSpec& spec,
                                  const Evaluated& evaluated,
                                  std::set<std::string>* taken) {
  const std::set<std::string> finished(spec.finished_reports().begin(),
                                       spec.finished_reports().end());
  std::vector<DueReport> due;
  for (int i = 0; i < spec.evaluations_size(); ++i) {
    const auto& evaluation = spec.evaluations(i);
    model::evaluation::ReportSubject report;
    report.job = spec.job();
    report.attempt = spec.attempt();
    report.step = evaluated.step;
    report.evaluation = evaluation;
    report.encoding = evaluated.encoding;
    report.id = UniqueId(model::evaluation::ReportId(evaluation, evaluated.step,
                                                     evaluated.encoding),
                         taken);
    if (finished.count(report.id) != 0) continue;
    due.push_back({absl::StrCat("evaluations[", i, "]"), std::move(report)});
  }
  return due;
}

// What all checkpoints of a task are evaluated with.
struct Work {
  const TrainerContext& context;
  const EvaluateSpec& spec;
  c10::Device device;
  Progress* progress;
};

// Reports on one checkpoint.
class CheckpointReports {
 public:
  // All outlive this. `encoding` takes the place of the checkpoint's own.
  CheckpointReports(const Work& work, const CheckpointSource& source,
                    const std::optional<Component>& encoding)
      : work_(work),
        source_(source),
        reader_(work.context, source,
                {encoding ? &*encoding : nullptr, work.device}) {}

  // Evaluates, or takes the result over. CANCELLED on a request to stop; errors
  // of an evaluation name its field.
  absl::Status Make(DueReport due) {
    model::evaluation::ReportSubject& report = due.report;
    ORDO_ASSIGN_OR_RETURN(const ordo::training::v1::Data* trained_on,
                          reader_.TrainedOn());
    ORDO_ASSIGN_OR_RETURN(
        const std::shared_ptr<const model::tasks::EvaluationTask> task,
        AtEvaluation(model::tasks::MakeEvaluationTask(
                         report.evaluation, trained_on,
                         DataOf(work_.context, {report.attempt, 0, report.step},
                                work_.progress)),
                     due.field));
    report.checkpoint = NameOfSource(source_);
    if (!source_.manifest_sha256().empty()) {
      const EvaluateSpec& spec = work_.spec;
      report.key = KeyOf({source_.manifest_sha256(), report.evaluation,
                          spec.has_encoding() ? &spec.encoding() : nullptr,
                          spec.resources().device(), task->data_fingerprint()});
      if (TakeKnown(work_.context, spec.known_results(), report,
                    work_.progress)) {
        return absl::OkStatus();
      }
    }
    EvaluationSubject subject;
    ORDO_ASSIGN_OR_RETURN(subject.model, reader_.Model());
    subject.report = std::move(report);
    subject.trained_on = trained_on;
    subject.task = task;
    subject.checkpoint = [this] { return NameOfSource(source_); };
    ORDO_ASSIGN_OR_RETURN(
        const EvaluationResult result,
        AtEvaluation(RunEvaluation(work_.context, subject, work_.progress),
                     due.field));
    return WriteResult(work_.context, result, work_.progress).status();
  }

 private:
  const Work& work_;
  const CheckpointSource& source_;
  LazySource reader_;
};

absl::StatusOr<ExitCode> EvaluateAll(const TrainerContext& context,
                                     const EvaluateSpec& spec,
                                     Progress* progress) {
  ORDO_ASSIGN_OR_RETURN(const c10::Device device,
                        OpenDevice(context, spec.resources()));
  model::training::ConfigureNumerics(spec.resources().threads());
  const Work work{context, spec, device, progress};
  WarnOfResultsLeftOut(spec.num_results_left_out(), progress);
  std::set<std::string> taken;
  for (const CheckpointSource& source : spec.checkpoints()) {
    ORDO_ASSIGN_OR_RETURN(const int64_t step, StepOfSource(context, source));
    ORDO_ASSIGN_OR_RETURN(const auto encoding,
                          ResolveEncoding(context, spec, source));
    CheckpointReports reports(work, source, encoding);
    for (DueReport& due : DueReports(spec, {step, encoding}, &taken)) {
      ORDO_RETURN_IF_ERROR(progress->CheckFolder());
      const absl::Status made = reports.Make(std::move(due));
      if (absl::IsCancelled(made)) return ordo::training::v1::STOPPED;
      ORDO_RETURN_IF_ERROR(made);
    }
  }
  return ordo::training::v1::FINISHED;
}

// What this and earlier attempts have answered so far; null without a key, and
// where nothing can be kept.
std::unique_ptr<AnswerLog> OpenAnswerLog(const TrainerContext& context,
                                         const EvaluationSubject& subject) {
  const auto& report = subject.report;
  const auto& key = report.key ? report.key : subject.kept_by;
  if (!key) return nullptr;
  const auto path_of = [&](int attempt) {
    return base::JoinPath(AttemptFolder(context, attempt),
                          absl::StrCat(report.id, ".answers"));
  };
  model::evaluation::AnswerLogOptions options;
  options.path = path_of(report.attempt);
  // Another build may compute otherwise.
  options.key =
      absl::StrCat(model::catalog::KeyDigest(*key), " ", context.build_digest);
  for (int attempt = 1; attempt < report.attempt; ++attempt) {
    options.earlier.push_back(path_of(attempt));
  }
  absl::Status status =
      context.files.MakeFolders(AttemptFolder(context, report.attempt));
  if (status.ok()) {
    auto log = AnswerLog::Open(context.files, options);
    if (log.ok()) return *std::move(log);
    status = log.status();
  }
  base::LogWarning("answers are not kept for a restart",
                   {{"report", report.id}, {"error", status}});
  return nullptr;
}

}  // namespace

ordo::training::v1::ResultKey KeyOf(const AnsweredQuestion& answered) {
  auto key =
      model::catalog::QuestionOf({answered.manifest_sha256, answered.evaluation,
                                  answered.encoding, answered.device});
  key.set_task_version(
      model::catalog::Find(model::catalog::Kind::kEvaluationTask,
                           answered.evaluation.task())
          ->evaluation.version);
  key.set_precision(model::catalog::EvaluationPrecision(key.device()));
  if (key.kernel().empty()) {
    key.set_kernel(
        model::catalog::BestOf(model::training::KernelsIn(key.precision())));
  }
  key.set_data_fingerprint(answered.data_fingerprint);
  return key;
}

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
  result.data_fingerprint = task.data_fingerprint();
  result.report.precision = model::catalog::EvaluationPrecision(
      subject.model->device().is_cuda() ? "cuda" : "cpu");
  if (task.inside() != nullptr) {
    // Looked at by plain operations, in a precision of its own.
    result.report.precision = task.inside()->precision;
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
  const std::unique_ptr<AnswerLog> log = OpenAnswerLog(context, subject);
  options.log = log.get();
  ORDO_ASSIGN_OR_RETURN(result.outcome, model::evaluation::Evaluate(
                                            *subject.model, task, options));
  if (log != nullptr) log->Remove();
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

absl::StatusOr<const ordo::training::v1::Data*> LazySource::TrainedOn() {
  if (!data_) {
    ORDO_ASSIGN_OR_RETURN(const std::string folder,
                          FolderOfSource(context_, source_));
    const auto config = model::formats::ReadConfigFile(context_.files, folder,
                                                       options_.encoding);
    if (!config.ok()) return NotLoaded(config.status(), source_);
    data_ = config->config.data;
  }
  return data_->task().empty() ? nullptr : &*data_;
}

absl::StatusOr<const model::transformer::Transformer*> LazySource::Model() {
  if (!loaded_) {
    ORDO_ASSIGN_OR_RETURN(loaded_, LoadSource(context_, source_, options_));
  }
  return loaded_->transformer.get();
}

bool TakeKnown(const TrainerContext& context, const KnownResults& known,
               const model::evaluation::ReportSubject& report,
               Progress* progress) {
  const std::string key = model::catalog::KeyDigest(*report.key);
  for (const auto& each : known) {
    if (each.key() != key) continue;
    const auto folder = base::JoinUnder(context.storage_root, each.path());
    const auto taken = !folder.ok()
                           ? folder.status()
                           : model::evaluation::TakeReport(
                                 context.files, context.job_folder, report,
                                 {each.report(), *folder, each.files_sha256()});
    if (taken.ok()) {
      progress->Report(*taken, report.evaluation.name());
      base::LogInfo("report taken over",
                    {{"id", report.id}, {"from", each.report()}});
      return true;
    }
    progress->Warning(absl::StrCat("report ", report.id,
                                   " is evaluated again, since ", each.report(),
                                   ", which has its result, cannot be "
                                   "taken over: ",
                                   taken.status().message()));
  }
  return false;
}

void WarnOfResultsLeftOut(int32_t number, Progress* progress) {
  if (number == 0) return;
  progress->Warning(absl::StrCat(
      number,
      " results that are known had no room in the task, and are evaluated "
      "again; ask less in one job: fewer checkpoints or evaluations"));
}

absl::StatusOr<ordo::training::v1::ReportWritten> WriteResult(
    const TrainerContext& context, const EvaluationResult& result,
    Progress* progress) {
  auto report = model::evaluation::WriteReport(
      context.files, context.job_folder, result.report, result.outcome);
  ORDO_RETURN_IF_ERROR(
      WithExitCode(report.status(), ordo::training::v1::STORAGE_ERROR));
  progress->Report(*report, result.report.evaluation.name());
  base::LogInfo("report written", {{"id", result.report.id}});
  return report;
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

#include "worker/trainer/gate_subjects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/catalog/gate.h"
#include "model/catalog/result_key.h"
#include "worker/trainer/data.h"

namespace ordo::worker::trainer {

using ordo::training::v1::CheckpointSource;
using ordo::training::v1::Data;
using ordo::training::v1::GateSpec;

GateSubjects::GateSubjects(const TrainerContext& context, const GateSpec& spec,
                           Progress* progress)
    : context_(context),
      spec_(spec),
      progress_(progress),
      known_(spec.known_results()) {
  for (const auto& evaluation : spec.evaluations()) {
    growths_.push_back(
        model::catalog::GrowthOf(evaluation, spec.gate().max_items()));
  }
  for (const auto& [id, folder] : spec.finished_reports()) {
    folders_[id] = base::JoinPath(context.storage_root, folder);
  }
  WarnOfResultsLeftOut(spec.num_results_left_out(), progress);
}

absl::Status GateSubjects::Evaluate(int subject,
                                    const std::vector<WantedPiece>& wanted,
                                    c10::Device device) {
  std::vector<WantedPiece> missing;
  for (const WantedPiece& each : wanted) {
    if (!IsThere(subject, each)) missing.push_back(each);
  }
  if (missing.empty()) return absl::OkStatus();
  const CheckpointSource& source = spec_.subjects(subject).checkpoint();
  ORDO_ASSIGN_OR_RETURN(const int64_t step, StepOfSource(context_, source));
  LazySource reader(context_, source, {nullptr, device});
  EvaluationSubject about;
  ORDO_ASSIGN_OR_RETURN(about.trained_on, reader.TrainedOn());
  about.checkpoint = [&source] { return NameOfSource(source); };
  about.report.checkpoint = NameOfSource(source);
  about.report.job = spec_.job();
  about.report.attempt = spec_.attempt();
  about.report.step = step;
  for (const WantedPiece& each : missing) {
    const std::string field =
        absl::StrCat("evaluations[", each.evaluation, "]");
    const PieceQuestions questions = QuestionsOf(each, about.trained_on);
    about.report.evaluation = EvaluationOf(questions);
    about.report.id = IdOf(subject, each);
    about.shown_as = about.report.id;
    ORDO_RETURN_IF_ERROR(progress_->CheckFolder());
    ORDO_ASSIGN_OR_RETURN(
        const auto task,
        AtEvaluation(
            MakePiece(questions,
                      DataOf(context_, {spec_.attempt(), 0, step}, progress_)),
            field));
    about.report.key.reset();
    if (each.piece.count == 0 && !source.manifest_sha256().empty()) {
      about.report.key =
          KeyOf({source.manifest_sha256(), about.report.evaluation, nullptr,
                 spec_.resources().device(), task->data_fingerprint()});
    }
    const bool is_taken = about.report.key.has_value() &&
                          TakeKnown(context_, known_, about.report, progress_);
    if (!is_taken) {
      ORDO_ASSIGN_OR_RETURN(about.model, reader.Model());
      ORDO_ASSIGN_OR_RETURN(
          const auto result,
          AtEvaluation(RunTask(context_, about, *task, progress_), field));
      ORDO_ASSIGN_OR_RETURN(const auto written,
                            WriteResult(context_, result, progress_));
      Remember(written);
    }
    folders_[about.report.id] = base::JoinPath(
        context_.job_folder,
        absl::StrCat("results/", about.report.id, "-", spec_.attempt()));
  }
  return absl::OkStatus();
}

void GateSubjects::Remember(const ordo::training::v1::ReportWritten& written) {
  if (!written.has_key()) return;
  const std::string job = absl::StrCat("jobs/", spec_.job(), "/");
  ordo::training::v1::KnownResult& known = *known_.Add();
  known.set_key(model::catalog::KeyDigest(written.key()));
  known.set_report(absl::StrCat(job, "reports/", written.id()));
  known.set_path(job + written.folder());
  known.set_files_sha256(model::catalog::FilesDigest(written.files()));
}

std::string GateSubjects::FolderOf(int subject,
                                   const WantedPiece& wanted) const {
  const std::string& report = spec_.subjects(subject).report();
  if (!report.empty()) return base::JoinPath(context_.storage_root, report);
  return folders_.at(IdOf(subject, wanted));
}

PieceQuestions GateSubjects::QuestionsOf(const WantedPiece& wanted,
                                         const Data* trained_on) const {
  return {spec_.evaluations(wanted.evaluation), growths_[wanted.evaluation],
          wanted.piece, trained_on};
}

bool GateSubjects::IsThere(int subject, const WantedPiece& wanted) const {
  return !spec_.subjects(subject).report().empty() ||
         folders_.count(IdOf(subject, wanted)) > 0;
}

std::string GateSubjects::IdOf(int subject, const WantedPiece& wanted) const {
  return ReportIdOf(spec_.evaluations(wanted.evaluation),
                    spec_.subjects(subject).role(), wanted.piece);
}

}  // namespace ordo::worker::trainer

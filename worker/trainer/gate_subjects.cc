#include "worker/trainer/gate_subjects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/catalog/gate.h"
#include "worker/trainer/data.h"
#include "worker/trainer/evaluate.h"

namespace ordo::worker::trainer {

using ordo::training::v1::CheckpointSource;
using ordo::training::v1::Data;
using ordo::training::v1::GateSpec;

GateSubjects::GateSubjects(const TrainerContext& context, const GateSpec& spec,
                           Progress* progress)
    : context_(context), spec_(spec), progress_(progress) {
  for (const auto& evaluation : spec.evaluations()) {
    growths_.push_back(
        model::catalog::GrowthOf(evaluation, spec.gate().max_items()));
  }
  for (const auto& [id, folder] : spec.finished_reports()) {
    folders_[id] = base::JoinPath(context.storage_root, folder);
  }
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
  ORDO_ASSIGN_OR_RETURN(const auto loaded,
                        LoadSource(context_, source, {nullptr, device}));
  EvaluationSubject about;
  about.model = loaded.transformer.get();
  about.trained_on =
      loaded.config.data.task().empty() ? nullptr : &loaded.config.data;
  about.checkpoint = [&source] { return NameOfSource(source); };
  about.report.job = spec_.job();
  about.report.attempt = spec_.attempt();
  about.report.step = step;
  for (const WantedPiece& each : missing) {
    const PieceQuestions questions = QuestionsOf(each, about.trained_on);
    about.report.evaluation = EvaluationOf(questions);
    about.report.id = IdOf(subject, each);
    about.shown_as = about.report.id;
    ORDO_RETURN_IF_ERROR(progress_->CheckFolder());
    ORDO_ASSIGN_OR_RETURN(
        const auto task,
        MakePiece(questions,
                  DataOf(context_, {spec_.attempt(), 0, step}, progress_)));
    ORDO_ASSIGN_OR_RETURN(const auto result,
                          RunTask(context_, about, *task, progress_));
    ORDO_RETURN_IF_ERROR(WriteResult(context_, result, progress_));
    folders_[about.report.id] = base::JoinPath(
        context_.job_folder,
        absl::StrCat("results/", about.report.id, "-", spec_.attempt()));
  }
  return absl::OkStatus();
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

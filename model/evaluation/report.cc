#include "model/evaluation/report.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/training/durable_folder.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {

std::string ReportId(const ordo::training::v1::Evaluation& evaluation,
                     int64_t step) {
  const std::string& name =
      evaluation.name().empty() ? evaluation.task() : evaluation.name();
  return absl::StrCat(name, "-", step);
}

absl::StatusOr<ordo::training::v1::ReportWritten> WriteReport(
    base::Filesystem& files, const std::string& job_folder,
    const ReportSubject& subject, const tasks::Scores& scores) {
  nlohmann::ordered_json result;
  result["task"] = subject.evaluation.task();
  result["name"] = subject.evaluation.name();
  result["job"] = subject.job;
  result["attempt"] = subject.attempt;
  result["step"] = subject.step;
  result["checkpoint"] = subject.checkpoint;
  result["seed"] = subject.evaluation.seed();
  result["precision"] = subject.precision;
  result.update(scores.details);
  result["metrics"] = scores.metrics;

  ordo::training::v1::ReportWritten report;
  report.set_id(subject.id);
  report.set_kind("evaluation");
  report.set_task(subject.evaluation.task());
  report.set_step(subject.step);
  report.set_checkpoint(subject.checkpoint);
  report.set_folder(absl::StrCat("results/", subject.id, "-", subject.attempt));
  report.mutable_metrics()->insert(scores.metrics.begin(),
                                   scores.metrics.end());
  std::vector<training::NamedBytes> contents = {
      {"result.json", result.dump(2) + "\n"},
      {"table.csv", scores.csv},
      {"table.md", scores.markdown},
  };
  ORDO_ASSIGN_OR_RETURN(
      const auto infos,
      base::AddContext(
          training::WriteFolder(
              files, base::JoinPath(job_folder, report.folder()), contents),
          absl::StrCat("write report ", subject.id)));
  report.mutable_files()->Assign(infos.begin(), infos.end());
  return report;
}

}  // namespace ordo::model::evaluation

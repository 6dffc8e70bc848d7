#include "model/evaluation/report.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "model/training/durable_folder.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {

namespace {

// Digits of the digest in an id: enough to tell apart what one job evaluates.
constexpr size_t kDigestDigits = 8;

std::string TextOf(const ordo::training::v1::Component& encoding) {
  return base::WriteMessage(encoding, base::TextForm::kJson);
}

}  // namespace

std::string ReportId(
    const ordo::training::v1::Evaluation& evaluation, int64_t step,
    const std::optional<ordo::training::v1::Component>& encoding) {
  const std::string& name =
      evaluation.name().empty() ? evaluation.task() : evaluation.name();
  if (!encoding) return absl::StrCat(name, "-", step);
  return absl::StrCat(
      name, "-", step, "-", encoding->name(), "-",
      base::Sha256Hex(TextOf(*encoding)).substr(0, kDigestDigits));
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
  if (!subject.evaluation.kernel().empty()) {
    result["kernel"] = subject.evaluation.kernel();
  }
  if (subject.encoding) {
    result["encoding"] = nlohmann::ordered_json::parse(
        TextOf(*subject.encoding), nullptr, /*allow_exceptions=*/false);
  }
  result.update(scores.details);
  result["metrics"] = scores.metrics;

  ordo::training::v1::ReportWritten report;
  report.set_id(subject.id);
  report.set_kind("evaluation");
  report.set_task(subject.evaluation.task());
  report.set_step(subject.step);
  report.set_checkpoint(subject.checkpoint);
  if (subject.encoding) *report.mutable_encoding() = *subject.encoding;
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

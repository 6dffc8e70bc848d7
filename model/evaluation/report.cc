#include "model/evaluation/report.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "model/catalog/result_key.h"
#include "model/training/durable_folder.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {

namespace {

using Json = nlohmann::ordered_json;

// Digits of the digest in an id: enough to tell apart what one job evaluates.
constexpr size_t kDigestDigits = 8;

std::string TextOf(const ordo::training::v1::Component& encoding) {
  return base::WriteMessage(encoding, base::TextForm::kJson);
}

Json ParamsOf(const ordo::training::v1::Evaluation& evaluation) {
  const Json whole =
      Json::parse(base::WriteMessage(evaluation, base::TextForm::kJson),
                  nullptr, /*allow_exceptions=*/false);
  return whole.value("params", Json::object());
}

Json ResultOf(const ReportSubject& subject, const Outcome& outcome) {
  Json result;
  result["task"] = subject.evaluation.task();
  result["task_version"] = subject.task_version;
  result["params"] = ParamsOf(subject.evaluation);
  result["name"] = subject.evaluation.name();
  result["job"] = subject.job;
  result["attempt"] = subject.attempt;
  result["step"] = subject.step;
  result["checkpoint"] = subject.checkpoint;
  result["seed"] = subject.evaluation.seed();
  result["items"] = outcome.items.size();
  result["precision"] = subject.precision;
  if (!subject.evaluation.kernel().empty()) {
    result["kernel"] = subject.evaluation.kernel();
  }
  if (subject.encoding) {
    result["encoding"] = Json::parse(TextOf(*subject.encoding), nullptr,
                                     /*allow_exceptions=*/false);
  }
  if (subject.key) result["key"] = catalog::KeyDigest(*subject.key);
  if (!outcome.scores.details.is_null()) {
    result.update(outcome.scores.details);
  }
  result["metrics"] = outcome.scores.metrics;
  if (!outcome.scores.standard_errors.empty()) {
    result["standard_errors"] = outcome.scores.standard_errors;
  }
  for (const auto& [name, sampled] : outcome.scores.sampled) {
    result["sampled"][name] = {{"units", sampled.units},
                               {"items", sampled.items}};
  }
  return result;
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

ordo::training::v1::ReportWritten BeginReport(const ReportSubject& subject) {
  ordo::training::v1::ReportWritten report;
  report.set_id(subject.id);
  report.set_kind("evaluation");
  report.set_task(subject.evaluation.task());
  report.set_task_version(subject.task_version);
  report.set_step(subject.step);
  report.set_checkpoint(subject.checkpoint);
  if (subject.encoding) *report.mutable_encoding() = *subject.encoding;
  if (subject.key) *report.mutable_key() = *subject.key;
  report.set_folder(absl::StrCat("results/", subject.id, "-", subject.attempt));
  return report;
}

absl::StatusOr<ordo::training::v1::ReportWritten> WriteReport(
    base::Filesystem& files, const std::string& job_folder,
    const ReportSubject& subject, const Outcome& outcome) {
  ordo::training::v1::ReportWritten report = BeginReport(subject);
  const tasks::Scores& scores = outcome.scores;
  report.mutable_metrics()->insert(scores.metrics.begin(),
                                   scores.metrics.end());
  std::vector<training::NamedBytes> small = {
      {kResultFile, ResultOf(subject, outcome).dump(2) + "\n"},
      {"table.csv", scores.csv},
      {"table.md", scores.markdown},
  };
  for (const auto& [name, content] : scores.files) {
    small.push_back({name, content});
  }
  const auto fill = [&](const std::string& aside) -> absl::Status {
    for (const training::NamedBytes& file : small) {
      ORDO_ASSIGN_OR_RETURN(*report.add_files(),
                            training::WriteNamed(files, aside, file));
    }
    ORDO_ASSIGN_OR_RETURN(*report.add_files(),
                          WriteItems(files, aside, outcome.items));
    return absl::OkStatus();
  };
  ORDO_RETURN_IF_ERROR(base::AddContext(
      training::WriteAside(files, base::JoinPath(job_folder, report.folder()),
                           fill),
      absl::StrCat("write report ", subject.id)));
  return report;
}

}  // namespace ordo::model::evaluation

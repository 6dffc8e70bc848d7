#ifndef ORDO_MODEL_EVALUATION_REPORT_H_
#define ORDO_MODEL_EVALUATION_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/evaluation/items.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/result_key.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::evaluation {

inline constexpr char kResultFile[] = "result.json";

// What a report is about.
struct ReportSubject {
  std::string job;
  int attempt = 1;
  // Resolved.
  ordo::training::v1::Evaluation evaluation;
  // Of the evaluation's task (catalog::EvaluationTraits).
  int task_version = 1;
  // Id of the report, unique in the job.
  std::string id;
  // Step of the model, and the checkpoint that holds it.
  int64_t step = 0;
  std::string checkpoint;
  // In which the answers were computed: "fp32" or "bf16".
  std::string precision = "fp32";
  // What took the place of the model's own encoding, resolved.
  std::optional<ordo::training::v1::Component> encoding = {};
  // What the result is known by; unset: it is not asked for by that.
  std::optional<ordo::training::v1::ResultKey> key = {};
};

// <evaluation name>-<step>, and of a model whose encoding was replaced
// -<encoding>-<first digits of the digest of its resolved form>: under another
// encoding it is another result.
std::string ReportId(
    const ordo::training::v1::Evaluation& evaluation, int64_t step,
    const std::optional<ordo::training::v1::Component>& encoding = {});

// What is known of a report before its result: files and metrics are left out.
ordo::training::v1::ReportWritten BeginReport(const ReportSubject& subject);

// Writes result.json (everything but the items), table.csv, table.md, the
// scores' own files and items.jsonl (items.h) to
// <job_folder>/results/<id>-<attempt>, durable and whole or not at all.
absl::StatusOr<ordo::training::v1::ReportWritten> WriteReport(
    base::Filesystem& files, const std::string& job_folder,
    const ReportSubject& subject, const Outcome& outcome);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_REPORT_H_

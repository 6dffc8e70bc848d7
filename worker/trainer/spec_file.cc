#include "worker/trainer/spec_file.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/version/worker_protocol.h"
#include "base/yaml/limits.h"
#include "base/yaml/text_form.h"
#include "model/catalog/fine_tuning.h"
#include "model/catalog/resolve.h"
#include "model/catalog/resolve_data.h"
#include "model/catalog/resolve_model.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::training::v1::SummarizeSpec;

template <typename Spec>
using Resolver = absl::StatusOr<Spec> (*)(Spec);

absl::Status ThatIsAJobFile() {
  return base::InvalidField(
      "kind",
      "this is a job file; run it with `ordo submit`, or leave out kind, "
      "name, labels, queue and retry: see `ordo-trainer help`");
}

template <typename Spec>
absl::StatusOr<Spec> ReadAndResolve(base::Filesystem& files,
                                    const std::string& path,
                                    Resolver<Spec> resolve) {
  ORDO_ASSIGN_OR_RETURN(const base::TextForm form, base::TextFormOfFile(path));
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, base::kMaxTextBytes));
  ORDO_ASSIGN_OR_RETURN(const auto read,
                        base::ReadMessagesOf<Spec>(text, form));
  ORDO_RETURN_IF_ERROR(base::CheckHoldsOne(read.size(), *Spec::descriptor()));
  std::vector<base::FieldViolation> wrong = read[0].violations;
  for (const base::FieldViolation& violation : wrong) {
    if (violation.field == "kind") return ThatIsAJobFile();
  }
  absl::StatusOr<Spec> resolved = resolve(read[0].message);
  const auto values = base::WithoutUnread(
      base::FieldViolations(resolved.status()), read[0].violations);
  wrong.insert(wrong.end(), values.begin(), values.end());
  ORDO_RETURN_IF_ERROR(base::InvalidFields(wrong));
  return resolved;
}

absl::StatusOr<ordo::training::v1::TrainSpec> ResolveModelSpec(
    ordo::training::v1::TrainSpec spec) {
  std::vector<base::FieldViolation> violations;
  int vocabulary_size = 0;
  if (spec.has_data()) {
    const auto* task =
        model::catalog::ResolveData("data", spec.mutable_data(), &violations);
    if (task != nullptr && violations.empty()) {
      vocabulary_size =
          model::catalog::VocabularyOf(*task, spec.data().params());
    }
  }
  model::catalog::ResolveModel("model", vocabulary_size, spec.mutable_model(),
                               &violations);
  model::catalog::ResolveEncoding("encoding", spec.model(),
                                  spec.mutable_encoding(), &violations);
  model::catalog::ResolveFineTuning("training", spec.mutable_training(),
                                    &violations);
  if (violations.empty()) {
    model::catalog::CheckFineTuning("training", spec.training(), spec.model(),
                                    &violations);
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return spec;
}

absl::StatusOr<SummarizeSpec> CheckSummarizeSpec(SummarizeSpec spec) {
  std::vector<base::FieldViolation> violations;
  if (spec.job().empty()) violations.push_back({"job", "required"});
  if (spec.attempt() < 1) spec.set_attempt(1);
  if (spec.parts().empty()) {
    violations.push_back({"parts", "required; name at least one"});
  }
  for (int i = 0; i < spec.parts_size(); ++i) {
    if (spec.parts(i).job().empty()) {
      violations.push_back({absl::StrCat("parts[", i, "].job"), "required"});
    }
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return spec;
}

absl::StatusOr<SummarizeSpec> ReadBinary(base::Filesystem& files,
                                         const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::string bytes,
                        base::ReadFile(files, path, base::kMaxDesiredSetBytes));
  SummarizeSpec spec;
  if (!spec.ParseFromString(bytes)) {
    return absl::InvalidArgumentError("is no binary SummarizeSpec");
  }
  return CheckSummarizeSpec(std::move(spec));
}

template <typename Spec>
absl::StatusOr<Spec> Read(base::Filesystem& files, const std::string& path,
                          Resolver<Spec> resolve) {
  absl::StatusOr<Spec> spec = ReadAndResolve(files, path, resolve);
  if (spec.ok()) return spec;
  return WithExitCode(
      base::AddContext(spec.status(), absl::StrCat("read task ", path)),
      ordo::training::v1::BAD_SPEC);
}

}  // namespace

absl::StatusOr<ordo::training::v1::TrainSpec> ReadTrainSpec(
    base::Filesystem& files, const std::string& path) {
  return Read(files, path, model::catalog::ResolveTrainSpec);
}

absl::StatusOr<ordo::training::v1::TrainSpec> ReadModelSpec(
    base::Filesystem& files, const std::string& path) {
  return Read(files, path, ResolveModelSpec);
}

absl::StatusOr<ordo::training::v1::EvaluateSpec> ReadEvaluateSpec(
    base::Filesystem& files, const std::string& path) {
  return Read(files, path, model::catalog::ResolveEvaluateSpec);
}

absl::StatusOr<ordo::training::v1::BenchmarkSpec> ReadBenchmarkSpec(
    base::Filesystem& files, const std::string& path) {
  return Read(files, path, model::catalog::ResolveBenchmarkSpec);
}

absl::StatusOr<ordo::training::v1::GateSpec> ReadGateSpec(
    base::Filesystem& files, const std::string& path) {
  return Read(files, path, model::catalog::ResolveGateSpec);
}

absl::StatusOr<SummarizeSpec> ReadSummarizeSpec(base::Filesystem& files,
                                                const std::string& path) {
  if (!absl::EndsWith(path, ".pb")) {
    return Read(files, path, CheckSummarizeSpec);
  }
  absl::StatusOr<SummarizeSpec> spec = ReadBinary(files, path);
  if (spec.ok()) return spec;
  return WithExitCode(
      base::AddContext(spec.status(), absl::StrCat("read task ", path)),
      ordo::training::v1::BAD_SPEC);
}

}  // namespace ordo::worker::trainer

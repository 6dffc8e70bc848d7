#include "model/catalog/resolve.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "model/catalog/benchmark.h"
#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "model/catalog/fine_tuning.h"
#include "model/catalog/gate.h"
#include "model/catalog/kernel_choice.h"
#include "model/catalog/resolve_data.h"
#include "model/catalog/resolve_evaluations.h"
#include "model/catalog/resolve_model.h"
#include "model/catalog/resolve_resources.h"
#include "model/catalog/resolve_training.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

constexpr int kSha256HexLength = 64;

void ResolveSource(const std::string& path, const v1::CheckpointSource& source,
                   Violations* violations) {
  if (source.path().empty()) {
    violations->push_back(
        {FieldPath(path, "path"), "required; the checkpoint's folder"});
  }
  if (source.step() < 0) {
    violations->push_back({FieldPath(path, "step"),
                           absl::StrCat("must be >= 0, is ", source.step())});
  }
  const std::string& digest = source.manifest_sha256();
  if (!digest.empty() &&
      (digest.size() != kSha256HexLength ||
       digest.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    violations->push_back({FieldPath(path, "manifest_sha256"),
                           "must be 64 lower-case hexadecimal digits"});
  }
}

// Whether subject i of a gate is of the role of its place, and has something
// to compare.
void CheckSubject(int i, const v1::GateSpec& spec, Violations* violations) {
  static constexpr const char* kRoles[] = {"candidate", "baseline", "anchor"};
  const v1::GateSpec::Subject& subject = spec.subjects(i);
  const std::string path = absl::StrCat("subjects[", i, "]");
  if (i < 3 && subject.role() != kRoles[i]) {
    violations->push_back(
        {FieldPath(path, "role"), absl::StrCat("must be ", kRoles[i])});
  }
  if (subject.report().empty()) {
    ResolveSource(FieldPath(path, "checkpoint"), subject.checkpoint(),
                  violations);
  } else if (i == 0 || subject.has_checkpoint() ||
             spec.evaluations_size() != 1) {
    violations->push_back(
        {FieldPath(path, "report"),
         "is of one evaluation, in the place of a checkpoint that is compared "
         "with; name the checkpoint, or leave the other evaluations out"});
  }
}

// What names a task's place: its job and attempt. A trainer that runs alone
// has no job, and its attempt is the first.
template <typename Spec>
void ResolveIdentity(Spec* spec, Violations* violations) {
  if (!spec->job().empty() && !IsId(spec->job())) {
    violations->push_back({"job", absl::StrCat("must be ", IdRule())});
  }
  if (spec->attempt() == 0) spec->set_attempt(1);
  if (spec->attempt() < 0) {
    violations->push_back(
        {"attempt", absl::StrCat("must be >= 1, is ", spec->attempt())});
  }
}

void CheckRank(const v1::TrainSpec& spec, Violations* violations) {
  const int ranks = spec.resources().ranks();
  if (spec.rank() < 0 || spec.rank() >= std::max(ranks, 1)) {
    violations->push_back(
        {"rank", absl::StrCat("must be 0 or more and below resources.ranks, ",
                              ranks, ", is ", spec.rank())});
  }
  if (!spec.host().empty() && ranks <= 1) {
    violations->push_back({"host", "is for several ranks; leave it out"});
  }
}

}  // namespace

void ResolveTrainingParts(const TrainingParts& parts, Violations* violations) {
  const size_t num_before = violations->size();
  const Entry* task = ResolveData("data", parts.data, violations);
  const bool data_valid = violations->size() == num_before;
  EvaluationsContext context;
  if (parts.model != nullptr) {
    ResolveModel("model",
                 VocabularyIfKnown(task, data_valid, parts.data->params()),
                 parts.model, violations);
    ResolveEncoding("encoding", *parts.model, parts.encoding, violations);
    context.vocabulary_size = parts.model->vocabulary_size();
    context.causal = parts.model->causal();
  } else if (parts.encoding != nullptr) {
    ResolveComponent(Kind::kEncoding, "encoding", parts.encoding, violations);
  }
  if (data_valid) context.trained_on = parts.data;
  if (violations->size() == num_before && parts.encoding != nullptr) {
    context.max_length = MaxLength(*parts.encoding);
    RefuseLongRows(
        {*task, "data.params", parts.data->params(), context.max_length},
        violations);
    RefuseDocumentsApart(*task, *parts.data, *parts.encoding, violations);
  }
  // Other numbers are complained of below.
  const int ranks = parts.resources->ranks();
  ResolveTraining("training",
                  ranks >= 1 && ranks <= parts.max_ranks ? ranks : 1,
                  parts.training, violations);
  if (violations->size() == num_before && parts.model != nullptr) {
    CheckFineTuning("training", *parts.training, *parts.model, violations);
  }
  ResolveCheckpointPolicy("checkpoint", parts.checkpoint, violations);
  ResolveEvaluations(context, parts.evaluations, violations);
  ResolveResources("resources", parts.resources, violations, parts.max_ranks);
  KernelContext kernels;
  kernels.device = parts.resources->device();
  if (violations->size() == num_before && parts.model != nullptr) {
    kernels.model = parts.model;
    kernels.encoding = parts.encoding;
  }
  CheckTrainingKernel(kernels, *parts.training, violations);
  CheckEvaluationKernels(kernels, *parts.evaluations, violations);
  // Where the data's parameters are wrong they do not say.
  if (data_valid && parts.model != nullptr) {
    RefuseNextTokens(*task, *parts.data, *parts.model, violations);
  }
}

absl::StatusOr<v1::TrainSpec> ResolveTrainSpec(v1::TrainSpec spec) {
  Violations violations;
  if (!spec.model().from().empty()) {
    violations.push_back({"model.from",
                          "is for jobs, where the scheduler finds the "
                          "checkpoint; name its folder in base.path"});
  }
  ResolveIdentity(&spec, &violations);
  ResolveTrainingParts(
      {spec.mutable_data(), spec.mutable_model(), spec.mutable_encoding(),
       spec.mutable_training(), spec.mutable_checkpoint(),
       spec.mutable_evaluations(), spec.mutable_resources(), kMaxRanks},
      &violations);
  CheckRank(spec, &violations);
  for (int i = 0; i < spec.resume_size(); ++i) {
    ResolveSource(absl::StrCat("resume[", i, "]"), spec.resume(i), &violations);
  }
  if (spec.has_start()) ResolveSource("start", spec.start(), &violations);
  if (spec.has_base()) ResolveSource("base", spec.base(), &violations);
  if (spec.has_start() && spec.has_base()) {
    violations.push_back({"base",
                          "not beside start, which brings its own weights; "
                          "leave one of them out"});
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

absl::StatusOr<v1::EvaluateSpec> ResolveEvaluateSpec(v1::EvaluateSpec spec) {
  Violations violations;
  ResolveIdentity(&spec, &violations);
  if (spec.checkpoints().empty()) {
    violations.push_back({"checkpoints", "name at least one"});
  }
  for (int i = 0; i < spec.checkpoints_size(); ++i) {
    ResolveSource(absl::StrCat("checkpoints[", i, "]"), spec.checkpoints(i),
                  &violations);
  }
  if (spec.evaluations().empty()) {
    violations.push_back({"evaluations", "name at least one"});
  }
  ResolveEvaluations({"evaluations", /*in_training=*/false, 0},
                     spec.mutable_evaluations(), &violations);
  // Whether it fits a model is found when that is loaded.
  if (spec.has_encoding()) {
    ResolveComponent(Kind::kEncoding, "encoding", spec.mutable_encoding(),
                     &violations);
  }
  ResolveResources("resources", spec.mutable_resources(), &violations);
  CheckEvaluationKernels({nullptr, nullptr, spec.resources().device()},
                         spec.evaluations(), &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

absl::StatusOr<v1::GateSpec> ResolveGateSpec(v1::GateSpec spec) {
  Violations violations;
  ResolveIdentity(&spec, &violations);
  const int num_subjects = spec.subjects_size();
  if (num_subjects < 2 || num_subjects > 3) {
    violations.push_back(
        {"subjects", "must be candidate, baseline and perhaps anchor"});
  }
  for (int i = 0; i < num_subjects; ++i) {
    CheckSubject(i, spec, &violations);
  }
  if (spec.evaluations().empty()) {
    violations.push_back({"evaluations", "name at least one"});
  }
  ResolveEvaluations({"evaluations", /*in_training=*/false, 0},
                     spec.mutable_evaluations(), &violations);
  // Growth depends on parameters that are right.
  if (violations.empty()) {
    ResolveGate("gate", spec.evaluations(), spec.mutable_gate(), &violations);
  }
  ResolveResources("resources", spec.mutable_resources(), &violations);
  CheckEvaluationKernels({nullptr, nullptr, spec.resources().device()},
                         spec.evaluations(), &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

absl::StatusOr<v1::BenchmarkSpec> ResolveBenchmarkSpec(v1::BenchmarkSpec spec) {
  Violations violations;
  ResolveIdentity(&spec, &violations);
  ResolveResources("resources", spec.mutable_resources(), &violations);
  ResolveBenchmark("benchmark", spec.resources(), spec.mutable_benchmark(),
                   &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

}  // namespace ordo::model::catalog

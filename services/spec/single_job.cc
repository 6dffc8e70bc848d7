#include "services/spec/single_job.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "base/text/labels.h"
#include "google/protobuf/descriptor.h"
#include "model/catalog/benchmark.h"
#include "model/catalog/catalog.h"
#include "model/catalog/kernel_choice.h"
#include "model/catalog/resolve.h"
#include "model/catalog/resolve_evaluations.h"
#include "model/catalog/resolve_resources.h"
#include "services/spec/gate_job.h"
#include "services/spec/references.h"
#include "services/spec/scheduling.h"
#include "services/spec/tuned_by.h"

namespace ordo::services::spec {
namespace {

using model::catalog::Violations;
using ordo::jobs::v1::JobSpec;

constexpr char kForBenchmarks[] = "is for kind: benchmark; leave it out";
constexpr char kForGates[] = "is for kind: gate; leave it out";
constexpr char kForEvaluations[] =
    "is for kind: evaluate, which takes results over that are there; leave it "
    "out";

// Refuses what a spec of many jobs has.
void RefuseParts(const JobSpec& spec, Violations* violations) {
  for (const char* name : {"sweep", "compare", "pipeline"}) {
    RefuseFields({name}, absl::StrCat("is for kind: ", name, "; leave it out"),
                 spec, violations);
  }
}

// Whether the model of a checkpoint has been filled in: by its digest, or, of
// one that is not there yet, as the model of the job that will leave it.
bool IsFilledIn(const ordo::training::v1::Model& model) {
  if (!model.has_layers()) return false;
  return !model.from_sha256().empty() ||
         (model.has_vocabulary_size() && model.has_key_value_heads() &&
          model.has_head_width() && model.has_init_std());
}

void ResolveTrain(JobSpec* spec, Violations* violations) {
  RefuseFields({"checkpoints"},
               "is for kind: evaluate; to go on from a checkpoint use "
               "start_from",
               *spec, violations);
  RefuseFields({"benchmark"}, kForBenchmarks, *spec, violations);
  RefuseFields({"gate"}, kForGates, *spec, violations);
  RefuseFields({"again"}, kForEvaluations, *spec, violations);
  RefuseParts(*spec, violations);
  CheckTunedBy(*spec, violations);
  CheckPacedBy(*spec, violations);
  const bool is_from = !spec->model().from().empty();
  if (is_from) {
    ResolveModelFrom(spec->mutable_model()->mutable_from(), violations);
  } else if (!spec->model().from_sha256().empty()) {
    violations->push_back(
        {"model.from_sha256", "is that of model.from; leave both out or none"});
  }
  const bool has_model = !is_from || IsFilledIn(spec->model());
  const bool has_encoding = has_model || spec->has_encoding();
  model::catalog::ResolveTrainingParts(
      {spec->mutable_data(), has_model ? spec->mutable_model() : nullptr,
       has_encoding ? spec->mutable_encoding() : nullptr,
       spec->mutable_training(), spec->mutable_checkpoint(),
       spec->mutable_evaluations(), spec->mutable_resources(),
       model::catalog::kMaxRanks},
      violations);
  if (spec->start_from().empty()) return;
  ResolveReference("start_from", spec->mutable_start_from(), violations);
  if (is_from) {
    violations->push_back({"start_from",
                           "not beside model.from: it goes on with weights, "
                           "step and optimizer of its own; leave one of them "
                           "out"});
  }
}

// A job that follows another's checkpoints has no others, and waits for them.
void CheckEvery(const JobSpec& spec, const std::string& field,
                Violations* violations) {
  if (spec.checkpoints_size() > 1) {
    violations->push_back(
        {field,
         "stands for all of its job as they come, and for itself alone; "
         "leave out the other checkpoints"});
  }
  if (spec.has_queue_time_limit()) {
    violations->push_back(
        {"queue_time_limit",
         "counts the time between checkpoints too, with .../every; leave it "
         "out"});
  }
}

void ResolveEvaluate(JobSpec* spec, Violations* violations) {
  RefuseFields({"model", "data", "training", "checkpoint", "start_from",
                "tuned_by", "paced_by"},
               "is for kind: train; an evaluation takes it from the checkpoint",
               *spec, violations);
  RefuseFields({"benchmark"}, kForBenchmarks, *spec, violations);
  RefuseFields({"gate"}, kForGates, *spec, violations);
  RefuseParts(*spec, violations);
  // Whether it fits the checkpoints' models is for who knows these.
  if (spec->has_encoding()) {
    model::catalog::ResolveComponent(model::catalog::Kind::kEncoding,
                                     "encoding", spec->mutable_encoding(),
                                     violations);
  }
  if (spec->checkpoints().empty()) {
    violations->push_back({"checkpoints",
                           "required with kind: evaluate; name at least one, "
                           "such as jobs/{job}"});
  }
  if (spec->checkpoints_size() > kMaxCheckpoints) {
    violations->push_back(
        {"checkpoints", absl::StrCat("has ", spec->checkpoints_size(),
                                     " entries; at most ", kMaxCheckpoints)});
  } else {
    std::set<std::string> seen;
    for (int i = 0; i < spec->checkpoints_size(); ++i) {
      const std::string field = absl::StrCat("checkpoints[", i, "]");
      std::string* reference = spec->mutable_checkpoints(i);
      ResolveEvaluated(field, reference, violations);
      if (NamesEvery(*reference)) CheckEvery(*spec, field, violations);
      if (!seen.insert(*reference).second) {
        violations->push_back(
            {field, absl::StrCat("'", *reference, "' is there twice")});
      }
    }
  }
  if (spec->evaluations().empty()) {
    violations->push_back(
        {"evaluations", "required with kind: evaluate; name at least one"});
  }
  model::catalog::EvaluationsContext context;
  context.in_training = false;
  model::catalog::ResolveEvaluations(context, spec->mutable_evaluations(),
                                     violations);
  model::catalog::ResolveResources("resources", spec->mutable_resources(),
                                   violations);
  model::catalog::CheckEvaluationKernels(
      {nullptr, nullptr, spec->resources().device()}, spec->evaluations(),
      violations);
}

void ResolveBenchmark(JobSpec* spec, Violations* violations) {
  RefuseFields(
      {"model", "encoding", "data", "training", "checkpoint", "evaluations",
       "checkpoints", "start_from", "gate", "tuned_by", "paced_by", "again"},
      "has no meaning with kind: benchmark; leave it out", *spec, violations);
  RefuseParts(*spec, violations);
  model::catalog::ResolveResources("resources", spec->mutable_resources(),
                                   violations);
  model::catalog::ResolveBenchmark("benchmark", spec->resources(),
                                   spec->mutable_benchmark(), violations);
}

void ResolveGateKind(JobSpec* spec, Violations* violations) {
  RefuseFields({"model", "encoding", "data", "training", "checkpoint",
                "start_from", "tuned_by", "paced_by"},
               "has no meaning with kind: gate, which takes it from the "
               "checkpoints; leave it out",
               *spec, violations);
  RefuseFields({"checkpoints"},
               "is for kind: evaluate; a gate has gate.candidate, "
               "gate.baseline and gate.anchor",
               *spec, violations);
  RefuseFields({"benchmark"}, kForBenchmarks, *spec, violations);
  RefuseParts(*spec, violations);
  ResolveGateJob(spec, violations);
}

}  // namespace

void RefuseFields(const std::vector<std::string>& names,
                  const std::string& reason, const JobSpec& spec,
                  Violations* violations) {
  for (const std::string& name : names) {
    const auto* field = JobSpec::descriptor()->FindFieldByName(name);
    const auto* reflection = spec.GetReflection();
    const bool set = field->is_repeated()
                         ? reflection->FieldSize(spec, field) > 0
                         : reflection->HasField(spec, field);
    if (set) violations->push_back({name, reason});
  }
}

void ResolveCommon(JobSpec* spec, Violations* violations) {
  if (!model::catalog::IsId(spec->name())) {
    violations->push_back(
        {"name", absl::StrCat(spec->name().empty() ? "required; " : "must be ",
                              model::catalog::IdRule())});
  }
  base::CheckLabels(spec->labels(), {"labels", kMaxLabels}, violations);
  ResolveScheduling(spec, violations);
}

void ResolveSingleJob(JobSpec* spec, Violations* violations) {
  switch (spec->kind()) {
    case JobSpec::TRAIN:
      ResolveTrain(spec, violations);
      break;
    case JobSpec::EVALUATE:
      ResolveEvaluate(spec, violations);
      break;
    case JobSpec::BENCHMARK:
      ResolveBenchmark(spec, violations);
      break;
    case JobSpec::GATE:
      ResolveGateKind(spec, violations);
      break;
    default:
      violations->push_back(
          {"kind", spec->kind() == JobSpec::IMPORT
                       ? "import is for uploads: ordo push checkpoint DIR"
                       : "required; must be train, evaluate, benchmark, sweep, "
                         "compare, pipeline or gate"});
      // What it must have meant, so that the rest is checked too.
      if (spec->has_training() || spec->has_encoding() || spec->has_data()) {
        ResolveTrain(spec, violations);
      } else if (spec->checkpoints_size() > 0) {
        ResolveEvaluate(spec, violations);
      } else if (spec->has_benchmark()) {
        ResolveBenchmark(spec, violations);
      } else if (spec->has_gate()) {
        ResolveGateKind(spec, violations);
      } else {
        model::catalog::ResolveResources("resources", spec->mutable_resources(),
                                         violations);
      }
  }
}

}  // namespace ordo::services::spec

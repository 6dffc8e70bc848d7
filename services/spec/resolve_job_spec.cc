#include "services/spec/resolve_job_spec.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/labels.h"
#include "google/protobuf/descriptor.h"
#include "model/catalog/benchmark.h"
#include "model/catalog/kernel_choice.h"
#include "model/catalog/resolve.h"
#include "services/spec/scheduling.h"

namespace ordo::services::spec {
namespace {

using model::catalog::Violations;
using ordo::jobs::v1::JobSpec;

constexpr char kForBenchmarks[] = "is for kind: benchmark; leave it out";

// "<step>-<attempt>", both in decimal.
bool IsCheckpointId(const std::string& id) {
  const std::vector<std::string> parts = absl::StrSplit(id, '-');
  return parts.size() == 2 &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part.size() <= 18 &&
                  std::all_of(part.begin(), part.end(), absl::ascii_isdigit);
         });
}

// Checks a reference to a checkpoint; "latest" becomes the job alone, which
// means the same.
void ResolveReference(const std::string& field, std::string* reference,
                      Violations* violations) {
  const std::vector<std::string> parts = absl::StrSplit(*reference, '/');
  const bool job_valid =
      parts.size() >= 2 && parts[0] == "jobs" && model::catalog::IsId(parts[1]);
  if (job_valid && parts.size() == 2) return;
  if (job_valid && parts.size() == 4 && parts[2] == "checkpoints") {
    if (parts[3] == "latest") {
      *reference = absl::StrCat("jobs/", parts[1]);
      return;
    }
    if (IsCheckpointId(parts[3])) return;
  }
  constexpr size_t kMaxShown = 200;
  violations->push_back(
      {field, absl::StrCat("must be jobs/{job}/checkpoints/{step}-{attempt}, "
                           "or jobs/{job} for its newest, is '",
                           reference->substr(0, kMaxShown), "'")});
}

// Refuses fields that nothing would make use of.
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

void ResolveTrain(JobSpec* spec, Violations* violations) {
  RefuseFields({"checkpoints"},
               "is for kind: evaluate; to go on from a checkpoint use "
               "start_from",
               *spec, violations);
  RefuseFields({"benchmark"}, kForBenchmarks, *spec, violations);
  const bool is_from = !spec->model().from().empty();
  if (is_from) {
    ResolveModelFrom(spec->mutable_model()->mutable_from(), violations);
  } else if (!spec->model().from_sha256().empty()) {
    violations->push_back(
        {"model.from_sha256", "is that of model.from; leave both out or none"});
  }
  const bool has_model = !is_from || (!spec->model().from_sha256().empty() &&
                                      spec->model().has_layers());
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

void ResolveEvaluate(JobSpec* spec, Violations* violations) {
  RefuseFields({"model", "data", "training", "checkpoint", "start_from"},
               "is for kind: train; an evaluation takes it from the checkpoint",
               *spec, violations);
  RefuseFields({"benchmark"}, kForBenchmarks, *spec, violations);
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
      ResolveReference(field, reference, violations);
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
  RefuseFields({"model", "encoding", "data", "training", "checkpoint",
                "evaluations", "checkpoints", "start_from"},
               "has no meaning with kind: benchmark; leave it out", *spec,
               violations);
  model::catalog::ResolveResources("resources", spec->mutable_resources(),
                                   violations);
  model::catalog::ResolveBenchmark("benchmark", spec->resources(),
                                   spec->mutable_benchmark(), violations);
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

}  // namespace

void ResolveModelFrom(std::string* reference, Violations* violations) {
  if (model::catalog::IsId(*reference)) *reference = "jobs/" + *reference;
  ResolveReference("model.from", reference, violations);
}

std::vector<std::string> NoticesOf(const JobSpec& spec) {
  std::vector<std::string> notices;
  // Without layers it is a checkpoint's, not looked up yet.
  if (spec.kind() != JobSpec::TRAIN || !spec.model().has_layers()) {
    return notices;
  }
  const model::catalog::KernelContext context = {
      &spec.model(), &spec.encoding(), spec.resources().device()};
  model::catalog::AddTrainingNotice(context, spec.training(), &notices);
  model::catalog::AddEvaluationNotices(context, spec.evaluations(), &notices);
  return notices;
}

std::vector<std::string> UncheckedOf(const JobSpec& spec) {
  std::vector<std::string> unchecked;
  const auto add = [&](const std::string& field, const std::string& reference,
                       const std::string& and_what) {
    unchecked.push_back(absl::StrCat(
        field, ": ", reference,
        " is looked up when the job is created: whether it is there, ",
        and_what));
  };
  if (!spec.model().from().empty()) {
    add("model.from", spec.model().from(),
        "the model's sizes, and whether the encoding, the evaluations and the "
        "kernels that are named go with it");
  }
  if (!spec.start_from().empty()) {
    add("start_from", spec.start_from(), "and whether it is of this model");
  }
  for (int i = 0; i < spec.checkpoints_size(); ++i) {
    add(absl::StrCat("checkpoints[", i, "]"), spec.checkpoints(i),
        "and whether the evaluations go with it");
  }
  if (spec.queue() != kDefaultQueue) {
    add("queue", spec.queue(), "and for how long its jobs may run");
  }
  for (int i = 0; i < spec.needs_size(); ++i) {
    add(absl::StrCat("needs[", i, "]"), spec.needs(i).job(),
        "and whether it can still end as needed");
  }
  return unchecked;
}

absl::Status CheckSpecSize(const JobSpec& spec) {
  const size_t num_bytes = spec.ByteSizeLong();
  if (num_bytes <= kMaxSpecBytes) return absl::OkStatus();
  // The field without which the spec is shortest.
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  spec.GetReflection()->ListFields(spec, &fields);
  std::string longest;
  size_t least = num_bytes;
  for (const auto* field : fields) {
    JobSpec rest = spec;
    rest.GetReflection()->ClearField(&rest, field);
    if (rest.ByteSizeLong() >= least) continue;
    least = rest.ByteSizeLong();
    longest = field->name();
  }
  return base::InvalidField(
      longest, absl::StrCat("the spec has ", num_bytes, " bytes; at most ",
                            kMaxSpecBytes,
                            " are accepted: shorten this field, its longest"));
}

absl::StatusOr<JobSpec> ResolveJobSpec(JobSpec spec) {
  ORDO_RETURN_IF_ERROR(CheckSpecSize(spec));
  Violations violations;
  ResolveCommon(&spec, &violations);
  switch (spec.kind()) {
    case JobSpec::TRAIN:
      ResolveTrain(&spec, &violations);
      break;
    case JobSpec::EVALUATE:
      ResolveEvaluate(&spec, &violations);
      break;
    case JobSpec::BENCHMARK:
      ResolveBenchmark(&spec, &violations);
      break;
    default:
      violations.push_back(
          {"kind", spec.kind() == JobSpec::IMPORT
                       ? "import is for uploads: ordo push checkpoint DIR"
                       : "required; must be train, evaluate or benchmark"});
      // What it must have meant, so that the rest is checked too.
      if (spec.has_training() || spec.has_encoding() || spec.has_data()) {
        ResolveTrain(&spec, &violations);
      } else if (spec.checkpoints_size() > 0) {
        ResolveEvaluate(&spec, &violations);
      } else if (spec.has_benchmark()) {
        ResolveBenchmark(&spec, &violations);
      } else {
        model::catalog::ResolveResources("resources", spec.mutable_resources(),
                                         &violations);
      }
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

}  // namespace ordo::services::spec

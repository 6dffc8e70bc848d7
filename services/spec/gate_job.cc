#include "services/spec/gate_job.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/catalog/catalog.h"
#include "model/catalog/gate.h"
#include "model/catalog/kernel_choice.h"
#include "model/catalog/resolve_evaluations.h"
#include "model/catalog/resolve_resources.h"
#include "report/gate/decision.h"
#include "report/gate/power.h"
#include "services/spec/references.h"

namespace ordo::services::spec {
namespace {

using model::catalog::Violations;
using ordo::jobs::v1::JobSpec;
using ordo::training::v1::Evaluation;
using ordo::training::v1::Gate;
using report::gate::Comparison;
using report::gate::Reference;

constexpr char kField[] = "gate";

// What an evaluation may have is what a gate counts on.
static_assert(report::gate::kMaxItems == model::catalog::kMaxItems);

void ResolveSubjects(JobSpec* spec, Violations* violations) {
  Gate* gate = spec->mutable_gate();
  for (const auto& [field, reference] :
       {std::pair("gate.candidate", gate->mutable_candidate()),
        std::pair("gate.baseline", gate->mutable_baseline())}) {
    if (reference->empty()) {
      violations->push_back(
          {field, "required with kind: gate; such as jobs/{job}"});
    }
  }
  if (!gate->candidate().empty()) {
    ResolveReference("gate.candidate", gate->mutable_candidate(), violations);
  }
  for (const auto& [field, reference] :
       {std::pair("gate.baseline", gate->mutable_baseline()),
        std::pair("gate.anchor", gate->mutable_anchor())}) {
    if (reference->empty()) continue;
    ResolveSubject(field, reference, violations);
    if (FormOf(*reference) != ReferenceForm::kReport) continue;
    if (spec->evaluations_size() > 1) {
      violations->push_back(
          {field, absl::StrCat("is a report, which is of one evaluation, and "
                               "there are ",
                               spec->evaluations_size(),
                               "; name the checkpoint that it is of, or leave "
                               "the others out")});
    }
    if (gate->has_max_items()) {
      violations->push_back(
          {field,
           "is a report, which has the items that it has; name the checkpoint "
           "that it is of, or leave out gate.max_items"});
    }
  }
}

std::vector<Comparison> PlanOf(const JobSpec& spec) {
  std::vector<Comparison> planned;
  for (const Evaluation& evaluation : spec.evaluations()) {
    const auto* entry = model::catalog::Find(
        model::catalog::Kind::kEvaluationTask, evaluation.task());
    Comparison comparison;
    comparison.task = evaluation.name();
    const auto scores = entry->evaluation.item_scores;
    comparison.score_range = model::catalog::ScoreRange(scores);
    comparison.is_binary = scores == model::catalog::ItemScores::kRightOrWrong;
    const model::catalog::Growth growth =
        model::catalog::GrowthOf(evaluation, spec.gate().max_items());
    comparison.budget = growth.budget();
    if (comparison.budget > 0) {
      comparison.items_per_sample = growth.items_per_sample;
      comparison.asked_budget = spec.gate().max_items();
    }
    planned.push_back(comparison);
    if (spec.gate().anchor().empty()) continue;
    comparison.reference = Reference::kAnchor;
    planned.push_back(comparison);
  }
  return planned;
}

// The field of the spec that a plan's is made of.
std::string FieldOf(const std::string& field) {
  if (field == "comparisons") return "evaluations";
  if (absl::EndsWith(field, ".budget")) return "gate.max_items";
  if (absl::StartsWith(field, "comparisons[")) return kField;
  return absl::StrCat(kField, ".", field);
}

// Of a gate that is right otherwise.
void CheckPower(const JobSpec& spec, Violations* violations) {
  report::gate::Options options;
  options.margin = spec.gate().margin();
  if (!spec.gate().anchor().empty()) {
    options.anchor_margin = spec.gate().anchor_margin();
  }
  options.level = spec.gate().level();
  const absl::Status status = report::gate::CheckPlan(options, PlanOf(spec));
  for (const auto& violation : base::FieldViolations(status)) {
    const base::FieldViolation found = {FieldOf(violation.field),
                                        violation.description};
    // Of several comparisons the same is said once.
    if (violations->empty() || !(violations->back() == found)) {
      violations->push_back(found);
    }
  }
}

void CheckScored(const JobSpec& spec, Violations* violations) {
  for (int i = 0; i < spec.evaluations_size(); ++i) {
    const std::string& task = spec.evaluations(i).task();
    const auto* entry =
        model::catalog::Find(model::catalog::Kind::kEvaluationTask, task);
    if (entry == nullptr ||
        entry->evaluation.item_scores != model::catalog::ItemScores::kNone) {
      continue;
    }
    violations->push_back(
        {absl::StrCat("evaluations[", i, "].task"),
         absl::StrCat(task,
                      " has no scores of items, by which a gate "
                      "compares; leave it out, and evaluate it: ordo "
                      "evaluate JOB --task ",
                      task)});
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> SubjectsOf(
    const JobSpec& spec) {
  std::vector<std::pair<std::string, std::string>> subjects;
  const Gate& gate = spec.gate();
  for (const auto& [field, reference] :
       {std::pair("gate.candidate", gate.candidate()),
        std::pair("gate.baseline", gate.baseline()),
        std::pair("gate.anchor", gate.anchor())}) {
    if (!reference.empty()) subjects.emplace_back(field, reference);
  }
  return subjects;
}

void ResolveGateJob(JobSpec* spec, Violations* violations) {
  ResolveSubjects(spec, violations);
  if (spec->evaluations().empty()) {
    violations->push_back(
        {"evaluations", "required with kind: gate; name at least one"});
  }
  const size_t num_before = violations->size();
  model::catalog::EvaluationsContext context;
  context.in_training = false;
  model::catalog::ResolveEvaluations(context, spec->mutable_evaluations(),
                                     violations);
  CheckScored(*spec, violations);
  // How sets grow depends on parameters that are right.
  const bool valid = violations->size() == num_before;
  model::catalog::ResolveGate(
      kField,
      valid ? spec->evaluations()
            : google::protobuf::RepeatedPtrField<Evaluation>(),
      spec->mutable_gate(), violations);
  model::catalog::ResolveResources("resources", spec->mutable_resources(),
                                   violations);
  model::catalog::CheckEvaluationKernels(
      {nullptr, nullptr, spec->resources().device()}, spec->evaluations(),
      violations);
  if (violations->empty()) CheckPower(*spec, violations);
}

}  // namespace ordo::services::spec

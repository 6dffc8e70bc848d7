#include "model/catalog/gate.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/catalog/catalog.h"
#include "model/catalog/lengths.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Evaluation;
using ordo::training::v1::Gate;

constexpr double kMaxMargin = 1e9;
constexpr char kSamples[] = "samples";

void ResolveBudget(
    std::string_view field,
    const google::protobuf::RepeatedPtrField<Evaluation>& evaluations,
    Gate* gate, Violations* violations) {
  if (!gate->has_max_items() ||
      !ResolveNumber({"max_items", 100, 1e6, {}}, field, gate, violations)) {
    return;
  }
  const std::string path = FieldPath(field, "max_items");
  bool has_growing = false;
  for (const Evaluation& evaluation : evaluations) {
    if (!MakesItems(evaluation.task())) continue;
    has_growing = true;
    const Growth growth = GrowthOf(evaluation, gate->max_items());
    if (growth.budget() > 0) continue;
    violations->push_back(
        {path, absl::StrCat("is ", gate->max_items(), ", and each sample of ",
                            evaluation.name(), " has ", growth.items_per_sample,
                            " items; give at least as many")});
  }
  if (has_growing || evaluations.empty()) return;
  violations->push_back(
      {path,
       "is for tasks that make items which do not depend on each other, and "
       "none of the evaluations is of one; leave it out"});
}

}  // namespace

bool MakesItems(std::string_view task) {
  const Entry* entry = Find(Kind::kEvaluationTask, task);
  return entry != nullptr && !entry->evaluation.shares_units &&
         FindParam(*entry, kSamples) != nullptr;
}

Growth GrowthOf(const Evaluation& evaluation, int64_t max_items) {
  Growth growth;
  if (!MakesItems(evaluation.task())) return growth;
  const Entry& entry = *Find(Kind::kEvaluationTask, evaluation.task());
  growth.items_per_sample = ItemsPerSample(entry, evaluation.params());
  growth.max_samples = max_items / growth.items_per_sample;
  const auto most = FindParam(entry, kSamples)->max;
  if (most.has_value()) {
    growth.max_samples =
        std::min(growth.max_samples, static_cast<int64_t>(*most));
  }
  return growth;
}

void ResolveGate(
    std::string_view field,
    const google::protobuf::RepeatedPtrField<Evaluation>& evaluations,
    Gate* gate, Violations* violations) {
  ResolveNumber({"margin", 0, kMaxMargin, {}, true}, field, gate, violations);
  if (gate->anchor().empty() && gate->has_anchor_margin()) {
    violations->push_back({FieldPath(field, "anchor_margin"),
                           "is for an anchor, and there is none; leave it out, "
                           "or name one"});
  } else if (!gate->anchor().empty()) {
    ResolveNumber({"anchor_margin", 0, kMaxMargin, gate->margin(), true}, field,
                  gate, violations);
  }
  ResolveNumber({"level", 0.5, 0.999, 0.95}, field, gate, violations);
  if (!Gate::FailBelow_IsValid(gate->fail_below())) {
    violations->push_back(
        {FieldPath(field, "fail_below"), "must be zero or margin"});
  } else if (gate->fail_below() == Gate::FAIL_BELOW_UNSPECIFIED) {
    gate->set_fail_below(Gate::ZERO);
  }
  if (!Gate::OnInconclusive_IsValid(gate->on_inconclusive())) {
    violations->push_back({FieldPath(field, "on_inconclusive"),
                           "must be inconclusive, pass or fail"});
  } else if (gate->on_inconclusive() == Gate::ON_INCONCLUSIVE_UNSPECIFIED) {
    gate->set_on_inconclusive(Gate::INCONCLUSIVE);
  }
  ResolveBudget(field, evaluations, gate, violations);
}

}  // namespace ordo::model::catalog

#include "services/spec/resolve_job_spec.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/catalog/kernel_choice.h"
#include "model/catalog/resolve_model.h"
#include "model/catalog/tokens.h"
#include "services/spec/data_paths.h"
#include "services/spec/expand.h"
#include "services/spec/gate_job.h"
#include "services/spec/scheduling.h"
#include "services/spec/single_job.h"
#include "services/spec/spec_size.h"

namespace ordo::services::spec {
namespace {

using model::catalog::Violations;
using ordo::jobs::v1::JobSpec;

// The least p value that the sign-flip test gives after Holm's correction for
// so many arms beside the baseline (report/stats).
double LeastFlipP(int num_seeds, int num_arms) {
  return std::min(1.0, num_arms * std::ldexp(1.0, 1 - num_seeds));
}

void AddSeedNotice(const ordo::jobs::v1::Compare& compare,
                   std::vector<std::string>* notices) {
  const int num_seeds = compare.seeds_size();
  const int num_arms = compare.arms_size() - 1;
  const double alpha = 1 - compare.confidence();
  const double least = LeastFlipP(num_seeds, num_arms);
  if (least <= alpha) return;
  int enough = num_seeds;
  while (LeastFlipP(enough, num_arms) > alpha) ++enough;
  notices->push_back(absl::StrCat(
      "compare.seeds: with ", num_seeds,
      num_seeds == 1 ? " seed and " : " seeds and ", num_arms,
      num_arms == 1 ? " arm" : " arms",
      " beside the baseline p of the sign-flip test cannot fall below ",
      absl::StrFormat("%.3g", least), ", so at confidence ",
      absl::StrFormat("%g", compare.confidence()),
      num_seeds == 1 ? " nothing over seeds can be shown"
                     : " only Student's t, which takes differences to be about "
                       "normal, can tell arms apart over seeds",
      "; ", enough, " seeds suffice for both"));
}

// What the file of a tokenizer has is known when the job starts, which refuses
// too few tokens of the model only.
void AddVocabularyNotice(const JobSpec& spec,
                         std::vector<std::string>* notices) {
  const auto* task = model::catalog::Find(model::catalog::Kind::kTrainingTask,
                                          spec.data().task());
  constexpr int kDefault = model::catalog::kDefaultVocabularySize;
  if (task == nullptr || !spec.model().from().empty() ||
      spec.model().vocabulary_size() != kDefault ||
      model::catalog::VocabularyOf(*task, spec.data().params()) != 0) {
    return;
  }
  notices->push_back(absl::StrCat(
      "model.vocabulary_size is ", kDefault, ", as by default: where ",
      model::catalog::TokensOf(*task, spec.data().params()),
      " has fewer tokens, the others are trained and never used; set it to the "
      "number that it has"));
}

}  // namespace

std::vector<std::string> NoticesOf(const JobSpec& spec) {
  std::vector<std::string> notices;
  if (spec.kind() == JobSpec::COMPARE) AddSeedNotice(spec.compare(), &notices);
  if (spec.kind() != JobSpec::TRAIN) return notices;
  model::catalog::AddTokenizerNotices(spec.evaluations(), spec.data(),
                                      &notices);
  AddVocabularyNotice(spec, &notices);
  // Without layers it is a checkpoint's, not looked up yet.
  if (!spec.model().has_layers()) return notices;
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
  for (const auto& [field, reference] : SubjectsOf(spec)) {
    add(field, reference, "and whether the evaluations go with it");
  }
  if (spec.queue() != kDefaultQueue) {
    add("queue", spec.queue(), "and for how long its jobs may run");
  }
  for (int i = 0; i < spec.needs_size(); ++i) {
    add(absl::StrCat("needs[", i, "]"), spec.needs(i).job(),
        "and whether it can still end as needed");
  }
  // An evaluation has what its training has, and that is said once.
  std::set<std::string> said;
  JobSpec visited = spec;
  VisitDataPaths(&visited, [&](const DataPath& where, std::string* path) {
    if (!said.insert(*path).second) return;
    if (path->front() == '/') {
      unchecked.push_back(
          absl::StrCat(where.field, ": ", *path,
                       " is looked up by the worker that runs the job"));
    } else {
      add(where.field, *path, "and which version of data that is");
    }
  });
  return unchecked;
}

absl::StatusOr<JobSpec> ResolveJobSpec(JobSpec spec) {
  if (HasParts(spec.kind())) {
    ORDO_ASSIGN_OR_RETURN(Expansion expansion, Expand(std::move(spec)));
    return std::move(expansion.spec);
  }
  ORDO_RETURN_IF_ERROR(CheckSpecSize(spec));
  Violations violations;
  ResolveCommon(&spec, &violations);
  ResolveSingleJob(&spec, &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

}  // namespace ordo::services::spec

#include "services/spec/budget.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/proto_bytes.h"
#include "base/yaml/field_path.h"
#include "model/catalog/catalog.h"
#include "model/cost/cost.h"
#include "services/spec/criterion.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::Compare;
using ordo::jobs::v1::JobSpec;
using Violations = std::vector<base::FieldViolation>;

constexpr char kField[] = "compare.budget";
constexpr char kTokens[] = "tokens";
constexpr char kFlops[] = "flops";
constexpr char kSeconds[] = "device_seconds";
constexpr char kSteps[] = "training.steps";
// As training.steps may be.
constexpr double kMaxSteps = 1e9;
// Steps that are measured at least, and of how many of a run one of these is.
constexpr int64_t kMinPaceSteps = 20;
constexpr int64_t kPaceShare = 20;

// The arms of a comparison, by their parts.
class Arms {
 public:
  Arms(const Compare& compare, std::vector<Part>* parts)
      : order_(compare), parts_(*parts) {}

  size_t num() const { return order_.num_arms; }
  // A run of the arm.
  const Part& Run(size_t arm) const { return parts_[order_.Run(arm)]; }
  const Part& Baseline() const { return Run(order_.baseline); }
  // Of all its parts.
  void SetSteps(size_t arm, int64_t steps) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (order_.ArmOf(i) != arm || part.spec.training().steps() == steps) {
        continue;
      }
      part.spec.mutable_training()->set_steps(steps);
      absl::StrAppend(&part.differs, part.differs.empty() ? "" : ", ", kSteps,
                      "=", steps);
    }
  }

 private:
  const PartOrder order_;
  std::vector<Part>& parts_;
};

std::string PaceName(const JobSpec& parent, const std::string& arm) {
  return absl::StrCat(parent.name(), "-", arm, "-pace");
}

// What the arm says itself that the budget decides, or that another budget than
// FLOPs cannot be made of; false when something is, which is told.
bool CheckArm(const Part& run, const Part& baseline, bool by_tokens,
              Violations* violations) {
  const size_t num_wrong = violations->size();
  if (run.spec.training().steps() != baseline.spec.training().steps()) {
    violations->push_back({SourceOf(run, kSteps),
                           absl::StrCat("is what ", kField,
                                        " says for all arms but the baseline; "
                                        "leave it out")});
  }
  if (by_tokens && base::DeterministicBytes(run.spec.data()) !=
                       base::DeterministicBytes(baseline.spec.data())) {
    violations->push_back(
        {SourceOf(run, "data"),
         absl::StrCat("is other data than that of ", baseline.label,
                      ", whose rows have other tokens; with budget: tokens all "
                      "arms read the same: leave it out, or the budget")});
  }
  return violations->size() == num_wrong;
}

int64_t RowsOf(const JobSpec& spec) {
  return spec.training().steps() * spec.training().batch_size();
}

void FitTokens(Arms& arms, Violations* violations) {
  const Part baseline = arms.Baseline();
  const int64_t rows = RowsOf(baseline.spec);
  for (size_t arm = 0; arm < arms.num(); ++arm) {
    const Part& run = arms.Run(arm);
    if (!CheckArm(run, baseline, /*by_tokens=*/true, violations)) continue;
    const int64_t batch = run.spec.training().batch_size();
    if (rows % batch == 0) {
      arms.SetSteps(arm, rows / batch);
      continue;
    }
    violations->push_back(
        {kField, absl::StrCat("the ", rows, " rows of ", baseline.label,
                              " are no whole number of batches of ", batch,
                              ", which the arm ", run.label,
                              " has; give it another batch_size, or all other "
                              "training.steps")});
  }
}

// Of a step; 0: it is not known.
double FlopsOf(const JobSpec& spec) {
  const auto* task = model::catalog::Find(model::catalog::Kind::kTrainingTask,
                                          spec.data().task());
  if (task == nullptr || task->row_length == nullptr ||
      !spec.model().has_layers()) {
    return 0;
  }
  const model::cost::CostSubject subject{
      spec.model(), spec.encoding(),
      spec.training().has_lora() ? &spec.training().lora() : nullptr};
  return model::cost::TrainingFlops(
      subject, std::max<int64_t>(1, task->row_length(spec.data().params())),
      spec.training().batch_size());
}

// The order of data of runs with other numbers of steps is compared where all
// have a checkpoint.
void CheckCheckpoints(const Arms& arms, Violations* violations) {
  int64_t least = arms.Baseline().spec.training().steps();
  for (size_t arm = 0; arm < arms.num(); ++arm) {
    least = std::min<int64_t>(least, arms.Run(arm).spec.training().steps());
  }
  const Part& baseline = arms.Baseline();
  const int64_t every = baseline.spec.checkpoint().every_steps();
  if (every <= least) return;
  violations->push_back(
      {SourceOf(baseline, "checkpoint.every_steps"),
       absl::StrCat("is ", every, ", and with budget: flops an arm has ", least,
                    " steps: the order of data is compared at a checkpoint "
                    "that all have; give at most ",
                    least)});
}

void FitFlops(Arms& arms, Violations* violations) {
  const Part baseline = arms.Baseline();
  const double of_step = FlopsOf(baseline.spec);
  if (of_step == 0) return;
  const double budget =
      of_step * static_cast<double>(baseline.spec.training().steps());
  const size_t num_wrong = violations->size();
  for (size_t arm = 0; arm < arms.num(); ++arm) {
    const Part& run = arms.Run(arm);
    if (!CheckArm(run, baseline, /*by_tokens=*/false, violations)) continue;
    const double of_run = FlopsOf(run.spec);
    if (of_run == 0) continue;
    const double steps = std::round(budget / of_run);
    const double error = std::abs(steps * of_run / budget - 1);
    if (steps >= 1 && steps <= kMaxSteps && error <= kMaxBudgetError) {
      arms.SetSteps(arm, static_cast<int64_t>(steps));
      continue;
    }
    violations->push_back(
        {kField,
         absl::StrFormat("the arm %s comes no nearer than %.1f %% to the FLOPs "
                         "of %s, with %.0f steps; at most %.0f %% is accepted: "
                         "give more training.steps",
                         run.label, 100 * error, baseline.label, steps,
                         100 * kMaxBudgetError)});
  }
  if (violations->size() == num_wrong) CheckCheckpoints(arms, violations);
}

// Steps are known when the paces have been measured.
void CheckSeconds(const Arms& arms, Violations* violations) {
  const Part& baseline = arms.Baseline();
  if (!baseline.spec.start_from().empty()) {
    violations->push_back(
        {SourceOf(baseline, "start_from"),
         "not with budget: device_seconds, which measures runs from their "
         "first step on; leave one of them out"});
    return;
  }
  for (size_t arm = 0; arm < arms.num(); ++arm) {
    CheckArm(arms.Run(arm), baseline, /*by_tokens=*/false, violations);
  }
}

}  // namespace

PartOrder::PartOrder(const Compare& compare)
    : num_arms(static_cast<size_t>(compare.arms_size())),
      num_paces(compare.budget() == kSeconds ? num_arms : 0),
      num_trials(num_arms *
                 static_cast<size_t>(compare.tune().learning_rate_size())) {
  while (baseline + 1 < num_arms &&
         compare.arms(static_cast<int>(baseline)).name() !=
             compare.baseline()) {
    ++baseline;
  }
}

size_t PartOrder::ArmOf(size_t place) const {
  if (place < num_paces) return place;
  if (place < num_paces + num_trials) {
    return (place - num_paces) / (num_trials / num_arms);
  }
  return (place - num_paces - num_trials) % num_arms;
}

void MakePace(const JobSpec& parent, Part* part) {
  part->spec.set_name(PaceName(parent, part->label));
  part->label = absl::StrCat(part->label, ", pace");
  part->spec.clear_evaluations();
  const int64_t steps = part->spec.training().steps();
  // One that is wrong is told.
  if (steps <= 0) return;
  part->spec.mutable_training()->set_steps(
      std::max<int64_t>(kMinPaceSteps, steps / kPaceShare));
}

void FollowPaces(const JobSpec& parent, const std::string& arm, Part* part) {
  const std::string own = "jobs/" + PaceName(parent, arm);
  const std::string baseline =
      "jobs/" + PaceName(parent, parent.compare().baseline());
  part->spec.mutable_paced_by()->set_own(own);
  part->spec.mutable_paced_by()->set_baseline(baseline);
  part->spec.add_needs()->set_job(own);
  part->spec.add_needs()->set_job(baseline);
  part->sources["paced_by"] = kField;
}

void ResolveBudget(Compare* compare, Violations* violations) {
  if (compare->budget().empty()) return;
  CheckChoice({kField, compare->budget(), {kTokens, kFlops, kSeconds}},
              violations);
  const bool is_listed = std::any_of(
      compare->differs().begin(), compare->differs().end(),
      [](const std::string& whole) { return base::IsPartOf(kSteps, whole); });
  if (!is_listed) compare->add_differs(kSteps);
}

void FitBudget(const Compare& compare, std::vector<Part>* parts,
               Violations* violations) {
  if (compare.budget().empty()) return;
  Arms arms(compare, parts);
  if (compare.budget() == kTokens) {
    FitTokens(arms, violations);
  } else if (compare.budget() == kFlops) {
    FitFlops(arms, violations);
  } else {
    CheckSeconds(arms, violations);
  }
}

}  // namespace ordo::services::spec

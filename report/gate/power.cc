#include "report/gate/power.h"

#include <algorithm>
#include <cmath>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/stats/distributions.h"
#include "report/stats/gate.h"
#include "report/stats/power.h"
#include "report/stats/proportions.h"
#include "report/stats/sequential.h"
#include "report/stats/sequential_power.h"

namespace ordo::report::gate {
namespace {

template <typename T>
std::optional<T> ValueOrNothing(const absl::StatusOr<T>& value) {
  if (value.ok()) return *value;
  return std::nullopt;
}

std::optional<double> PassOrNothing(
    const absl::StatusOr<stats::VerdictRates>& rates) {
  if (rates.ok()) return rates->pass;
  return std::nullopt;
}

stats::GatePlan PlanOf(const Result& result) {
  stats::GatePlan plan;
  plan.gate = result.options;
  plan.discordance = result.gate.discordance;
  return plan;
}

Power OfBudget(const Result& result) {
  const stats::GatePlan plan = PlanOf(result);
  Power power;
  power.equal_passes =
      ValueOrNothing(stats::SequentialPassRate(plan, result.budget));
  power.needed_items =
      ValueOrNothing(stats::BudgetForPower(plan, kWantedPower));
  return power;
}

Power OfShares(const Result& result) {
  const stats::GatePlan plan = PlanOf(result);
  Power power;
  power.equal_passes =
      PassOrNothing(stats::RatesOfGate(plan, result.gate.estimate.num_items));
  power.needed_items =
      ValueOrNothing(stats::ItemsForPower(plan, kWantedPower, kMaxNeededItems));
  return power;
}

Power OfStandardError(const Result& result) {
  const stats::Estimate& estimate = result.gate.estimate;
  Power power;
  power.equal_passes = PassOrNothing(
      stats::RatesAtStandardError(result.options, 0, estimate.standard_error));
  if (!power.equal_passes.has_value()) return power;
  const double wanted =
      result.options.margin /
      (stats::NormalQuantile(1 - stats::PassAlpha(result.options)) +
       stats::NormalQuantile(kWantedPower));
  // The standard error falls with the square root of the number of units.
  const double ratio = estimate.standard_error / wanted;
  const double needed =
      std::ceil(static_cast<double>(estimate.num_items) * ratio * ratio);
  if (needed <= static_cast<double>(kMaxNeededItems)) {
    power.needed_items = std::max<int64_t>(1, static_cast<int64_t>(needed));
  }
  return power;
}

// Whether a candidate that answers each item as its reference passes at last.
bool CanPass(const stats::GateOptions& options, int64_t budget) {
  return stats::IsAboveAnytime({{0, static_cast<double>(budget)}},
                               options.score_range, -options.margin,
                               stats::PassAlpha(options));
}

std::string BudgetText(const Comparison& plan) {
  if (plan.asked_budget == 0 || plan.asked_budget == plan.budget) {
    return absl::StrCat("is ", plan.budget);
  }
  return absl::StrCat("is ", plan.asked_budget, ", which is ", plan.budget,
                      " in whole samples of ", plan.task);
}

std::string NoPower(const stats::GateOptions& options, const Comparison& plan) {
  std::string text = absl::StrCat(
      BudgetText(plan), ": with margin ", options.margin,
      " not even a candidate that answers every item as its reference does "
      "would pass; ");
  // In whole samples.
  const int64_t per_sample = plan.items_per_sample;
  int64_t too_few = plan.budget / per_sample;
  int64_t enough = std::max(too_few, kMaxItems / per_sample);
  if (!CanPass(options, enough * per_sample)) {
    return text + "give a larger margin, no budget suffices for this one";
  }
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (CanPass(options, middle * per_sample) ? enough : too_few) = middle;
  }
  absl::StrAppend(&text, "give ", enough * per_sample,
                  " at least or a larger margin");
  return text;
}

// The bound of a loss by so many independent items of a fixed set, all of them
// answered as the reference does, as stats::DecideGate has it.
double LossBound(const stats::GateOptions& options, bool is_binary,
                 int64_t num_items) {
  const double alpha = stats::PassAlpha(options);
  const auto items = static_cast<double>(num_items);
  if (is_binary) return -stats::PairedShareInterval({0, 0, items}, alpha).low;
  return options.score_range * stats::ShareUpperBound(0, items, alpha);
}

// How many items LossBound takes to be below the margin, where a fixed set has
// fewer: a clause, or nothing.
std::string LeastItems(const Result& result) {
  const auto passes = [&result](int64_t num_items) {
    return LossBound(result.options, result.is_binary, num_items) <
           result.options.margin;
  };
  int64_t too_few = result.gate.estimate.num_items;
  int64_t enough = kMaxItems;
  if (result.budget > 0 || std::isinf(result.options.score_range) ||
      too_few >= enough || passes(too_few) || !passes(enough)) {
    return "";
  }
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (passes(middle) ? enough : too_few) = middle;
  }
  return absl::StrCat(
      "; a candidate that answers every item as its reference does takes ",
      enough, " independent items to pass");
}

// What is wrong with the margin of a fixed set, if anything is.
std::optional<base::FieldViolation> WrongMargin(
    const Options& options, const Comparison& plan,
    const stats::GateOptions& gate) {
  if (std::isinf(plan.score_range)) return std::nullopt;
  const double least = LossBound(gate, plan.is_binary, kMaxItems);
  if (gate.margin > least) return std::nullopt;
  const bool is_anchors =
      plan.reference == Reference::kAnchor && options.anchor_margin.has_value();
  return base::FieldViolation{
      is_anchors ? "anchor_margin" : "margin",
      absl::StrCat("is ", gate.margin, ": not even ", kMaxItems,
                   " items, the most that a set has, all of them answered as "
                   "the reference does, would show it; give more than ",
                   least)};
}

// Why PowerOf has no probability.
std::string WhyNot(const Result& result) {
  if (result.budget > 0 && !result.is_binary) {
    return "the set grows, and its scores are more than right or wrong: how "
           "often such a gate passes depends on how they are distributed, of "
           "which the scores that were seen tell too little";
  }
  if (result.budget > stats::kMaxSequentialItems) {
    return absl::StrCat("it is computed for budgets of up to ",
                        stats::kMaxSequentialItems, " items");
  }
  return absl::StrCat(
      "too few scores differ, or all do alike, or they lie in too few units, "
      "for a standard error that it could be stated by",
      LeastItems(result));
}

Power PowerOf(const Result& result) {
  if (result.budget > 0) return result.is_binary ? OfBudget(result) : Power();
  switch (result.gate.method) {
    case stats::IntervalMethod::kPairedShares:
      // Items of one unit count for fewer.
      return result.gate.estimate.num_units == result.gate.estimate.num_items
                 ? OfShares(result)
                 : OfStandardError(result);
    case stats::IntervalMethod::kStudentizedBootstrap:
      return OfStandardError(result);
    case stats::IntervalMethod::kShareOfUnits:
    case stats::IntervalMethod::kAnytime:
      break;
  }
  return Power();
}

}  // namespace

Power StatePower(const Result& result) {
  Power power = PowerOf(result);
  if (!power.equal_passes.has_value()) power.why_not = WhyNot(result);
  return power;
}

std::optional<double> JointPower(const std::vector<Power>& powers) {
  double joint = 1;
  for (const Power& power : powers) {
    if (!power.equal_passes.has_value()) return std::nullopt;
    joint -= 1 - *power.equal_passes;
  }
  return std::max(0.0, joint);
}

absl::Status CheckPlan(const Options& options,
                       const std::vector<Comparison>& planned) {
  ORDO_RETURN_IF_ERROR(CheckComparisons(options, planned));
  std::vector<base::FieldViolation> violations;
  for (size_t i = 0; i < planned.size(); ++i) {
    const Comparison& plan = planned[i];
    const std::string path = absl::StrCat("comparisons[", i, "].");
    const stats::GateOptions gate =
        OptionsOf(options, plan.reference, plan.score_range,
                  static_cast<int>(planned.size()));
    if (plan.budget == 0) {
      const auto wrong = WrongMargin(options, plan, gate);
      // Of several comparisons the same is said once.
      if (wrong.has_value() && std::find(violations.begin(), violations.end(),
                                         *wrong) == violations.end()) {
        violations.push_back(*wrong);
      }
    } else if (std::isinf(plan.score_range)) {
      violations.push_back(
          {path + "budget",
           absl::StrCat("is ", plan.budget, ", and scores of ", plan.task,
                        " have no bounds, without which a gate cannot add "
                        "items; leave it out")});
    } else if (!CanPass(gate, plan.budget)) {
      violations.push_back({path + "budget", NoPower(gate, plan)});
    }
  }
  return base::InvalidFields(violations);
}

}  // namespace ordo::report::gate

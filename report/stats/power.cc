#include "report/stats/power.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/stats/distributions.h"
#include "report/stats/proportions.h"

namespace ordo::report::stats {
namespace {

absl::Status CheckPlan(const GatePlan& plan) {
  ORDO_RETURN_IF_ERROR(CheckGateOptions(plan.gate));
  if (!(plan.discordance >= 0 && plan.discordance <= 1)) {
    return base::InvalidField(
        "discordance",
        absl::StrCat("is ", plan.discordance, ": a share of items is 0 to 1"));
  }
  if (!(std::abs(plan.difference) <= plan.discordance)) {
    return base::InvalidField(
        "difference", absl::StrCat("is ", plan.difference,
                                   ": its size is at most the discordance, ",
                                   plan.discordance));
  }
  return absl::OkStatus();
}

absl::Status CheckItems(const char* field, int64_t num_items) {
  if (num_items >= 1 && num_items <= kMaxPlannedItems) return absl::OkStatus();
  return base::InvalidField(
      field, absl::StrCat("is ", num_items, ": give 1 to ", kMaxPlannedItems));
}

absl::Status CheckPower(double power) {
  if (power > 0 && power < 1) return absl::OkStatus();
  return base::InvalidField(
      "power",
      absl::StrCat("is ", power, ": give one between 0 and 1, such as 0.8"));
}

DiscordantCounts Counts(int64_t better, int64_t discordant, int64_t items) {
  return {static_cast<double>(better), static_cast<double>(discordant - better),
          static_cast<double>(items)};
}

// The first of [0, end) for which `holds`, which stays true from there on; end
// when it never holds.
template <typename Predicate>
int64_t FirstOf(int64_t end, Predicate holds) {
  int64_t low = 0;
  int64_t high = end;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Given the number of discordant items, more that are better never turn a pass
// into anything else, nor anything else into a failure: two thresholds say all.
VerdictRates RatesGiven(const GatePlan& plan, int64_t num_items,
                        int64_t num_discordant) {
  const GateOptions& gate = plan.gate;
  const double pass_alpha = PassAlpha(gate);
  const double fail_alpha = FailAlpha(gate);
  const double bar = gate.fail_below == FailBelow::kZero ? 0 : -gate.margin;
  const int64_t end = num_discordant + 1;
  const int64_t first_pass = FirstOf(end, [&](int64_t better) {
    return IsAbove(Counts(better, num_discordant, num_items), -gate.margin,
                   pass_alpha);
  });
  const int64_t first_no_fail = FirstOf(first_pass, [&](int64_t better) {
    return !IsBelow(Counts(better, num_discordant, num_items), bar, fail_alpha);
  });
  const double share_better =
      plan.discordance > 0
          ? std::clamp((1 + plan.difference / plan.discordance) / 2, 0.0, 1.0)
          : 0.5;
  VerdictRates rates;
  rates.pass = BinomialUpperTail(first_pass, num_discordant, share_better);
  rates.fail = BinomialCdf(static_cast<double>(first_no_fail - 1),
                           static_cast<double>(num_discordant), share_better);
  return rates;
}

// REQUIRES: a valid plan and number of items.
VerdictRates ExactRates(const GatePlan& plan, int64_t num_items) {
  const double n = static_cast<double>(num_items);
  const double mean = n * plan.discordance;
  // Beyond eight standard deviations and a few items, less than 1e-12.
  const double reach = 8 * std::sqrt(mean * (1 - plan.discordance)) + 40;
  const auto first = static_cast<int64_t>(std::max(0.0, mean - reach));
  const auto last = static_cast<int64_t>(std::min(n, mean + reach));
  VerdictRates rates;
  for (int64_t discordant = first; discordant <= last; ++discordant) {
    const double weight = BinomialPmf(discordant, num_items, plan.discordance);
    if (weight == 0) continue;
    const VerdictRates given = RatesGiven(plan, num_items, discordant);
    rates.pass += weight * given.pass;
    rates.fail += weight * given.fail;
  }
  rates.inconclusive = std::max(0.0, 1 - rates.pass - rates.fail);
  return rates;
}

absl::Status NoPower(const GatePlan& plan, double power, int64_t max_items) {
  std::string text = absl::StrCat(
      "a gate with margin ", plan.gate.margin, " on ", max_items,
      " items passes a candidate of difference ", plan.difference,
      " with probability ", ExactRates(plan, max_items).pass,
      " at discordance ", plan.discordance, ", not with ", power, ": ");
  const absl::StatusOr<double> margin = MarginForPower(plan, power, max_items);
  if (margin.ok()) {
    absl::StrAppend(&text, "allow more items or a margin of ", *margin);
  } else {
    absl::StrAppend(&text, "allow more items; no margin would do");
  }
  return base::WithErrorInfo(absl::FailedPreconditionError(text),
                             {"NO_POWER", "ordo", {}});
}

}  // namespace

absl::StatusOr<VerdictRates> RatesOfGate(const GatePlan& plan,
                                         int64_t num_items) {
  ORDO_RETURN_IF_ERROR(CheckPlan(plan));
  ORDO_RETURN_IF_ERROR(CheckItems("num_items", num_items));
  return ExactRates(plan, num_items);
}

absl::StatusOr<VerdictRates> RatesAtStandardError(const GateOptions& gate,
                                                  double difference,
                                                  double standard_error) {
  ORDO_RETURN_IF_ERROR(CheckGateOptions(gate));
  if (!(standard_error > 0) || std::isinf(standard_error)) {
    return base::InvalidField(
        "standard_error",
        absl::StrCat("is ", standard_error, ": give a finite one above 0"));
  }
  const double bar = gate.fail_below == FailBelow::kZero ? 0 : -gate.margin;
  const double pass_from =
      -gate.margin + NormalQuantile(1 - PassAlpha(gate)) * standard_error;
  const double fail_to = std::min(
      pass_from, bar - NormalQuantile(1 - FailAlpha(gate)) * standard_error);
  VerdictRates rates;
  rates.pass = NormalCdf((difference - pass_from) / standard_error);
  rates.fail = NormalCdf((fail_to - difference) / standard_error);
  rates.inconclusive = std::max(0.0, 1 - rates.pass - rates.fail);
  return rates;
}

absl::StatusOr<int64_t> ItemsForPower(const GatePlan& plan, double power,
                                      int64_t max_items) {
  ORDO_RETURN_IF_ERROR(CheckPlan(plan));
  ORDO_RETURN_IF_ERROR(CheckPower(power));
  ORDO_RETURN_IF_ERROR(CheckItems("max_items", max_items));
  int64_t too_few = 0;
  int64_t enough = 1;
  while (ExactRates(plan, enough).pass < power) {
    if (enough == max_items) return NoPower(plan, power, max_items);
    too_few = enough;
    enough = std::min(2 * enough, max_items);
  }
  // To one in a thousand: the discordance is an estimate anyway.
  while (enough - too_few > 1 + enough / 1000) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (ExactRates(plan, middle).pass < power ? too_few : enough) = middle;
  }
  return enough;
}

absl::StatusOr<double> MarginForPower(const GatePlan& plan, double power,
                                      int64_t num_items) {
  ORDO_RETURN_IF_ERROR(CheckPlan(plan));
  ORDO_RETURN_IF_ERROR(CheckPower(power));
  ORDO_RETURN_IF_ERROR(CheckItems("num_items", num_items));
  // Right and wrong answers differ by at most 1.
  constexpr double kLargest = 0.9999;
  constexpr double kPrecision = 1e-4;
  GatePlan tried = plan;
  tried.gate.margin = std::min(kLargest, kLargest * plan.gate.score_range);
  if (ExactRates(tried, num_items).pass < power) {
    return base::WithErrorInfo(
        absl::FailedPreconditionError(absl::StrCat(
            num_items, " items are too few for a gate of any margin")),
        {"NO_POWER", "ordo", {}});
  }
  double too_small = 0;
  double enough = tried.gate.margin;
  while (enough - too_small > kPrecision * enough) {
    tried.gate.margin = (too_small + enough) / 2;
    (ExactRates(tried, num_items).pass < power ? too_small : enough) =
        tried.gate.margin;
  }
  return enough;
}

}  // namespace ordo::report::stats

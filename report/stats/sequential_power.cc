#include "report/stats/sequential_power.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/stats/distributions.h"
#include "report/stats/gate.h"
#include "report/stats/sequential.h"

namespace ordo::report::stats {
namespace {

absl::Status CheckPlan(const GatePlan& plan) {
  // It is the judge of all but the sign.
  ORDO_RETURN_IF_ERROR(RatesOfGate(plan, 1).status());
  if (plan.difference >= 0) return absl::OkStatus();
  return base::InvalidField(
      "difference", absl::StrCat("is ", plan.difference,
                                 ": give 0 or more; how often a worse "
                                 "candidate passes is bounded by the level"));
}

bool PassesWith(const GatePlan& plan, int64_t num_better,
                int64_t num_discordant, int64_t num_items) {
  return IsAboveAnytime({{1, static_cast<double>(num_better)},
                         {-1, static_cast<double>(num_discordant - num_better)},
                         {0, static_cast<double>(num_items - num_discordant)}},
                        1, -plan.gate.margin, PassAlpha(plan.gate));
}

// The fewest better items of so many discordant ones that pass; one more than
// there are where none do. More that are better never undo a pass.
int64_t FewestBetter(const GatePlan& plan, int64_t num_discordant,
                     int64_t num_items) {
  int64_t too_few = -1;
  int64_t enough = num_discordant + 1;
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (PassesWith(plan, middle, num_discordant, num_items) ? enough : too_few) =
        middle;
  }
  return enough;
}

// REQUIRES: a valid plan and number of items.
double PassRateAt(const GatePlan& plan, int64_t num_items) {
  const double n = static_cast<double>(num_items);
  const double mean = n * plan.discordance;
  // Beyond eight standard deviations and a few items, less than 1e-12.
  const double reach = 8 * std::sqrt(mean * (1 - plan.discordance)) + 40;
  const auto first = static_cast<int64_t>(std::max(0.0, mean - reach));
  const auto last = static_cast<int64_t>(std::min(n, mean + reach));
  const double share_better =
      plan.discordance > 0
          ? std::clamp((1 + plan.difference / plan.discordance) / 2, 0.0, 1.0)
          : 0.5;
  double rate = 0;
  for (int64_t discordant = first; discordant <= last; ++discordant) {
    const double weight = BinomialPmf(discordant, num_items, plan.discordance);
    // All that is left out is less than 1e-8 together.
    if (weight < 1e-14) continue;
    rate +=
        weight * BinomialUpperTail(FewestBetter(plan, discordant, num_items),
                                   discordant, share_better);
  }
  return std::max(0.0, rate - FailAlpha(plan.gate));
}

}  // namespace

absl::StatusOr<double> SequentialPassRate(const GatePlan& plan,
                                          int64_t budget) {
  ORDO_RETURN_IF_ERROR(CheckPlan(plan));
  if (budget < 1 || budget > kMaxSequentialItems) {
    return base::InvalidField(
        "budget",
        absl::StrCat("is ", budget, ": give 1 to ", kMaxSequentialItems));
  }
  return PassRateAt(plan, budget);
}

absl::StatusOr<int64_t> BudgetForPower(const GatePlan& plan, double power) {
  ORDO_RETURN_IF_ERROR(CheckPlan(plan));
  if (!(power > 0 && power < 1)) {
    return base::InvalidField(
        "power",
        absl::StrCat("is ", power, ": give one between 0 and 1, such as 0.8"));
  }
  // About half have passed by then, so the search starts near its end.
  ORDO_ASSIGN_OR_RETURN(int64_t enough,
                        TypicalItems(plan, kMaxSequentialItems));
  int64_t too_few = 0;
  while (PassRateAt(plan, enough) < power) {
    if (enough == kMaxSequentialItems) {
      return base::WithErrorInfo(
          absl::FailedPreconditionError(
              absl::StrCat("a gate with margin ", plan.gate.margin,
                           " that may add items up "
                           "to ",
                           kMaxSequentialItems, " passes with probability ",
                           PassRateAt(plan, enough), ", not ", power)),
          {"NO_POWER", "ordo", {}});
    }
    too_few = enough;
    enough = std::min(2 * enough, kMaxSequentialItems);
  }
  while (enough - too_few > 1 + enough / 100) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (PassRateAt(plan, middle) < power ? too_few : enough) = middle;
  }
  return enough;
}

}  // namespace ordo::report::stats

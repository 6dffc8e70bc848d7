#include "report/stats/sequential.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::report::stats {
namespace {

// The best stake for a gap g and discordance p is about g / p: from gaps as
// large as the discordance down to those that a million items just show.
constexpr double kLargestStake = 0.97;
constexpr double kStakeFactor = 1.6;
constexpr int kNumStakes = 14;

// Whether the capital of betting that the mean is above m reaches 1 / alpha.
// `differences` lie in [-1, 1].
bool Refuses(const std::vector<DifferenceCount>& differences, double m,
             double alpha) {
  const double wanted = std::log(kNumStakes / alpha);
  // The sum of the capitals, as exp(largest) times `sum`.
  double largest = -1;
  double sum = 0;
  double stake = kLargestStake;
  for (int k = 0; k < kNumStakes; ++k, stake /= kStakeFactor) {
    if (stake * (1 + m) >= 1) continue;
    double log_capital = 0;
    for (const DifferenceCount& d : differences) {
      log_capital += d.count * std::log1p(stake * (d.difference - m));
    }
    if (log_capital > largest) {
      sum *= std::exp(largest - log_capital);
      largest = log_capital;
    }
    sum += std::exp(log_capital - largest);
  }
  return sum > 0 && largest + std::log(sum) >= wanted;
}

// The largest refused m; -1 where none is. Each capital falls as m rises, so
// there is one place to find.
double LowerBound(const std::vector<DifferenceCount>& differences,
                  double alpha) {
  double low = -1;
  double high = 1;
  if (!Refuses(differences, low, alpha)) return low;
  for (int bit = 0; bit < 50; ++bit) {
    const double middle = (low + high) / 2;
    (Refuses(differences, middle, alpha) ? low : high) = middle;
  }
  return low;
}

std::vector<DifferenceCount> Scaled(
    const std::vector<DifferenceCount>& differences, double factor) {
  std::vector<DifferenceCount> scaled = differences;
  for (DifferenceCount& d : scaled) d.difference *= factor;
  return scaled;
}

void CheckBounded(const std::vector<DifferenceCount>& differences, double range,
                  double alpha) {
  ORDO_CHECK(range > 0 && std::isfinite(range)) << "the range of a score";
  ORDO_CHECK(alpha > 0 && alpha < 1) << "a level between 0 and 1";
  for (const DifferenceCount& d : differences) {
    ORDO_CHECK(std::abs(d.difference) <= range && d.count >= 0)
        << "a difference of " << d.difference << ", " << d.count << " times";
  }
}

std::vector<DifferenceCount> CountDifferences(const PairedSample& sample) {
  std::map<double, double> counts;
  for (const Unit& unit : sample.units) counts[unit.sum] += 1;
  std::vector<DifferenceCount> differences;
  for (const auto& [difference, count] : counts) {
    differences.push_back({difference, count});
  }
  return differences;
}

// Whether `num_items` with exactly the shares of the plan pass.
bool TypicalPass(const GatePlan& plan, int64_t num_items) {
  const double n = static_cast<double>(num_items);
  const std::vector<DifferenceCount> differences = {
      {1, n * (plan.discordance + plan.difference) / 2},
      {-1, n * (plan.discordance - plan.difference) / 2},
      {0, n * (1 - plan.discordance)}};
  return Refuses(differences, -plan.gate.margin, PassAlpha(plan.gate));
}

}  // namespace

bool IsAboveAnytime(const std::vector<DifferenceCount>& differences,
                    double range, double mean, double alpha) {
  CheckBounded(differences, range, alpha);
  ORDO_CHECK(std::abs(mean) <= range) << "a mean within the range";
  return Refuses(Scaled(differences, 1 / range), mean / range, alpha);
}

Interval AnytimeInterval(const std::vector<DifferenceCount>& differences,
                         double range, double low_alpha, double high_alpha) {
  CheckBounded(differences, range, low_alpha);
  CheckBounded(differences, range, high_alpha);
  return {range * LowerBound(Scaled(differences, 1 / range), low_alpha),
          -range * LowerBound(Scaled(differences, -1 / range), high_alpha)};
}

absl::StatusOr<GateResult> DecideSequentially(const PairedSample& sample,
                                              const GateOptions& options) {
  ORDO_RETURN_IF_ERROR(CheckGateOptions(options));
  if (std::isinf(options.score_range) ||
      sample.max_difference > options.score_range) {
    return base::InvalidField(
        "score_range",
        absl::StrCat("is ", options.score_range,
                     ": a gate that adds items "
                     "needs a bound on what a score can differ by, here ",
                     sample.max_difference, " at least"));
  }
  if (static_cast<int64_t>(sample.units.size()) != sample.num_items) {
    return absl::FailedPreconditionError(
        "a gate that adds items needs independent ones, and these lie in units "
        "of several: leave out the pairing unit, or gate on a fixed set");
  }
  GateResult result;
  result.method = IntervalMethod::kAnytime;
  result.estimate = MeanDifference(sample);
  result.discordance =
      static_cast<double>(sample.num_better + sample.num_worse) /
      static_cast<double>(sample.num_items);
  result.interval =
      AnytimeInterval(CountDifferences(sample), options.score_range,
                      PassAlpha(options), FailAlpha(options));
  result.verdict = Decide(result.interval, options);
  return result;
}

int64_t NextLook(int64_t num_items, int64_t budget, int64_t items_per_sample) {
  ORDO_CHECK(num_items >= 0 && num_items <= budget) << "items within a budget";
  ORDO_CHECK(items_per_sample >= 1 && num_items % items_per_sample == 0 &&
             budget % items_per_sample == 0)
      << "whole samples of " << items_per_sample;
  constexpr int64_t kFewest = 100;
  const int64_t least = num_items + std::max(kFewest, num_items / 2);
  const int64_t num_samples = (least + items_per_sample - 1) / items_per_sample;
  return std::min(budget, num_samples * items_per_sample);
}

absl::StatusOr<int64_t> TypicalItems(const GatePlan& plan, int64_t budget) {
  // It is the judge of the plan, too.
  ORDO_RETURN_IF_ERROR(RatesOfGate(plan, 1).status());
  if (budget < 1 || budget > kMaxPlannedItems) {
    return base::InvalidField("budget", absl::StrCat("is ", budget,
                                                     ": give 1 "
                                                     "to ",
                                                     kMaxPlannedItems));
  }
  if (!TypicalPass(plan, budget)) {
    return base::WithErrorInfo(
        absl::FailedPreconditionError(
            absl::StrCat("a gate with margin ", plan.gate.margin,
                         " that may add items up "
                         "to ",
                         budget,
                         " would end inconclusive for a candidate of "
                         "difference ",
                         plan.difference, " at discordance ", plan.discordance,
                         ": allow more items or a larger margin")),
        {"NO_POWER", "ordo", {}});
  }
  int64_t too_few = 0;
  int64_t enough = budget;
  while (enough - too_few > 1 + enough / 1000) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (TypicalPass(plan, middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace ordo::report::stats

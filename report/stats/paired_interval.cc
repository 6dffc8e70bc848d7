#include "report/stats/paired_interval.h"

#include <algorithm>
#include <cmath>

#include "base/status/status.h"
#include "report/stats/bootstrap.h"
#include "report/stats/distributions.h"
#include "report/stats/proportions.h"

namespace ordo::report::stats {
namespace {

int64_t NumDiffering(const PairedSample& sample) {
  return std::count_if(sample.units.begin(), sample.units.end(),
                       [](const Unit& unit) { return unit.sum != 0; });
}

Interval ShareInterval(const PairedSample& sample,
                       const IntervalOptions& options) {
  return {PairedShareInterval(sample, options.low_alpha).low,
          PairedShareInterval(sample, options.high_alpha).high};
}

// A unit that got worse did so by at most the range on each of its items.
Interval UnitShareInterval(const PairedSample& sample,
                           const IntervalOptions& options) {
  if (std::isinf(options.score_range)) {
    return {-options.score_range, options.score_range};
  }
  const double num_units = static_cast<double>(sample.units.size());
  double num_better = 0;
  double num_worse = 0;
  int64_t largest = 0;
  for (const Unit& unit : sample.units) {
    num_better += unit.sum > 0 ? 1 : 0;
    num_worse += unit.sum < 0 ? 1 : 0;
    largest = std::max(largest, unit.num_items);
  }
  // The largest unit, in units of the mean one.
  const double weight = static_cast<double>(largest) * num_units /
                        static_cast<double>(sample.num_items);
  const auto bound = [&](double count, double alpha) {
    return options.score_range *
           std::min(1.0, weight * ShareUpperBound(count, num_units, alpha));
  };
  return {-bound(num_worse, options.low_alpha),
          bound(num_better, options.high_alpha)};
}

absl::StatusOr<Interval> BootstrapBounds(const PairedSample& sample,
                                         const IntervalOptions& options) {
  ORDO_ASSIGN_OR_RETURN(
      Interval interval,
      ResampledInterval(sample, 1 - 2 * options.low_alpha, options.seed));
  if (options.high_alpha != options.low_alpha) {
    ORDO_ASSIGN_OR_RETURN(
        const Interval other,
        ResampledInterval(sample, 1 - 2 * options.high_alpha, options.seed));
    interval.high = other.high;
  }
  return interval;
}

}  // namespace

IntervalMethod MethodOf(const PairedSample& sample) {
  if (sample.is_binary) return IntervalMethod::kPairedShares;
  if (NumDiffering(sample) < kMinDifferingUnits ||
      MeanDifference(sample).standard_error == 0) {
    return IntervalMethod::kShareOfUnits;
  }
  return IntervalMethod::kStudentizedBootstrap;
}

absl::StatusOr<Interval> IntervalOf(const PairedSample& sample,
                                    const IntervalOptions& options) {
  switch (MethodOf(sample)) {
    case IntervalMethod::kPairedShares:
      return ShareInterval(sample, options);
    case IntervalMethod::kStudentizedBootstrap:
      return BootstrapBounds(sample, options);
    case IntervalMethod::kShareOfUnits:
    case IntervalMethod::kAnytime:
      break;
  }
  return UnitShareInterval(sample, options);
}

}  // namespace ordo::report::stats

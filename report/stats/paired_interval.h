#ifndef ORDO_REPORT_STATS_PAIRED_INTERVAL_H_
#define ORDO_REPORT_STATS_PAIRED_INTERVAL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "report/stats/paired.h"

// Which interval a mean difference per item has: one rule for gates and
// comparisons. Pure functions, thread-safe.

namespace ordo::report::stats {

enum class IntervalMethod {
  // Right and wrong answers: PairedShareInterval.
  kPairedShares,
  // Other scores: the studentized bootstrap over units.
  kStudentizedBootstrap,
  // Other scores of which hardly any differ, or all do alike: exact bounds of
  // the shares of units that got worse and better, each by as much as the score
  // allows. It never leaves out 0.
  kShareOfUnits,
  // A sample that may grow until it decides: AnytimeInterval (sequential.h),
  // which is nothing that MethodOf chooses.
  kAnytime,
};

// With fewer units than this that differ the bootstrap has too little to draw
// from, and leaves out 0 far more often than its level says.
inline constexpr int kMinDifferingUnits = 20;

struct IntervalOptions {
  // One-sided levels of the two bounds, each above 0 and below 0.5.
  double low_alpha = 0.025;
  double high_alpha = 0.025;
  // The largest score less the smallest; infinite where the metric has no
  // bounds. What was never seen to differ is bounded by it.
  double score_range = 1;
  // Of the bootstrap: the same seed gives the same interval everywhere.
  uint64_t seed = 0;
};

// What IntervalOf goes by. REQUIRES: at least one unit.
IntervalMethod MethodOf(const PairedSample& sample);

// The interval of the mean difference per item, each bound of which holds with
// its level for independent units. Unbounded where the scores have no bounds
// and kShareOfUnits is the method. REQUIRES: at least one unit, options in
// range, no item that differs by more than score_range. Errors of
// BootstrapInterval.
absl::StatusOr<Interval> IntervalOf(const PairedSample& sample,
                                    const IntervalOptions& options);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_PAIRED_INTERVAL_H_

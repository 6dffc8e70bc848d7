#ifndef ORDO_REPORT_STATS_SEQUENTIAL_POWER_H_
#define ORDO_REPORT_STATS_SEQUENTIAL_POWER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "report/stats/power.h"

// How often a gate that adds items (sequential.h) passes within a budget. Pure
// functions, thread-safe.

namespace ordo::report::stats {

// A lower bound of the probability that such a gate on right and wrong answers
// passes with at most `budget` items, for a candidate that is not worse: that
// of passing at the last look, summed over all outcomes, less FailAlpha, by
// which it may have failed before. Never below 0. Looks before the last make
// the true probability larger by little, since who passes early mostly passes
// late too. INVALID_ARGUMENT as RatesOfGate, for a budget outside [1,
// kMaxSequentialItems], and for a difference below 0.
absl::StatusOr<double> SequentialPassRate(const GatePlan& plan, int64_t budget);

// Larger budgets take seconds.
inline constexpr int64_t kMaxSequentialItems = 1'000'000;

// A budget, to one in a hundred, with which SequentialPassRate reaches `power`.
// FAILED_PRECONDITION, reason "NO_POWER", when kMaxSequentialItems do not
// suffice; INVALID_ARGUMENT as above, or for a power outside (0, 1).
absl::StatusOr<int64_t> BudgetForPower(const GatePlan& plan, double power);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_SEQUENTIAL_POWER_H_

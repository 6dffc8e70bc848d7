#ifndef ORDO_REPORT_STATS_POWER_H_
#define ORDO_REPORT_STATS_POWER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "report/stats/gate.h"

// How often a gate gives which verdict, before it is run. Pure functions,
// thread-safe.

namespace ordo::report::stats {

// A gate on right and wrong answers of independent items.
struct GatePlan {
  GateOptions gate;
  // Share of items on which the arms will differ, as an earlier gate saw it.
  double discordance = 0;
  // The true difference, candidate - baseline; 0 is an equal candidate.
  double difference = 0;
};

// Probabilities of the verdicts; they sum to 1.
struct VerdictRates {
  double pass = 0;
  double fail = 0;
  double inconclusive = 0;
};

inline constexpr int64_t kMaxPlannedItems = 100'000'000;

// The rates of DecideGate on samples of `num_items`, summed over all outcomes:
// exact but for outcomes of probability 1e-12 together.
// INVALID_ARGUMENT: options out of range, num_items outside [1,
// kMaxPlannedItems], discordance outside [0, 1] or below |difference|.
absl::StatusOr<VerdictRates> RatesOfGate(const GatePlan& plan,
                                         int64_t num_items);

// The same for any score, from the standard error that the mean difference will
// have, by the normal approximation: pass = Phi((d + M) / SE - z(PassAlpha)).
// A standard error falls with the square root of the number of units.
// INVALID_ARGUMENT: options out of range, or standard_error not above 0.
absl::StatusOr<VerdictRates> RatesAtStandardError(const GateOptions& gate,
                                                  double difference,
                                                  double standard_error);

// A number of items, at most max_items, with which the plan passes with
// probability `power` at least; found by halving, a few items above the fewest,
// since the rate rises in small steps back and forth.
// FAILED_PRECONDITION, reason "NO_POWER", when max_items do not suffice, with
// the power there and, if there is one, the smallest margin that would do;
// INVALID_ARGUMENT as above, or for a power outside (0, 1).
absl::StatusOr<int64_t> ItemsForPower(const GatePlan& plan, double power,
                                      int64_t max_items);

// The smallest margin, to 1e-4 of itself, at which num_items give the power;
// the plan's own margin does not count. FAILED_PRECONDITION when no margin
// below score_range does.
absl::StatusOr<double> MarginForPower(const GatePlan& plan, double power,
                                      int64_t num_items);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_POWER_H_

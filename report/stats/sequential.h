#ifndef ORDO_REPORT_STATS_SEQUENTIAL_H_
#define ORDO_REPORT_STATS_SEQUENTIAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "report/stats/gate.h"
#include "report/stats/paired.h"
#include "report/stats/power.h"

// A gate on a task that can make more items: look, and add items until the gate
// decides or the budget is spent. Pure functions, thread-safe: what they say
// depends on the items alone, so a gate that was interrupted goes on from them.

namespace ordo::report::stats {

// How often a difference occurred. A fraction of an item is allowed.
struct DifferenceCount {
  double difference = 0;
  double count = 0;
};

// Whether the differences, which lie in [-range, range], refuse at level alpha
// that their mean is `mean` or less. It holds at all looks together: while the
// mean is that, the probability that this is ever true, at whatever number of
// items, is at most alpha. So one may look after each item, and stop when one
// likes; of items that come in samples, see below, after each sample. True when
// the betting martingale
//   sum_k w prod_i (1 + lambda_k (x_i - m)) >= 1 / alpha,
// x the differences and m the mean over range, the stakes lambda_k falling from
// 0.97 by factors of 1.6 to 0.002, w one over their number; a stake that a
// difference of -range would ruin, lambda (1 + m) >= 1, counts for nothing. The
// capital of a fair game ever reaches 1 / alpha with probability at most alpha
// (Ville 1939), and the game is no better than fair while the mean is m or
// less. No assumption on variance or distribution is made, only that each
// item's mean given those before is m or less.
//
// A sample of a grid, which has an independent item of each cell, does not keep
// that: after the cells that are lost those are left that are won, so that who
// bets on within the sample has better than a fair game. The whole sample is
// one again. While the means m_c of its cells have mean m or less it multiplies
// each capital, in the mean, by prod_c (1 + lambda (m_c - m)), which is 1 at
// most, as a geometric mean is no larger than the arithmetic one: however much
// the cells differ, all of the above holds at the ends of samples.
//
// Source: Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting", J. R. Stat. Soc. B 86 (2024), section 4; mixing over
// stakes as in Robbins, Ann. Math. Stat. 41 (1970). REQUIRES: |difference|,
// |mean| <= range < infinity, counts not negative, 0 < alpha < 1.
bool IsAboveAnytime(const std::vector<DifferenceCount>& differences,
                    double range, double mean, double alpha);

// The means that are not refused: from the largest for which IsAboveAnytime
// holds at low_alpha to the smallest for which it holds, at high_alpha, of the
// negated differences. The mean is ever below it with probability at most
// low_alpha, and ever above it with at most high_alpha. REQUIRES: as above.
Interval AnytimeInterval(const std::vector<DifferenceCount>& differences,
                         double range, double low_alpha, double high_alpha);

// DecideGate for a sample that grows between looks: over all looks together a
// candidate worse than the margin passes, and one not worse fails, with at most
// (1 - level) / 2 each (the second by Bonferroni for all of num_tests). The
// price is two to three times the items of a gate that looks once. Items that
// come in samples have to be whole samples (NextLook).
// INVALID_ARGUMENT as DecideGate, and for an infinite score_range.
// FAILED_PRECONDITION: units of several items (made items are independent).
absl::StatusOr<GateResult> DecideSequentially(const PairedSample& sample,
                                              const GateOptions& options);

// The number of items at which to look next, `budget` at most: half as many
// again, and at least 100 more, up to the end of a sample. REQUIRES:
// 0 <= num_items <= budget, 1 <= items_per_sample, which divides both.
int64_t NextLook(int64_t num_items, int64_t budget,
                 int64_t items_per_sample = 1);

// How many items it takes until a sample with exactly the plan's shares of
// better and worse items passes, to one in a thousand: the typical length of
// such a gate, by which somewhat more than half of them have passed.
// INVALID_ARGUMENT as RatesOfGate, or for a budget outside [1,
// kMaxPlannedItems]; FAILED_PRECONDITION, reason "NO_POWER", when the budget
// does not suffice.
absl::StatusOr<int64_t> TypicalItems(const GatePlan& plan, int64_t budget);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_SEQUENTIAL_H_

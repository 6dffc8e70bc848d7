#ifndef ORDO_REPORT_STATS_PAIRED_H_
#define ORDO_REPORT_STATS_PAIRED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

// Differences between two arms that answered the same items. Pure functions,
// thread-safe.

namespace ordo::report::stats {

// Bounds of a parameter, low <= high; infinite where nothing is known.
struct Interval {
  double low = 0;
  double high = 0;
};

// One item, scored under both arms; more is better.
struct PairedItem {
  double baseline = 0;
  double candidate = 0;
  // What the item is drawn with, such as its document: items of one unit may
  // depend on each other, units do not. Empty: the item stands alone.
  std::string unit;
};

// The items of one unit; differences are candidate - baseline.
struct Unit {
  double sum = 0;
  int64_t num_items = 0;
};

// What the statistics of a paired comparison are computed from.
struct PairedSample {
  // In the order of their first items; none is empty.
  std::vector<Unit> units;
  int64_t num_items = 0;
  // Items on which the candidate scored more, and less, than the baseline.
  int64_t num_better = 0;
  int64_t num_worse = 0;
  // Whether every score is 0 or 1.
  bool is_binary = true;
  // Of candidate - baseline: its largest size, and the sum of its squares.
  double max_difference = 0;
  double sum_of_squares = 0;
};

// Groups items into units. INVALID_ARGUMENT when there is no item, or for a
// score that is not finite, with its index: "items[7].candidate".
absl::StatusOr<PairedSample> MakePairedSample(
    const std::vector<PairedItem>& items);

struct Estimate {
  double mean = 0;
  // Infinite for a single unit, which says nothing about others.
  double standard_error = 0;
  int64_t num_items = 0;
  int64_t num_units = 0;
};

// The mean difference per item and its cluster-robust standard error. With unit
// sums s_g of n_g items, N items and G units, the mean is m = sum s_g / N and
//   SE^2 = G / (G - 1) * sum (s_g - m n_g)^2 / N^2,
// the sandwich estimator of a mean with the usual correction for few clusters
// (Liang and Zeger, Biometrika 73, 1986; Cameron and Miller, J. Human Resources
// 50, 2015, section II.B). Where each unit is one item it is s / sqrt(N). Units
// that differ by no more than rounding have an error of 0. Assumes independent
// units. REQUIRES: at least one unit.
Estimate MeanDifference(const PairedSample& sample);

// How much larger the variance of the mean is than that of as many independent
// items (Kish, Survey Sampling, 1965): SE^2 / (s^2 / N). At least 1: a lucky
// set of few units must not count for more items than it has. Where all
// differences are equal the ratio is unknown, and the largest that the sizes of
// the units allow is returned, sum n_g^2 / N. A single unit of several items:
// infinite. REQUIRES: at least one unit.
double DesignEffect(const PairedSample& sample);

// mean +- t SE with the quantile t of Student's distribution with
// num_units - 1 degrees of freedom: exact for normal unit means of equal size,
// and close for the means of 30 units or more. Unbounded for a single unit, and
// for a standard error of 0: how far units vary that were not seen to vary is
// not known.
// REQUIRES: 0 < level < 1.
Interval StudentTInterval(const Estimate& estimate, double level);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_PAIRED_H_

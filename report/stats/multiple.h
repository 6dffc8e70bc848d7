#ifndef ORDO_REPORT_STATS_MULTIPLE_H_
#define ORDO_REPORT_STATS_MULTIPLE_H_

#include <vector>

// Several tests at once: several arms against one, or several tasks. Pure
// functions, thread-safe.

namespace ordo::report::stats {

// P values adjusted so that refusing every hypothesis whose value is at most
// alpha refuses any true one with probability at most alpha, however the tests
// depend on each other: the i-th smallest of k is multiplied by k - i + 1, and
// none is smaller than one before it. Source: Holm, "A simple sequentially
// rejective multiple test procedure", Scand. J. Stat. 6 (1979), 65-70. In the
// order of `p_values`. REQUIRES: each in [0, 1].
std::vector<double> HolmAdjusted(const std::vector<double>& p_values);

// The level of each of num_intervals that makes all of them hold together with
// probability `level` at least, however they depend on each other: 1 - (1 -
// level) / k (Bonferroni; Dunn, J. Am. Stat. Assoc. 56, 1961). REQUIRES:
// 0 < level < 1, num_intervals >= 1.
double SimultaneousLevel(double level, int num_intervals);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_MULTIPLE_H_

#ifndef ORDO_REPORT_STATISTICS_H_
#define ORDO_REPORT_STATISTICS_H_

#include <cstdint>

namespace ordo::report {

// A share with an interval, all in [0, 1].
struct Share {
  double value = 0;
  double low = 0;
  double high = 1;
};

// Two-sided 95 % quantile of the standard normal distribution.
inline constexpr double kNormal95 = 1.959963984540054;

// The share of successes with Wilson's score interval, which keeps its level
// for few trials and at shares near 0 and 1, where the usual normal interval
// has no width. Source: Wilson, "Probable inference, the law of succession, and
// statistical inference", J. Am. Stat. Assoc. 22 (1927), the solution of
// |p - successes/trials| = z sqrt(p (1 - p) / trials). No trials: 0 in [0, 1].
// REQUIRES: 0 <= successes <= trials, z > 0.
Share WilsonInterval(int64_t successes, int64_t trials, double z = kNormal95);

// A share of items, some of which may have been drawn together.
struct SampledShare {
  // From 0 to 1.
  double value = 0;
  double standard_error = 0;
  // What was drawn, and the items of all.
  double units = 0;
  double items = 0;
};

// Wilson's interval of as many independent trials as have this standard error,
// at most the items; of a share of 0 or 1, where that error says nothing, of as
// many as there are units. Where each item is a unit, that of the items.
// REQUIRES: 2 units or more, and as many items.
Share SampledInterval(const SampledShare& share);

}  // namespace ordo::report

#endif  // ORDO_REPORT_STATISTICS_H_

#include "report/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ordo::report {

namespace {

// Of a share `p` of `n` > 0 trials, which need not be whole.
Share WilsonOf(double p, double n, double z) {
  const double z2 = z * z;
  const double center = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  Share share;
  share.value = p;
  // The bounds at 0 and at all successes are exact; rounding must not push them
  // past the value.
  share.low = p == 0 ? 0 : std::min(p, std::max(0.0, center - half));
  share.high = p == 1 ? 1 : std::max(p, std::min(1.0, center + half));
  return share;
}

}  // namespace

Share WilsonInterval(int64_t successes, int64_t trials, double z) {
  ORDO_CHECK(successes >= 0 && successes <= trials && z > 0)
      << "successes of trials, and a quantile";
  if (trials == 0) return Share();
  const auto n = static_cast<double>(trials);
  return WilsonOf(static_cast<double>(successes) / n, n, z);
}

Share SampledInterval(const SampledShare& share) {
  ORDO_CHECK(share.value >= 0 && share.value <= 1 && share.units >= 2 &&
             share.items >= share.units)
      << "a share of units with items";
  const double spread = share.value * (1 - share.value);
  if (spread == 0) return WilsonOf(share.value, share.units, kNormal95);
  const double variance = share.standard_error * share.standard_error *
                          (share.units - 1) / share.units;
  const double trials =
      variance * share.items > spread ? spread / variance : share.items;
  return WilsonOf(share.value, trials, kNormal95);
}

}  // namespace ordo::report

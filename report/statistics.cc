#include "report/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ordo::report {

Share WilsonInterval(int64_t successes, int64_t trials, double z) {
  ORDO_CHECK(successes >= 0 && successes <= trials && z > 0)
      << "successes of trials, and a quantile";
  if (trials == 0) return Share();
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double z2 = z * z;
  const double center = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  Share share;
  share.value = p;
  // The bounds at 0 and at all successes are exact; rounding must not push them
  // past the value.
  share.low = successes == 0 ? 0 : std::min(p, std::max(0.0, center - half));
  share.high =
      successes == trials ? 1 : std::max(p, std::min(1.0, center + half));
  return share;
}

}  // namespace ordo::report

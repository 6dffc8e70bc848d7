#ifndef ORDO_REPORT_STATS_BOOTSTRAP_H_
#define ORDO_REPORT_STATS_BOOTSTRAP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "report/stats/paired.h"

namespace ordo::report::stats {

enum class BootstrapKind {
  // Quantiles of the resampled means. Too short for few or skewed units.
  kPercentile,
  // Quantiles moved for bias and skewness: bias-corrected and accelerated.
  kBca,
  // Quantiles of the resampled t statistics; the closest to its level for means
  // of few or skewed units, and the widest.
  kStudentized,
};

struct BootstrapOptions {
  BootstrapKind kind = BootstrapKind::kStudentized;
  // Two-sided.
  double level = 0.95;
  int num_resamples = 9'999;
  // The same seed gives the same interval everywhere.
  uint64_t seed = 0;
};

inline constexpr int kMinResamples = 99;
inline constexpr int kMaxResamples = 1'000'000;

// A confidence interval of the mean difference per item by resampling whole
// units with replacement, as many as there are (the cluster bootstrap; Davison
// and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8). The
// quantile p of B resamples is the ordered value (B + 1) p, interpolated.
//   percentile:   the quantiles a and 1 - a of the resampled means m*.
//   BCa (Efron, J. Am. Stat. Assoc. 82, 1987): the quantiles
//                 Phi(z0 + (z0 + z) / (1 - A (z0 + z))), z = -+ z(1 - a), with
//                 z0 = Phi^-1 of the share of m* below m (equal ones half), and
//                 A = sum d^3 / (6 (sum d^2)^1.5), d the mean of the means
//                 without one unit each, less each of them.
//   studentized:  m - SE q(1 - a) to m - SE q(a), q the quantiles of
//                 (m* - m) / SE*, SE as in MeanDifference. A side is infinite
//                 when resamples without spread reach its quantile.
// Assumes independent units. Units that are all alike give an interval of no
// width: what was never seen to vary cannot be resampled; few discordant right
// and wrong answers are the business of PairedShareInterval.
// INVALID_ARGUMENT: level or num_resamples out of range, or a level for which
// the resamples are too few, (B + 1) (1 - level) / 2 < 1.
// FAILED_PRECONDITION: fewer than two units.
absl::StatusOr<Interval> BootstrapInterval(const PairedSample& sample,
                                           const BootstrapOptions& options);

// The studentized interval with as many resamples as its level needs, 9 999 at
// least. Unbounded for a single unit, and for a level that no number of
// resamples reaches, and for units that are all alike, of which nobody knows
// how far others vary. REQUIRES: 0 < level < 1.
absl::StatusOr<Interval> ResampledInterval(const PairedSample& sample,
                                           double level, uint64_t seed);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_BOOTSTRAP_H_

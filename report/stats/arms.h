#ifndef ORDO_REPORT_STATS_ARMS_H_
#define ORDO_REPORT_STATS_ARMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "report/stats/paired.h"

// Arms of a comparison that were trained from the same seeds. A seed is the
// unit here: items tell how well these checkpoints do, seeds how well the
// encoding does. Pure functions, thread-safe.

namespace ordo::report::stats {

struct Arm {
  std::string name;
  // One result per seed, in the order of the comparison's seeds.
  std::vector<double> results;
};

// All numbers of a single seed are as they are, and what needs two is infinite
// (deviation, interval) or 1 (p values). So are interval and t_p of seeds that
// do not vary: how far others would is not known.
struct ArmSummary {
  std::string name;
  double mean = 0;
  // Sample standard deviation over seeds (n - 1).
  double deviation = 0;
  // Student's interval of the mean, n - 1 degrees of freedom.
  Interval interval;
};

// An arm less the baseline, seed by seed.
struct ArmDifference {
  std::string name;
  double mean = 0;
  double deviation = 0;
  // Student's interval of the mean difference, such that those of all arms hold
  // together with the level (SimultaneousLevel). Assumes differences that are
  // about normal.
  Interval interval;
  // The same by resampling seeds (studentized, bootstrap.h), which assumes no
  // normal differences. A side is unbounded where the seeds are too few to say:
  // with three and a level of 0.95 both are. So it is where they do not vary.
  Interval bootstrap;
  // Two-sided p of the paired t test, and of the sign-flip test, which assumes
  // only that under "no difference" the arms of a seed could be swapped; n
  // seeds give it no value below 2^(1-n), times the arms once it is adjusted.
  double t_p = 1;
  double flip_p = 1;
  // The same, corrected for the number of arms (HolmAdjusted).
  double t_p_adjusted = 1;
  double flip_p_adjusted = 1;
};

struct ArmComparison {
  int num_seeds = 0;
  std::vector<ArmSummary> arms;
  // The arms but the baseline, in their order.
  std::vector<ArmDifference> differences;
};

struct ArmOptions {
  // Index of the arm that the others are compared with.
  int baseline = 0;
  // Two-sided, of the intervals.
  double level = 0.95;
  // Of the resamples, and of the sign flips where there are too many seeds to
  // try all. The same seed gives the same numbers everywhere.
  uint64_t seed = 0;
};

// REQUIRES: results, all finite, and a level between 0 and 1.
ArmSummary SummarizeArm(const Arm& arm, double level);

// INVALID_ARGUMENT with the field: fewer than two arms, an arm without results
// or with another number of them than the first, a result that is not finite, a
// baseline that is no arm, a level outside (0, 1).
absl::StatusOr<ArmComparison> CompareArms(const std::vector<Arm>& arms,
                                          const ArmOptions& options);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_ARMS_H_

#include "report/stats/arms.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/stats/bootstrap.h"
#include "report/stats/distributions.h"
#include "report/stats/exact_tests.h"
#include "report/stats/multiple.h"

namespace ordo::report::stats {
namespace {

absl::Status CheckArms(const std::vector<Arm>& arms,
                       const ArmOptions& options) {
  if (arms.size() < 2) {
    return base::InvalidField("arms",
                              "are fewer than two: there is nothing to "
                              "compare");
  }
  if (options.baseline < 0 ||
      static_cast<size_t>(options.baseline) >= arms.size()) {
    return base::InvalidField(
        "baseline", absl::StrCat("is ", options.baseline, ": give 0 to ",
                                 arms.size() - 1, ", the index of an arm"));
  }
  if (!(options.level > 0 && options.level < 1)) {
    return base::InvalidField("level", "is not between 0 and 1");
  }
  for (size_t a = 0; a < arms.size(); ++a) {
    const std::vector<double>& results = arms[a].results;
    const std::string field = absl::StrCat("arms[", a, "].results");
    if (results.empty() || results.size() != arms[0].results.size()) {
      return base::InvalidField(
          field,
          absl::StrCat("has ", results.size(), ", and arms[0] has ",
                       arms[0].results.size(), ": give one for each seed"));
    }
    for (const double result : results) {
      if (std::isfinite(result)) continue;
      return base::InvalidField(
          field,
          "holds one that is not finite: leave that seed out of all arms");
    }
  }
  return absl::OkStatus();
}

// Seeds as units of one item each.
PairedSample SeedDifferences(const std::vector<double>& arm,
                             const std::vector<double>& baseline) {
  PairedSample sample;
  sample.num_items = static_cast<int64_t>(arm.size());
  for (size_t i = 0; i < arm.size(); ++i) {
    sample.units.push_back({arm[i] - baseline[i], 1});
  }
  return sample;
}

double Deviation(const Estimate& estimate) {
  return estimate.standard_error *
         std::sqrt(static_cast<double>(estimate.num_units));
}

// Two-sided p of a mean of 0.
double StudentP(const Estimate& estimate) {
  if (estimate.num_units < 2 || estimate.standard_error == 0) return 1;
  const double t = std::abs(estimate.mean) / estimate.standard_error;
  return 2 * StudentTCdf(-t, static_cast<double>(estimate.num_units - 1));
}

void AdjustPValues(std::vector<ArmDifference>* differences) {
  std::vector<double> t;
  std::vector<double> flip;
  for (const ArmDifference& difference : *differences) {
    t.push_back(difference.t_p);
    flip.push_back(difference.flip_p);
  }
  t = HolmAdjusted(t);
  flip = HolmAdjusted(flip);
  for (size_t i = 0; i < differences->size(); ++i) {
    (*differences)[i].t_p_adjusted = t[i];
    (*differences)[i].flip_p_adjusted = flip[i];
  }
}

}  // namespace

ArmSummary SummarizeArm(const Arm& arm, double level) {
  const Estimate estimate = MeanDifference(
      SeedDifferences(arm.results, std::vector<double>(arm.results.size())));
  return {arm.name, estimate.mean, Deviation(estimate),
          StudentTInterval(estimate, level)};
}

absl::StatusOr<ArmComparison> CompareArms(const std::vector<Arm>& arms,
                                          const ArmOptions& options) {
  ORDO_RETURN_IF_ERROR(CheckArms(arms, options));
  ArmComparison comparison;
  comparison.num_seeds = static_cast<int>(arms[0].results.size());
  const auto baseline = static_cast<size_t>(options.baseline);
  const double level =
      SimultaneousLevel(options.level, static_cast<int>(arms.size()) - 1);
  SignFlipOptions flips;
  flips.seed = options.seed;
  for (size_t a = 0; a < arms.size(); ++a) {
    comparison.arms.push_back(SummarizeArm(arms[a], options.level));
    if (a == baseline) continue;
    const PairedSample sample =
        SeedDifferences(arms[a].results, arms[baseline].results);
    const Estimate estimate = MeanDifference(sample);
    ORDO_ASSIGN_OR_RETURN(const SignFlipResult flip,
                          SignFlipTest(sample, flips));
    ArmDifference difference;
    difference.name = arms[a].name;
    difference.mean = estimate.mean;
    difference.deviation = Deviation(estimate);
    difference.interval = StudentTInterval(estimate, level);
    ORDO_ASSIGN_OR_RETURN(difference.bootstrap,
                          ResampledInterval(sample, level, options.seed));
    difference.t_p = StudentP(estimate);
    difference.flip_p = flip.p;
    comparison.differences.push_back(difference);
  }
  AdjustPValues(&comparison.differences);
  return comparison;
}

}  // namespace ordo::report::stats

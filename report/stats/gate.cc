#include "report/stats/gate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/stats/bootstrap.h"
#include "report/stats/distributions.h"
#include "report/stats/proportions.h"

namespace ordo::report::stats {
namespace {

Interval ShareInterval(const PairedSample& sample, const GateOptions& options) {
  return {PairedShareInterval(sample, PassAlpha(options)).low,
          PairedShareInterval(sample, FailAlpha(options)).high};
}

int64_t NumDiffering(const PairedSample& sample) {
  return std::count_if(sample.units.begin(), sample.units.end(),
                       [](const Unit& unit) { return unit.sum != 0; });
}

// A unit that got worse did so by at most the range on each of its items.
Interval UnitShareInterval(const PairedSample& sample,
                           const GateOptions& options) {
  if (std::isinf(options.score_range)) {
    return {-options.score_range, options.score_range};
  }
  const double num_units = static_cast<double>(sample.units.size());
  double num_better = 0;
  double num_worse = 0;
  int64_t largest = 0;
  for (const Unit& unit : sample.units) {
    num_better += unit.sum > 0 ? 1 : 0;
    num_worse += unit.sum < 0 ? 1 : 0;
    largest = std::max(largest, unit.num_items);
  }
  // The largest unit, in units of the mean one.
  const double weight = static_cast<double>(largest) * num_units /
                        static_cast<double>(sample.num_items);
  const auto bound = [&](double count, double alpha) {
    return options.score_range *
           std::min(1.0, weight * ShareUpperBound(count, num_units, alpha));
  };
  return {-bound(num_worse, PassAlpha(options)),
          bound(num_better, FailAlpha(options))};
}

absl::StatusOr<Interval> BootstrapBounds(const PairedSample& sample,
                                         const GateOptions& options) {
  BootstrapOptions bootstrap;
  bootstrap.seed = options.seed;
  bootstrap.level = 1 - 2 * PassAlpha(options);
  // A hundred resamples beyond the quantile, or as many as there may be.
  constexpr double kBeyond = 100;
  bootstrap.num_resamples =
      static_cast<int>(std::clamp(kBeyond / FailAlpha(options), 9'999.0,
                                  static_cast<double>(kMaxResamples)));
  ORDO_ASSIGN_OR_RETURN(Interval interval,
                        BootstrapInterval(sample, bootstrap));
  if (options.num_tests > 1) {
    bootstrap.level = 1 - 2 * FailAlpha(options);
    ORDO_ASSIGN_OR_RETURN(const Interval corrected,
                          BootstrapInterval(sample, bootstrap));
    interval.high = corrected.high;
  }
  return interval;
}

}  // namespace

absl::Status CheckGateOptions(const GateOptions& options) {
  std::vector<base::FieldViolation> violations;
  if (!(options.margin > 0)) {
    violations.push_back(
        {"margin", absl::StrCat("is ", options.margin,
                                ": give one above 0; without a margin an equal "
                                "candidate hardly ever passes, on however many "
                                "items")});
  }
  if (!(options.score_range > 0)) {
    violations.push_back({"score_range", "is not above 0"});
  } else if (options.margin >= options.score_range) {
    violations.push_back(
        {"margin", absl::StrCat("is ", options.margin, ": scores differ by ",
                                options.score_range,
                                " at most, so every candidate would pass; give "
                                "less")});
  }
  if (!(options.level > 0.5 && options.level <= kMaxGateLevel)) {
    violations.push_back(
        {"level", absl::StrCat("is ", options.level, ": give 0.5 to ",
                               kMaxGateLevel, ", such as 0.95")});
  }
  if (options.num_tests < 1 || options.num_tests > kMaxGateTests) {
    violations.push_back(
        {"num_tests", absl::StrCat("is ", options.num_tests, ": give 1 to ",
                                   kMaxGateTests)});
  }
  return base::InvalidFields(violations);
}

double PassAlpha(const GateOptions& options) { return (1 - options.level) / 2; }

double FailAlpha(const GateOptions& options) {
  return (1 - options.level) / 2 / options.num_tests;
}

Verdict Decide(const Interval& interval, const GateOptions& options) {
  if (interval.low > -options.margin) return Verdict::kPass;
  const double bar =
      options.fail_below == FailBelow::kZero ? 0 : -options.margin;
  return interval.high < bar ? Verdict::kFail : Verdict::kInconclusive;
}

Verdict DecideJointly(const std::vector<Verdict>& verdicts) {
  ORDO_CHECK(!verdicts.empty()) << "a joint verdict on nothing";
  Verdict joint = Verdict::kPass;
  for (const Verdict verdict : verdicts) {
    if (verdict == Verdict::kFail) return Verdict::kFail;
    if (verdict == Verdict::kInconclusive) joint = Verdict::kInconclusive;
  }
  return joint;
}

absl::StatusOr<GateResult> DecideGate(const PairedSample& sample,
                                      const GateOptions& options) {
  ORDO_RETURN_IF_ERROR(CheckGateOptions(options));
  if (sample.max_difference > options.score_range) {
    return base::InvalidField("score_range",
                              absl::StrCat("is ", options.score_range,
                                           ", and scores of an item "
                                           "differ by ",
                                           sample.max_difference));
  }
  GateResult result;
  result.estimate = MeanDifference(sample);
  result.discordance =
      static_cast<double>(sample.num_better + sample.num_worse) /
      static_cast<double>(sample.num_items);
  if (sample.is_binary) {
    result.method = IntervalMethod::kPairedShares;
    result.interval = ShareInterval(sample, options);
  } else if (NumDiffering(sample) < kMinDifferingUnits) {
    result.method = IntervalMethod::kShareOfUnits;
    result.interval = UnitShareInterval(sample, options);
  } else {
    result.method = IntervalMethod::kStudentizedBootstrap;
    ORDO_ASSIGN_OR_RETURN(result.interval, BootstrapBounds(sample, options));
  }
  result.verdict = Decide(result.interval, options);
  return result;
}

}  // namespace ordo::report::stats

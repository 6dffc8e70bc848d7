#include "report/stats/gate.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::report::stats {

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
  IntervalOptions bounds;
  bounds.low_alpha = PassAlpha(options);
  bounds.high_alpha = FailAlpha(options);
  bounds.score_range = options.score_range;
  bounds.seed = options.seed;
  result.method = MethodOf(sample);
  ORDO_ASSIGN_OR_RETURN(result.interval, IntervalOf(sample, bounds));
  result.verdict = Decide(result.interval, options);
  return result;
}

}  // namespace ordo::report::stats

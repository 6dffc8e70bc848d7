#ifndef ORDO_REPORT_STATS_GATE_H_
#define ORDO_REPORT_STATS_GATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/stats/paired.h"
#include "report/stats/paired_interval.h"

// Is a candidate worse than a baseline by no more than a margin? Pure
// functions, thread-safe.

namespace ordo::report::stats {

enum class Verdict {
  kPass,          // Shown to be worse by less than the margin, or better.
  kFail,          // Shown to be worse.
  kInconclusive,  // Neither; more items could tell.
};

// Below what the whole interval must lie for a gate to fail.
enum class FailBelow {
  kZero,    // Any loss that is shown.
  kMargin,  // A loss shown to be larger than the margin.
};

struct GateOptions {
  // The loss that is let through, in units of the score, above 0 and below
  // score_range.
  double margin = 0;
  // Two-sided: each side of the interval errs with (1 - level) / 2.
  double level = 0.95;
  FailBelow fail_below = FailBelow::kZero;
  // How many tests are decided together (tasks, times baseline and anchor).
  int num_tests = 1;
  // The largest score less the smallest; infinite where the metric has no
  // bounds. What was never seen to differ is bounded by it.
  double score_range = 1;
  // Of the bootstrap, for scores between right and wrong.
  uint64_t seed = 0;
};

// So that the bootstrap can resolve FailAlpha.
inline constexpr int kMaxGateTests = 100;
inline constexpr double kMaxGateLevel = 0.999;

// INVALID_ARGUMENT with all fields that are out of range. A margin of 0 is:
// an equal candidate would pass with probability (1 - level) / 2 at every
// number of items, so no budget gives such a gate power.
absl::Status CheckGateOptions(const GateOptions& options);

// One-sided levels of the two bounds of one test. A joint pass needs every test
// to pass, so that a candidate worse than the margin on one task passes with no
// more than (1 - level) / 2 however many tests there are (intersection-union
// test; Berger, Technometrics 24, 1982). A joint fail needs one test to fail,
// so the level is divided by their number (Bonferroni).
double PassAlpha(const GateOptions& options);
double FailAlpha(const GateOptions& options);

// Pass: low > -margin. Else fail: high < 0, or high < -margin by fail_below.
// Else inconclusive. A loss shown to be within the margin passes: that is what
// the margin lets through.
Verdict Decide(const Interval& interval, const GateOptions& options);

// Pass when all pass, fail when one fails, else inconclusive.
// REQUIRES: at least one.
Verdict DecideJointly(const std::vector<Verdict>& verdicts);

struct GateResult {
  Verdict verdict = Verdict::kInconclusive;
  Estimate estimate;
  // low at PassAlpha, high at FailAlpha.
  Interval interval;
  IntervalMethod method = IntervalMethod::kPairedShares;
  // Share of items on which the arms differ.
  double discordance = 0;
};

// The verdict on one test, by IntervalOf. Each bound holds with its level for
// independent units. INVALID_ARGUMENT: options out of range, or an item whose
// scores differ by more than score_range.
absl::StatusOr<GateResult> DecideGate(const PairedSample& sample,
                                      const GateOptions& options);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_GATE_H_

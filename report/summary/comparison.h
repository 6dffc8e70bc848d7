#ifndef ORDO_REPORT_SUMMARY_COMPARISON_H_
#define ORDO_REPORT_SUMMARY_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "report/stats/arms.h"
#include "report/summary/control.h"
#include "report/summary/results.h"

namespace ordo::report::summary {

// What stands where a score has its evaluation.
inline constexpr char kCostName[] = "cost";

// One score of all arms.
struct ComparedMetric {
  MetricKey key;
  // [arm][seed]; nothing where a run has none, or did not succeed: what stands
  // at the step where it was cut off is no result.
  std::vector<std::vector<std::optional<Scored>>> scores;
  // Over those seeds of which every arm has a finite value at the same step,
  // or, with a budget, at its end; nothing when there is none, or it is by
  // token and tokenizers differ.
  std::optional<stats::ArmComparison> comparison;
  // Of each run: what its score is a mean of, as its result says (SampleSize);
  // where that says nothing, the items that it was asked, of a score of one
  // length those of that length. 0: not known, or not as many.
  int64_t num_items = 0;
};

// What a run of an arm takes, means over the seeds of which the runs of all
// arms finished, so that each arm counts the same seeds, as in its scores; 0:
// not recorded, or no such seed.
struct ArmCost {
  int num_seeds = 0;
  int64_t num_parameters = 0;
  int64_t num_encoding_parameters = 0;
  // Of one training step.
  double step_flops = 0;
  // Of a whole run.
  double device_seconds = 0;
  // Mean time of one training step, times the devices that it takes; 0 where
  // one of the runs did not record it.
  double step_device_seconds = 0;
  // The most that a run held: of a GPU's memory, or else resident. 0 where one
  // of the runs did not record it.
  double peak_memory_bytes = 0;
};

struct Comparison {
  // In the order of the parts; `baseline` is an index into them.
  std::vector<std::string> arms;
  int baseline = 0;
  std::vector<uint64_t> seeds;
  // Of the intervals.
  double confidence = 0.95;
  std::vector<ComparedMetric> metrics;
  // By arm.
  std::vector<ArmCost> costs;
  // What runs take, compared as scores are, over the seeds that `costs` are of:
  // device_seconds, step_device_seconds and peak_memory_bytes of the evaluation
  // kCostName, those that each of these runs recorded.
  std::vector<ComparedMetric> compared_costs;
  Tokenizers tokenizers;
  Control control;
};

// What an arm is above the baseline as a share of the size of its mean: 0.25 is
// a quarter more. NaN of a baseline of 0. REQUIRES: metric.comparison is set.
double RelativeDifference(const Comparison& comparison,
                          const ComparedMetric& metric,
                          const stats::ArmDifference& difference);

// `records` as of CheckControl, `spreads` as of Tabulate. INVALID_ARGUMENT with
// the field: no parts, a baseline that is no arm, two parts of one arm and
// seed, a confidence outside (0, 1).
absl::StatusOr<Comparison> Compare(
    const ordo::training::v1::SummarizeSpec& spec,
    const std::vector<PartRecords>& records, const Spreads& spreads = {});

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_COMPARISON_H_

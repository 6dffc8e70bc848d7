#ifndef ORDO_REPORT_SUMMARY_ITEMS_H_
#define ORDO_REPORT_SUMMARY_ITEMS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "report/stats/paired.h"
#include "report/table.h"

// How the arms of a comparison differ item by item. Seeds tell how well an
// encoding does, and few of them tell little; items tell how well the very
// checkpoints do that these seeds made. Pure functions, thread-safe.

namespace ordo::report::summary {

// Reports of one evaluation, of runs of one seed, by PartResult.Report.path.
struct ReportPair {
  std::string candidate;
  std::string baseline;
};

// Of an arm with those of the baseline.
struct PairedArm {
  std::string evaluation;
  std::string arm;
  // Of the evaluation.
  std::string task;
  // By seed, one or more.
  std::vector<ReportPair> seeds;
};

// Of each evaluation and each arm but the baseline, over the seeds of which
// every arm has a run that succeeded and was evaluated at the same step or,
// with a budget, at its end.
std::vector<PairedArm> PairArms(const ordo::training::v1::SummarizeSpec& spec);

// What the runs of an arm scored beside those of the baseline, item by item.
struct ArmItems {
  std::string evaluation;
  std::string arm;
  int num_seeds = 0;
  // Of all seeds. What several seeds were asked alike is one unit, as is what
  // an item is drawn with: such differences depend on each other.
  stats::PairedSample sample;
  // The largest score of an item less the smallest; infinite without bounds.
  double score_range = 1;
};

// The mean difference per item, more being better.
struct ItemDifference {
  std::string evaluation;
  std::string arm;
  int num_seeds = 0;
  stats::Estimate estimate;
  // As that of a gate (stats::IntervalOf), units having all their seeds; those
  // of all arms of an evaluation hold together. Where more than
  // kMaxResampledUnits would be resampled it is Student's, which is the same
  // then. Unbounded where hardly a unit differs and scores have no bounds.
  stats::Interval interval;
};

inline constexpr size_t kMaxResampledUnits = 10'000;

// In the order of `items`, whose samples have a unit or more. REQUIRES:
// 0 < confidence < 1. Errors of IntervalOf.
absl::StatusOr<std::vector<ItemDifference>> CompareItems(
    const std::vector<ArmItems>& items, double confidence);

// A row for each evaluation and arm.
Table ItemTable(const std::vector<ItemDifference>& differences);

// As an object of JSON.
google::protobuf::Value ItemValue(const ItemDifference& difference);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_ITEMS_H_

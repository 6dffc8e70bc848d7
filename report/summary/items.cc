#include "report/summary/items.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "report/json_values.h"
#include "report/stats/multiple.h"
#include "report/stats/paired_interval.h"
#include "report/summary/results.h"

namespace ordo::report::summary {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

// Of the resamples: the same items give the same interval.
constexpr uint64_t kBootstrapSeed = 1;

// Of one evaluation and seed.
using ReportOfArm = std::map<std::string, const PartResult::Report*>;

// Whether each arm has one that may be compared with those of the others.
bool IsWhole(const ReportOfArm& reports, size_t num_arms, bool by_end) {
  if (reports.size() < num_arms) return false;
  const int64_t step = reports.begin()->second->step();
  return by_end ||
         std::all_of(reports.begin(), reports.end(), [step](const auto& entry) {
           return entry.second->step() == step;
         });
}

absl::StatusOr<stats::Interval> IntervalAt(const ArmItems& items,
                                           double level) {
  if (items.sample.units.size() > kMaxResampledUnits &&
      stats::MethodOf(items.sample) ==
          stats::IntervalMethod::kStudentizedBootstrap) {
    return stats::StudentTInterval(stats::MeanDifference(items.sample), level);
  }
  stats::IntervalOptions options;
  options.low_alpha = (1 - level) / 2;
  options.high_alpha = options.low_alpha;
  options.score_range = items.score_range;
  options.seed = kBootstrapSeed;
  return stats::IntervalOf(items.sample, options);
}

}  // namespace

std::vector<PairedArm> PairArms(const SummarizeSpec& spec) {
  const std::string& baseline = spec.comparison().baseline();
  const bool by_end = !spec.comparison().budget().empty();
  std::vector<std::string> arms;
  std::map<std::string, std::map<uint64_t, ReportOfArm>> evaluations;
  for (const PartResult& part : spec.parts()) {
    if (!IsRun(part)) continue;
    if (std::find(arms.begin(), arms.end(), part.part()) == arms.end()) {
      arms.push_back(part.part());
    }
    if (!HasSucceeded(part)) continue;
    for (const CountedReport& counted : CountedReports(part)) {
      const bool counts =
          !by_end || counted.report->step() == part.checkpoint().step();
      if (!counts) continue;
      evaluations[counted.evaluation][part.seed()][part.part()] =
          counted.report;
    }
  }
  if (std::find(arms.begin(), arms.end(), baseline) == arms.end()) return {};
  std::vector<PairedArm> paired;
  for (const auto& [evaluation, seeds] : evaluations) {
    for (const std::string& arm : arms) {
      if (arm == baseline) continue;
      PairedArm of_arm = {evaluation, arm, {}, {}};
      for (const auto& [seed, reports] : seeds) {
        if (!IsWhole(reports, arms.size(), by_end)) continue;
        of_arm.task = reports.at(arm)->task();
        of_arm.seeds.push_back(
            {reports.at(arm)->path(), reports.at(baseline)->path()});
      }
      if (!of_arm.seeds.empty()) paired.push_back(std::move(of_arm));
    }
  }
  return paired;
}

absl::StatusOr<std::vector<ItemDifference>> CompareItems(
    const std::vector<ArmItems>& items, double confidence) {
  std::map<std::string, int> num_arms;
  for (const ArmItems& of_arm : items) ++num_arms[of_arm.evaluation];
  std::vector<ItemDifference> differences;
  for (const ArmItems& of_arm : items) {
    ItemDifference& difference = differences.emplace_back();
    difference.evaluation = of_arm.evaluation;
    difference.arm = of_arm.arm;
    difference.num_seeds = of_arm.num_seeds;
    difference.estimate = stats::MeanDifference(of_arm.sample);
    ORDO_ASSIGN_OR_RETURN(
        difference.interval,
        IntervalAt(of_arm, stats::SimultaneousLevel(
                               confidence, num_arms[of_arm.evaluation])));
  }
  return differences;
}

Table ItemTable(const std::vector<ItemDifference>& differences) {
  Table table;
  table.title = "Differences by item, with intervals over items";
  table.num_text_columns = 2;
  table.header = {"evaluation", "arm",   "seeds",
                  "pairs",      "units", "difference (more is better)",
                  "low",        "high"};
  table.note =
      "An item is a line of items.jsonl, and all items count alike. Where one "
      "has several answers, as a row of flip_flop has reads, its score is the "
      "share of them that is right, while scores by arm are over the answers "
      "of all items together: differences by item and by seed are then of "
      "unlike scores.";
  for (const ItemDifference& each : differences) {
    table.rows.push_back(
        {each.evaluation, each.arm, absl::StrCat(each.num_seeds),
         absl::StrCat(each.estimate.num_items),
         absl::StrCat(each.estimate.num_units), NumberText(each.estimate.mean),
         NumberText(each.interval.low), NumberText(each.interval.high)});
  }
  return table;
}

Value ItemValue(const ItemDifference& difference) {
  const stats::Estimate& estimate = difference.estimate;
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["evaluation"] = TextValue(difference.evaluation);
  map["arm"] = TextValue(difference.arm);
  map["seeds"] = NumberOrNull(difference.num_seeds);
  map["pairs"] = NumberOrNull(static_cast<double>(estimate.num_items));
  map["units"] = NumberOrNull(static_cast<double>(estimate.num_units));
  map["mean"] = NumberOrNull(estimate.mean);
  map["standard_error"] = NumberOrNull(estimate.standard_error);
  map["interval"] = ListOf(
      std::vector<double>{difference.interval.low, difference.interval.high},
      NumberOrNull);
  return StructValue(std::move(fields));
}

}  // namespace ordo::report::summary

#include "report/summary/tables.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "report/metrics.h"
#include "report/statistics.h"
#include "report/stats/arms.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

constexpr size_t kShownDigits = 12;
// As the parts of sweeps are called: "encoding.name=rope, training.seed=1".
constexpr char kBetweenValues[] = ", ";
constexpr double kLevel = 0.95;
constexpr char kSeedValue[] = "training.seed=";

std::string IntervalText(const stats::Interval& interval) {
  if (!std::isfinite(interval.low) && !std::isfinite(interval.high)) {
    return kNoValue;
  }
  return absl::StrCat("[", NumberText(interval.low), ", ",
                      NumberText(interval.high), "]");
}

std::string Positive(double value) {
  return value > 0 ? NumberText(value) : kNoValue;
}

std::string Count(int64_t count) {
  return count > 0 ? absl::StrCat(count) : kNoValue;
}

std::string Digest(const std::string& digest) {
  return digest.empty() ? kNoValue : digest.substr(0, kShownDigits);
}

// The newest step that it was evaluated at.
int64_t LastStep(const PartResult& part) {
  int64_t last = 0;
  for (const PartResult::Report& report : part.reports()) {
    last = std::max<int64_t>(last, report.step());
  }
  return last;
}

std::string PartCell(const PartResult& part) {
  if (!WasStoppedEarly(part)) return part.part();
  return absl::StrCat(part.part(), " (stopped early at step ", LastStep(part),
                      ")");
}

// Over another draw of the questions; unbounded where they were never seen to
// differ and it is not known how many they are.
stats::Interval IntervalOf(double value, const Spread& spread) {
  if (spread.sampled.has_value()) {
    // One less a mean may be rounded past 0.
    const Share share =
        SampledInterval({std::clamp(value, 0.0, 1.0), spread.standard_error,
                         spread.sampled->units, spread.sampled->items});
    return {share.low, share.high};
  }
  if (spread.standard_error == 0) return {-INFINITY, INFINITY};
  const double half = kNormal95 * spread.standard_error;
  return {value - half, value + half};
}

std::string ScoreCell(const std::optional<Scored>& score) {
  if (!score.has_value()) return kNoValue;
  const std::string value = NumberText(score->value);
  if (!score->spread.has_value()) return value;
  const stats::Interval interval = IntervalOf(score->value, *score->spread);
  if (std::isinf(interval.low)) return value;
  return absl::StrCat(value, " ", IntervalText(interval));
}

// Those that succeeded, by what they are called but for their seed.
std::map<std::string, std::vector<int>> PartsButSeed(
    const SummarizeSpec& spec) {
  std::map<std::string, std::vector<int>> parts;
  for (int i = 0; i < spec.parts_size(); ++i) {
    if (!HasSucceeded(spec.parts(i))) continue;
    std::vector<absl::string_view> names;
    for (const absl::string_view name :
         absl::StrSplit(spec.parts(i).part(), kBetweenValues)) {
      if (!absl::StartsWith(name, kSeedValue)) names.push_back(name);
    }
    parts[names.empty() ? "all" : absl::StrJoin(names, kBetweenValues)]
        .push_back(i);
  }
  return parts;
}

// Of the arms but the baseline; null for that.
const stats::ArmDifference* DifferenceOf(const stats::ArmComparison& comparison,
                                         const std::string& arm) {
  for (const stats::ArmDifference& difference : comparison.differences) {
    if (difference.name == arm) return &difference;
  }
  return nullptr;
}

// Means of all arms and their differences from the baseline.
Table ArmTable(const Comparison& comparison,
               const std::vector<ComparedMetric>& metrics) {
  Table table;
  table.num_text_columns = 3;
  table.header = {"evaluation",
                  "score",
                  "arm",
                  "seeds",
                  "items",
                  "mean",
                  "deviation",
                  "difference",
                  "relative",
                  "interval",
                  "bootstrap interval",
                  "p (t)",
                  "p (flips)"};
  for (const ComparedMetric& metric : metrics) {
    if (!metric.comparison.has_value()) continue;
    for (const stats::ArmSummary& arm : metric.comparison->arms) {
      std::vector<std::string> row = {
          metric.key.evaluation,
          metric.key.metric,
          arm.name,
          absl::StrCat(metric.comparison->num_seeds),
          Count(metric.num_items),
          NumberText(arm.mean),
          NumberText(arm.deviation)};
      const auto* difference = DifferenceOf(*metric.comparison, arm.name);
      if (difference == nullptr) {
        row.insert(row.end(), {"baseline", kNoValue, kNoValue, kNoValue,
                               kNoValue, kNoValue});
      } else {
        const bool has_p = metric.comparison->num_seeds > 1;
        row.insert(
            row.end(),
            {NumberText(difference->mean),
             NumberText(RelativeDifference(comparison, metric, *difference)),
             IntervalText(difference->interval),
             IntervalText(difference->bootstrap),
             has_p ? NumberText(difference->t_p_adjusted) : kNoValue,
             has_p ? NumberText(difference->flip_p_adjusted) : kNoValue});
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// Rows of DifferenceTable.
void AddDifferences(const Comparison& comparison, const ComparedMetric& metric,
                    Table* table) {
  if (!metric.comparison.has_value()) return;
  const int num_seeds = metric.comparison->num_seeds;
  const auto p = [&](double value) {
    return num_seeds > 1 ? ExactText(value) : "";
  };
  for (const stats::ArmDifference& each : metric.comparison->differences) {
    table->rows.push_back(
        {metric.key.evaluation, metric.key.metric, each.name,
         comparison.arms[comparison.baseline], absl::StrCat(num_seeds),
         metric.num_items > 0 ? absl::StrCat(metric.num_items) : "",
         ExactText(each.mean),
         ExactText(RelativeDifference(comparison, metric, each)),
         ExactText(each.deviation), ExactText(each.interval.low),
         ExactText(each.interval.high), ExactText(each.bootstrap.low),
         ExactText(each.bootstrap.high), p(each.t_p), p(each.t_p_adjusted),
         p(each.flip_p), p(each.flip_p_adjusted)});
  }
}

}  // namespace

Table ComparisonTable(const Comparison& comparison) {
  Table table = ArmTable(comparison, comparison.metrics);
  table.title = "Scores by arm";
  const bool has_items = std::any_of(
      comparison.metrics.begin(), comparison.metrics.end(),
      [](const ComparedMetric& metric) { return metric.num_items > 0; });
  if (has_items) {
    table.note = absl::StrCat(
        kAboutItems, " Of what is no such mean they are lines of items.jsonl.");
  }
  return table;
}

Table CostComparisonTable(const Comparison& comparison) {
  Table table = ArmTable(comparison, comparison.compared_costs);
  table.title = "Costs by arm";
  return table;
}

Table DifferenceTable(const Comparison& comparison) {
  Table table;
  table.header = {"evaluation",     "score", "arm",          "baseline",
                  "seeds",          "items", "difference",   "relative",
                  "deviation",      "low",   "high",         "bootstrap_low",
                  "bootstrap_high", "t_p",   "t_p_adjusted", "flip_p",
                  "flip_p_adjusted"};
  for (const ComparedMetric& metric : comparison.metrics) {
    AddDifferences(comparison, metric, &table);
  }
  for (const ComparedMetric& cost : comparison.compared_costs) {
    AddDifferences(comparison, cost, &table);
  }
  return table;
}

Table CostTable(const Comparison& comparison) {
  Table table;
  table.title = "Cost of a run";
  table.header = {"arm",
                  "seeds",
                  "parameters",
                  "of the encoding",
                  "GFLOP per step",
                  "device seconds per step",
                  "device seconds",
                  "peak memory (MiB)"};
  for (size_t i = 0; i < comparison.arms.size(); ++i) {
    const ArmCost& cost = comparison.costs[i];
    table.rows.push_back(
        {comparison.arms[i], Count(cost.num_seeds), Count(cost.num_parameters),
         cost.num_parameters > 0 ? absl::StrCat(cost.num_encoding_parameters)
                                 : kNoValue,
         Positive(cost.step_flops / 1e9), Positive(cost.step_device_seconds),
         Positive(cost.device_seconds),
         Positive(cost.peak_memory_bytes / (1 << 20))});
  }
  return table;
}

Table ScoreTable(const SummarizeSpec& spec, const Results& results) {
  Table table;
  table.title = "Scores";
  table.num_text_columns = 2;
  table.header = {"job", "part"};
  for (const MetricKey& key : results.metrics) {
    table.header.push_back(Title(key));
  }
  for (int i = 0; i < spec.parts_size(); ++i) {
    std::vector<std::string> row = {spec.parts(i).job(),
                                    PartCell(spec.parts(i))};
    for (const auto& scores : results.scores) {
      row.push_back(ScoreCell(scores[i]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table StageTable(const SummarizeSpec& spec, const Spreads& spreads) {
  Table table;
  table.title = "Scores";
  table.num_text_columns = 4;
  table.header = {"stage", "evaluation", "checkpoint",
                  "score", "value",      "95 % interval"};
  for (const PartResult& part : spec.parts()) {
    for (const CountedReport& counted : CountedReports(part)) {
      const PartResult::Report& report = *counted.report;
      Metrics metrics;
      metrics.task = report.task();
      metrics.values.insert(report.metrics().begin(), report.metrics().end());
      for (const auto& [name, value] :
           InOrder(WithoutCopies(std::move(metrics)).values)) {
        if (!IsScore(report, name)) continue;
        const std::optional<Spread> spread = SpreadOf(report, name, spreads);
        table.rows.push_back(
            {part.part(), report.evaluation(),
             report.checkpoint().empty() ? kNoValue : report.checkpoint(), name,
             NumberText(value),
             spread.has_value() ? IntervalText(IntervalOf(value, *spread))
                                : kNoValue});
      }
    }
  }
  return table;
}

Table SeedTable(const SummarizeSpec& spec, const Results& results) {
  Table table;
  table.title = "Means over seeds";
  table.num_text_columns = 3;
  table.header = {"part", "evaluation", "score",        "seeds",
                  "mean", "deviation",  "95 % interval"};
  for (const auto& [name, parts] : PartsButSeed(spec)) {
    for (size_t m = 0; m < results.metrics.size(); ++m) {
      std::vector<double> values;
      for (const int part : parts) {
        const std::optional<Scored>& score = results.scores[m][part];
        if (score.has_value() && std::isfinite(score->value)) {
          values.push_back(score->value);
        }
      }
      if (values.size() < 2) continue;
      const stats::ArmSummary summary =
          stats::SummarizeArm({name, values}, kLevel);
      table.rows.push_back(
          {name, results.metrics[m].evaluation, results.metrics[m].metric,
           absl::StrCat(values.size()), NumberText(summary.mean),
           NumberText(summary.deviation), IntervalText(summary.interval)});
    }
  }
  return table;
}

Table PartTable(const SummarizeSpec& spec) {
  Table table;
  table.title = "Runs";
  table.num_text_columns = 3;
  table.header = {"job",           "part",          "state",
                  "seed",          "steps",         "tokens",
                  "checkpoint",    "order of data", "initial values",
                  "device seconds"};
  for (const PartResult& part : spec.parts()) {
    table.rows.push_back(
        {part.job(), part.part(),
         part.reason().empty() || HasSucceeded(part)
             ? part.state()
             : absl::StrCat(part.state(), ", ", part.reason()),
         part.has_control() ? absl::StrCat(part.seed()) : kNoValue,
         Count(part.checkpoint().step()), Count(part.tokens()),
         Digest(part.checkpoint().manifest_sha256()),
         Digest(part.data_digest()), Digest(part.control().initial_digest()),
         Positive(part.device_seconds())});
  }
  return table;
}

Table ValueTable(const SummarizeSpec& spec, const Results& results) {
  Table table;
  table.header = {"job",   "part",  "seed",          "evaluation",
                  "score", "value", "standard_error"};
  for (size_t m = 0; m < results.metrics.size(); ++m) {
    for (int i = 0; i < spec.parts_size(); ++i) {
      const std::optional<Scored>& score = results.scores[m][i];
      if (!score.has_value()) continue;
      table.rows.push_back(
          {spec.parts(i).job(), spec.parts(i).part(),
           absl::StrCat(spec.parts(i).seed()), results.metrics[m].evaluation,
           results.metrics[m].metric, ExactText(score->value),
           score->spread.has_value() ? ExactText(score->spread->standard_error)
                                     : ""});
    }
  }
  return table;
}

}  // namespace ordo::report::summary

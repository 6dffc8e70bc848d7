#include "report/summary/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/lengths.h"
#include "report/summary/score_kind.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

// Which part a run of an arm and seed is; -1: none.
using Places = std::vector<std::vector<int>>;

template <typename T>
int IndexOf(const std::vector<T>& list, const T& value) {
  const auto it = std::find(list.begin(), list.end(), value);
  return it == list.end() ? -1 : static_cast<int>(it - list.begin());
}

// Sets arms, seeds and baseline.
absl::StatusOr<Places> PlaceParts(const SummarizeSpec& spec,
                                  Comparison* comparison) {
  for (const PartResult& part : spec.parts()) {
    if (IndexOf(comparison->arms, part.part()) < 0) {
      comparison->arms.push_back(part.part());
    }
    if (IndexOf(comparison->seeds, part.seed()) < 0) {
      comparison->seeds.push_back(part.seed());
    }
  }
  comparison->baseline =
      IndexOf(comparison->arms, spec.comparison().baseline());
  if (comparison->baseline < 0) {
    return base::InvalidField("comparison.baseline",
                              absl::StrCat("'", spec.comparison().baseline(),
                                           "' is the part of none of `parts`"));
  }
  Places places(comparison->arms.size(),
                std::vector<int>(comparison->seeds.size(), -1));
  for (int i = 0; i < spec.parts_size(); ++i) {
    int& place = places[IndexOf(comparison->arms, spec.parts(i).part())]
                       [IndexOf(comparison->seeds, spec.parts(i).seed())];
    if (place >= 0) {
      return base::InvalidField(
          absl::StrCat("parts[", i, "]"),
          absl::StrCat("is of arm ", spec.parts(i).part(), " and seed ",
                       spec.parts(i).seed(), ", as parts[", place, "] is"));
    }
    place = i;
  }
  return places;
}

// `by_end`: scores are those of the ends of runs, at whatever step that is.
absl::StatusOr<std::optional<stats::ArmComparison>> CompareValues(
    const Comparison& comparison, const ComparedMetric& metric, bool by_end) {
  std::vector<stats::Arm> arms;
  for (const std::string& name : comparison.arms) arms.push_back({name, {}});
  for (size_t seed = 0; seed < metric.scores.front().size(); ++seed) {
    const auto& first = metric.scores.front()[seed];
    const bool is_whole = std::all_of(
        metric.scores.begin(), metric.scores.end(), [&](const auto& scores) {
          const std::optional<Scored>& score = scores[seed];
          return score.has_value() && std::isfinite(score->value) &&
                 (by_end || score->step == first->step);
        });
    if (!is_whole) continue;
    for (size_t arm = 0; arm < arms.size(); ++arm) {
      arms[arm].results.push_back(metric.scores[arm][seed]->value);
    }
  }
  if (arms.size() < 2 || arms.front().results.empty()) return std::nullopt;
  stats::ArmOptions options;
  options.baseline = comparison.baseline;
  options.level = comparison.confidence;
  ORDO_ASSIGN_OR_RETURN(auto compared, stats::CompareArms(arms, options));
  return compared;
}

// Those that `error_16` is of where 16 is one of the lengths, or
// `error_longer`; nothing of a score of all of them.
std::optional<int64_t> ItemsOfLength(const Lengths& lengths,
                                     const std::string& metric) {
  const std::string suffix = metric.substr(metric.rfind('_') + 1);
  int64_t sum = 0;
  if (suffix == "longer") {
    for (const auto& [length, num_items] : lengths.num_items) {
      if (length > lengths.trained) sum += num_items;
    }
    return lengths.trained > 0 ? sum : 0;
  }
  int64_t length = 0;
  if (!absl::SimpleAtoi(suffix, &length) || lengths.values.count(length) == 0) {
    return std::nullopt;
  }
  const auto found = lengths.num_items.find(length);
  return found == lengths.num_items.end() ? 0 : found->second;
}

// The items of a report that a score of it is of; 0: not known.
int64_t NumItemsOf(const PartRecords& records, const std::string& path,
                   const std::string& metric) {
  const auto lengths = records.lengths.find(path);
  if (lengths != records.lengths.end()) {
    const auto of_length = ItemsOfLength(lengths->second, metric);
    if (of_length.has_value()) return *of_length;
  }
  const auto all = records.num_items.find(path);
  return all == records.num_items.end() ? 0 : all->second;
}

// As of ComparedMetric; `scores` by part.
int64_t NumItems(const SummarizeSpec& spec,
                 const std::vector<PartRecords>& records, const MetricKey& key,
                 const std::vector<std::optional<Scored>>& scores) {
  std::set<int64_t> numbers;
  for (int i = 0; i < spec.parts_size(); ++i) {
    if (!HasSucceeded(spec.parts(i))) continue;
    if (scores[i].has_value() && scores[i]->spread.has_value() &&
        scores[i]->spread->sampled.has_value()) {
      numbers.insert(static_cast<int64_t>(scores[i]->spread->sampled->items));
      continue;
    }
    for (const CountedReport& counted : CountedReports(spec.parts(i))) {
      if (counted.evaluation != key.evaluation) continue;
      const bool is_known = static_cast<size_t>(i) < records.size();
      numbers.insert(
          is_known ? NumItemsOf(records[i], counted.report->path(), key.metric)
                   : 0);
    }
  }
  return numbers.size() == 1 ? *numbers.begin() : 0;
}

// Indices of the seeds of which every arm has a finished run.
std::vector<size_t> WholeSeeds(const SummarizeSpec& spec,
                               const Places& places) {
  std::vector<size_t> seeds;
  for (size_t seed = 0; seed < places.front().size(); ++seed) {
    const bool is_whole =
        std::all_of(places.begin(), places.end(), [&](const auto& of_arm) {
          return of_arm[seed] >= 0 && HasSucceeded(spec.parts(of_arm[seed]));
        });
    if (is_whole) seeds.push_back(seed);
  }
  return seeds;
}

// What a run takes, and was recorded if it is above 0.
struct CostKind {
  const char* name;
  std::function<double(int part)> value_of;
  double ArmCost::*mean;
};

std::vector<CostKind> CostKinds(const SummarizeSpec& spec,
                                const std::vector<PartRecords>& records) {
  return {{"device_seconds",
           [&](int part) { return spec.parts(part).device_seconds(); },
           &ArmCost::device_seconds},
          {"step_device_seconds",
           [&](int part) { return spec.parts(part).step_device_seconds(); },
           &ArmCost::step_device_seconds},
          {"peak_memory_bytes",
           [&](int part) {
             const auto index = static_cast<size_t>(part);
             return index < records.size()
                        ? static_cast<double>(records[index].peak_memory_bytes)
                        : 0;
           },
           &ArmCost::peak_memory_bytes}};
}

// `parts` are those of the arm, one of each seed that counts.
ArmCost CountsOf(const SummarizeSpec& spec, const std::vector<int>& parts) {
  ArmCost cost;
  for (const int place : parts) {
    const PartResult& part = spec.parts(place);
    ++cost.num_seeds;
    cost.num_parameters = part.control().num_parameters();
    cost.num_encoding_parameters = part.control().num_encoding_parameters();
    cost.step_flops = part.control().step_flops();
  }
  return cost;
}

// The costs of one arm that are measured. `parts` as of CountsOf.
std::vector<std::optional<Scored>> MeasuredOf(const CostKind& kind,
                                              const std::vector<int>& parts) {
  std::vector<std::optional<Scored>> measured;
  for (const int part : parts) {
    const double value = kind.value_of(part);
    measured.push_back(value > 0 ? std::optional<Scored>({value})
                                 : std::nullopt);
  }
  return measured;
}

// The mean; 0 where one of them was not recorded.
double MeanOf(const std::vector<std::optional<Scored>>& measured) {
  double sum = 0;
  for (const std::optional<Scored>& each : measured) {
    if (!each.has_value()) return 0;
    sum += each->value;
  }
  return measured.empty() ? 0 : sum / static_cast<double>(measured.size());
}

// Sets costs and compared_costs.
absl::Status AddCosts(const SummarizeSpec& spec,
                      const std::vector<PartRecords>& records,
                      const Places& places, Comparison* comparison) {
  const std::vector<size_t> whole_seeds = WholeSeeds(spec, places);
  std::vector<std::vector<int>> parts;
  for (const std::vector<int>& of_arm : places) {
    std::vector<int>& counted = parts.emplace_back();
    for (const size_t seed : whole_seeds) counted.push_back(of_arm[seed]);
    comparison->costs.push_back(CountsOf(spec, counted));
  }
  for (const CostKind& kind : CostKinds(spec, records)) {
    ComparedMetric metric{{kCostName, kind.name}, {}, std::nullopt};
    bool is_whole = !whole_seeds.empty();
    for (size_t arm = 0; arm < parts.size(); ++arm) {
      metric.scores.push_back(MeasuredOf(kind, parts[arm]));
      comparison->costs[arm].*kind.mean = MeanOf(metric.scores.back());
      is_whole = is_whole && comparison->costs[arm].*kind.mean > 0;
    }
    if (!is_whole) continue;
    ORDO_ASSIGN_OR_RETURN(metric.comparison,
                          CompareValues(*comparison, metric, false));
    comparison->compared_costs.push_back(std::move(metric));
  }
  return absl::OkStatus();
}

}  // namespace

double RelativeDifference(const Comparison& comparison,
                          const ComparedMetric& metric,
                          const stats::ArmDifference& difference) {
  const double baseline = metric.comparison->arms[comparison.baseline].mean;
  return baseline == 0 ? NAN : difference.mean / std::abs(baseline);
}

absl::StatusOr<Comparison> Compare(const SummarizeSpec& spec,
                                   const std::vector<PartRecords>& records,
                                   const Spreads& spreads) {
  if (spec.parts().empty()) {
    return base::InvalidField("parts", "must have one part or more");
  }
  Comparison comparison;
  comparison.confidence = spec.comparison().confidence();
  if (!(comparison.confidence > 0 && comparison.confidence < 1)) {
    return base::InvalidField(
        "comparison.confidence",
        absl::StrCat("must be between 0 and 1, is ", comparison.confidence));
  }
  ORDO_ASSIGN_OR_RETURN(const Places places, PlaceParts(spec, &comparison));
  const bool by_end = !spec.comparison().budget().empty();
  const Results results = Tabulate(spec, spreads);
  comparison.tokenizers = TokenizersOf(spec, records);
  for (size_t m = 0; m < results.metrics.size(); ++m) {
    ComparedMetric metric;
    metric.key = results.metrics[m];
    metric.num_items = NumItems(spec, records, metric.key, results.scores[m]);
    for (const std::vector<int>& of_arm : places) {
      std::vector<std::optional<Scored>>& row = metric.scores.emplace_back();
      for (const int place : of_arm) {
        const bool is_whole = place >= 0 && HasSucceeded(spec.parts(place));
        row.push_back(is_whole ? results.scores[m][place] : std::nullopt);
        // Runs end at other steps: what stands before the end is no result.
        if (by_end && row.back().has_value() &&
            row.back()->step != spec.parts(place).checkpoint().step()) {
          row.back() = std::nullopt;
        }
      }
    }
    const bool is_comparable =
        !KindOf(metric.key.metric).is_by_token ||
        !TokenizersDiffer(comparison.tokenizers, metric.key.evaluation);
    if (is_comparable) {
      ORDO_ASSIGN_OR_RETURN(metric.comparison,
                            CompareValues(comparison, metric, by_end));
    }
    comparison.metrics.push_back(std::move(metric));
  }
  ORDO_RETURN_IF_ERROR(AddCosts(spec, records, places, &comparison));
  comparison.control = CheckControl(spec, records);
  return comparison;
}

}  // namespace ordo::report::summary

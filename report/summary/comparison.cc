#include "report/summary/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"

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
  for (size_t seed = 0; seed < comparison.seeds.size(); ++seed) {
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

// The mean over some parts; 0 where one of them did not record it.
double MeanOf(const std::vector<int>& parts,
              const std::function<double(int)>& value_of) {
  double sum = 0;
  for (const int part : parts) {
    const double value = value_of(part);
    if (!(value > 0)) return 0;
    sum += value;
  }
  return parts.empty() ? 0 : sum / static_cast<double>(parts.size());
}

// `parts` are those of the arm, one of each seed that counts.
ArmCost CostOf(const SummarizeSpec& spec,
               const std::vector<PartRecords>& records,
               const std::vector<int>& parts) {
  ArmCost cost;
  for (const int place : parts) {
    const PartResult& part = spec.parts(place);
    ++cost.num_seeds;
    cost.num_parameters = part.control().num_parameters();
    cost.num_encoding_parameters = part.control().num_encoding_parameters();
    cost.step_flops = part.control().step_flops();
    cost.device_seconds += part.device_seconds();
  }
  if (cost.num_seeds > 0) cost.device_seconds /= cost.num_seeds;
  cost.step_device_seconds = MeanOf(
      parts, [&](int part) { return spec.parts(part).step_device_seconds(); });
  cost.peak_memory_bytes = MeanOf(parts, [&](int part) {
    const auto index = static_cast<size_t>(part);
    return index < records.size()
               ? static_cast<double>(records[index].peak_memory_bytes)
               : 0;
  });
  return cost;
}

}  // namespace

absl::StatusOr<Comparison> Compare(const SummarizeSpec& spec,
                                   const std::vector<PartRecords>& records) {
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
  const Results results = Tabulate(spec);
  for (size_t m = 0; m < results.metrics.size(); ++m) {
    ComparedMetric metric;
    metric.key = results.metrics[m];
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
    ORDO_ASSIGN_OR_RETURN(metric.comparison,
                          CompareValues(comparison, metric, by_end));
    comparison.metrics.push_back(std::move(metric));
  }
  const std::vector<size_t> whole_seeds = WholeSeeds(spec, places);
  for (const std::vector<int>& of_arm : places) {
    std::vector<int> parts;
    for (const size_t seed : whole_seeds) parts.push_back(of_arm[seed]);
    comparison.costs.push_back(CostOf(spec, records, parts));
  }
  comparison.control = CheckControl(spec, records);
  return comparison;
}

}  // namespace ordo::report::summary

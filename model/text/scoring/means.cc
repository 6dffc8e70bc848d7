#include "model/text/scoring/means.h"

#include <cmath>
#include <limits>
#include <map>

namespace ordo::model::text::scoring {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

}  // namespace

Mean MeanOf(const std::vector<double>& scores) {
  Mean mean;
  mean.num_items = static_cast<int64_t>(scores.size());
  mean.num_units = mean.num_items;
  const auto n = static_cast<double>(scores.size());
  for (const double score : scores) mean.value += score;
  if (!scores.empty()) mean.value /= n;
  double squares = 0;
  for (const double score : scores) {
    squares += (score - mean.value) * (score - mean.value);
  }
  mean.standard_error =
      scores.size() < 2 ? kUnknown : std::sqrt(squares / (n - 1) / n);
  return mean;
}

Mean MeanOverUnits(const std::vector<UnitScore>& scores) {
  Mean mean;
  mean.num_items = static_cast<int64_t>(scores.size());
  const auto n = static_cast<double>(scores.size());
  for (const UnitScore& one : scores) mean.value += one.score;
  if (!scores.empty()) mean.value /= n;
  // Of each unit, what its items are above the mean.
  std::map<std::string_view, double> units;
  double squares = 0;
  for (const UnitScore& one : scores) {
    const double above = one.score - mean.value;
    if (one.unit.empty()) {
      squares += above * above;
      ++mean.num_units;
    } else {
      units[one.unit] += above;
    }
  }
  for (const auto& [unit, above] : units) squares += above * above;
  mean.num_units += static_cast<int64_t>(units.size());
  const auto num_units = static_cast<double>(mean.num_units);
  mean.standard_error =
      num_units < 2 ? kUnknown
                    : std::sqrt(squares * num_units / (num_units - 1)) / n;
  return mean;
}

Mean PooledMean(const std::vector<Mean>& groups) {
  Mean pooled;
  double squares = 0;
  int64_t num_groups = 0;
  for (const Mean& group : groups) {
    if (group.num_items == 0) continue;
    const auto n = static_cast<double>(group.num_items);
    pooled.num_items += group.num_items;
    pooled.num_units += group.num_units;
    pooled.value += n * group.value;
    ++num_groups;
    // One item tells nothing of how items differ within its group.
    if (group.num_items == 1) continue;
    squares += (n - 1) * group.standard_error * group.standard_error * n;
  }
  const auto total = static_cast<double>(pooled.num_items);
  const auto degrees = static_cast<double>(pooled.num_items - num_groups);
  if (pooled.num_items > 0) pooled.value /= total;
  pooled.standard_error =
      degrees > 0 ? std::sqrt(squares / degrees / total) : kUnknown;
  return pooled;
}

}  // namespace ordo::model::text::scoring

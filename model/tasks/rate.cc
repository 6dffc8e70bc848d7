#include "model/tasks/rate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace ordo::model::tasks {

void Rate::Add(int64_t unit, double worth) {
  if (runs_.empty() || runs_.back().unit != unit) runs_.push_back({unit});
  runs_.back().sum += worth;
  ++runs_.back().total;
  sum_ += worth;
  ++total_;
}

double Rate::value() const {
  return total_ == 0 ? 0 : sum_ / static_cast<double>(total_);
}

int64_t Rate::num_units() const { return static_cast<int64_t>(Units().size()); }

std::vector<Rate::Unit> Rate::Units() const {
  std::vector<Unit> sorted = runs_;
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const Unit& a, const Unit& b) { return a.unit < b.unit; });
  std::vector<Unit> units;
  for (const Unit& run : sorted) {
    if (units.empty() || units.back().unit != run.unit) {
      units.push_back({run.unit});
    }
    units.back().sum += run.sum;
    units.back().total += run.total;
  }
  return units;
}

std::optional<std::vector<Moved>> Rate::Moves() const {
  const std::vector<Unit> units = Units();
  if (units.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(units.size());
  const double scale =
      std::sqrt(count / (count - 1)) / static_cast<double>(total_);
  std::vector<Moved> moves;
  for (const Unit& unit : units) {
    const double expected = value() * static_cast<double>(unit.total);
    moves.push_back({unit.unit, scale * (unit.sum - expected)});
  }
  return moves;
}

Estimate EstimateOf(const Rate& rate) { return MeanOf({&rate}); }

Estimate MeanOf(const std::vector<const Rate*>& rates) {
  ORDO_CHECK(!rates.empty()) << "no rates";
  const auto count = static_cast<double>(rates.size());
  Estimate mean;
  std::vector<Moved> all;
  bool is_known = true;
  int64_t fewest_units = rates.front()->num_units();
  int64_t fewest_items = rates.front()->total();
  for (const Rate* rate : rates) {
    mean.value += rate->value();
    fewest_units = std::min(fewest_units, rate->num_units());
    fewest_items = std::min(fewest_items, rate->total());
    const auto moves = rate->Moves();
    is_known = is_known && moves.has_value();
    if (is_known) all.insert(all.end(), moves->begin(), moves->end());
  }
  mean.value /= count;
  if (!is_known) return mean;
  std::stable_sort(all.begin(), all.end(), [](const Moved& a, const Moved& b) {
    return a.unit < b.unit;
  });
  double squares = 0;
  for (size_t i = 0; i < all.size();) {
    double by = 0;
    const int64_t unit = all[i].unit;
    for (; i < all.size() && all[i].unit == unit; ++i) by += all[i].by;
    squares += by * by;
    ++mean.num_units;
  }
  mean.standard_error = std::sqrt(squares) / count;
  const auto num_rates = static_cast<int64_t>(rates.size());
  mean.num_units = std::min(mean.num_units, num_rates * fewest_units);
  mean.num_items = num_rates * fewest_items;
  return mean;
}

}  // namespace ordo::model::tasks

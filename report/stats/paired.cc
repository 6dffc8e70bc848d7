#include "report/stats/paired.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/details.h"
#include "report/stats/distributions.h"

namespace ordo::report::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

absl::Status CheckFinite(double score, size_t index, const char* name) {
  if (std::isfinite(score)) return absl::OkStatus();
  return base::InvalidField(absl::StrCat("items[", index, "].", name),
                            "is not a finite number: an item without a score "
                            "has to be left out of both arms");
}

bool IsBinary(double score) { return score == 0 || score == 1; }

void AddDifference(const PairedItem& item, PairedSample* sample) {
  const double difference = item.candidate - item.baseline;
  ++sample->num_items;
  if (difference > 0) ++sample->num_better;
  if (difference < 0) ++sample->num_worse;
  sample->is_binary =
      sample->is_binary && IsBinary(item.baseline) && IsBinary(item.candidate);
  sample->max_difference =
      std::max(sample->max_difference, std::abs(difference));
  sample->sum_of_squares += difference * difference;
}

}  // namespace

absl::StatusOr<PairedSample> MakePairedSample(
    const std::vector<PairedItem>& items) {
  if (items.empty()) {
    return base::InvalidField("items",
                              "has none: a comparison needs items "
                              "that both arms answered");
  }
  PairedSample sample;
  std::map<std::string_view, size_t> unit_index;
  for (size_t i = 0; i < items.size(); ++i) {
    const PairedItem& item = items[i];
    if (absl::Status status = CheckFinite(item.baseline, i, "baseline");
        !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckFinite(item.candidate, i, "candidate");
        !status.ok()) {
      return status;
    }
    size_t index = sample.units.size();
    if (!item.unit.empty()) {
      index = unit_index.emplace(item.unit, index).first->second;
    }
    if (index == sample.units.size()) sample.units.emplace_back();
    sample.units[index].sum += item.candidate - item.baseline;
    ++sample.units[index].num_items;
    AddDifference(item, &sample);
  }
  return sample;
}

Estimate MeanDifference(const PairedSample& sample) {
  ORDO_CHECK(!sample.units.empty()) << "a sample without units";
  Estimate estimate;
  estimate.num_items = sample.num_items;
  estimate.num_units = static_cast<int64_t>(sample.units.size());
  const double n = static_cast<double>(sample.num_items);
  double sum = 0;
  for (const Unit& unit : sample.units) sum += unit.sum;
  estimate.mean = sum / n;
  if (estimate.num_units == 1) {
    estimate.standard_error = kInfinity;
    return estimate;
  }
  double squares = 0;
  double sum_of_squares = 0;
  for (const Unit& unit : sample.units) {
    sum_of_squares += unit.sum * unit.sum;
    const double residual =
        unit.sum - estimate.mean * static_cast<double>(unit.num_items);
    squares += residual * residual;
  }
  // What rounding leaves of units that are all alike.
  constexpr double kRounding = 1e-20;
  if (squares <= kRounding * sum_of_squares) return estimate;
  const double g = static_cast<double>(estimate.num_units);
  estimate.standard_error = std::sqrt(g / (g - 1) * squares) / n;
  return estimate;
}

double DesignEffect(const PairedSample& sample) {
  if (sample.units.size() == static_cast<size_t>(sample.num_items)) return 1;
  const Estimate estimate = MeanDifference(sample);
  if (estimate.num_units == 1) return kInfinity;
  const double n = static_cast<double>(sample.num_items);
  const double squares =
      sample.sum_of_squares - n * estimate.mean * estimate.mean;
  // Rounding leaves this much of a sum of squares that is zero.
  constexpr double kRounding = 1e-12;
  if (squares <= kRounding * sample.sum_of_squares) {
    double largest = 0;
    for (const Unit& unit : sample.units) {
      largest += static_cast<double>(unit.num_items) *
                 static_cast<double>(unit.num_items);
    }
    return largest / n;
  }
  const double item_variance = squares / (n - 1) / n;
  return std::max(
      1.0, estimate.standard_error * estimate.standard_error / item_variance);
}

Interval StudentTInterval(const Estimate& estimate, double level) {
  ORDO_CHECK(level > 0 && level < 1) << "a level between 0 and 1";
  if (estimate.num_units < 2 || estimate.standard_error == 0) {
    return {-kInfinity, kInfinity};
  }
  const double half =
      StudentTQuantile((1 + level) / 2,
                       static_cast<double>(estimate.num_units - 1)) *
      estimate.standard_error;
  return {estimate.mean - half, estimate.mean + half};
}

}  // namespace ordo::report::stats

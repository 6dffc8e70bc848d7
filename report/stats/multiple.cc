#include "report/stats/multiple.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/check.h"

namespace ordo::report::stats {

std::vector<double> HolmAdjusted(const std::vector<double>& p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return p_values[a] < p_values[b];
  });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  size_t left = p_values.size();
  for (const size_t index : order) {
    const double p = p_values[index];
    ORDO_CHECK(p >= 0 && p <= 1) << "a p value in [0, 1], not " << p;
    largest = std::max(largest, std::min(1.0, p * static_cast<double>(left)));
    adjusted[index] = largest;
    --left;
  }
  return adjusted;
}

double SimultaneousLevel(double level, int num_intervals) {
  ORDO_CHECK(level > 0 && level < 1 && num_intervals >= 1)
      << "a level and a number of intervals";
  return 1 - (1 - level) / num_intervals;
}

}  // namespace ordo::report::stats

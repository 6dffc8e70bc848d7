#include "model/tasks/testing/drawn.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::testing {
namespace {

constexpr double kLeastExpected = 20;

double ExpectedPerWeight(const std::vector<double>& weights,
                         const std::vector<int64_t>& counts) {
  const auto drawn = static_cast<double>(
      std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  return drawn / std::accumulate(weights.begin(), weights.end(), 0.0);
}

}  // namespace

double PearsonStatistic(const std::vector<double>& weights,
                        const std::vector<int64_t>& counts) {
  ORDO_CHECK(weights.size() == counts.size());
  const double per_weight = ExpectedPerWeight(weights, counts);
  double statistic = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double expected = weights[i] * per_weight;
    const double away = static_cast<double>(counts[i]) - expected;
    statistic += away * away / expected;
  }
  return statistic;
}

double RareStatistic(size_t degrees) {
  // What a normal number passes once in a million.
  constexpr double kNormal = 4.7534;
  const auto k = static_cast<double>(degrees);
  const double spread = 2 / (9 * k);
  return k * std::pow(1 - spread + kNormal * std::sqrt(spread), 3);
}

void ExpectDrawn(const std::vector<double>& weights,
                 const std::vector<int64_t>& counts) {
  ASSERT_EQ(counts.size(), weights.size());
  ASSERT_GT(counts.size(), 1u);
  const double per_weight = ExpectedPerWeight(weights, counts);
  EXPECT_GE(*std::min_element(weights.begin(), weights.end()) * per_weight,
            kLeastExpected)
      << "too few draws";
  EXPECT_LT(PearsonStatistic(weights, counts),
            RareStatistic(weights.size() - 1))
      << ::testing::PrintToString(counts);
}

}  // namespace ordo::model::tasks::testing

#include "model/tasks/testing/drawn.h"

#include <map>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::testing {
namespace {

// By hand: 25 and 75 are expected, (35 - 25)^2 / 25 + (65 - 75)^2 / 75.
TEST(Drawn, TheStatisticIsPearsons) {
  EXPECT_NEAR(PearsonStatistic({1, 3}, {35, 65}), 4 + 4.0 / 3, 1e-12);
  EXPECT_EQ(PearsonStatistic({2, 2, 4}, {10, 10, 20}), 0);
}

// Quantiles of the chi-squared distribution at 1 - 1e-6: 23.93 with 1 degree of
// freedom, 40.52 with 7 and 182.13 with 100. The approximation is high where
// there are few.
TEST(Drawn, TheRareStatisticIsThatOfOneInAMillion) {
  EXPECT_GE(RareStatistic(1), 23.9);
  EXPECT_LE(RareStatistic(1), 28);
  EXPECT_NEAR(RareStatistic(7), 40.52, 1.5);
  EXPECT_NEAR(RareStatistic(100), 182.13, 0.5);
}

TEST(Drawn, WhatIsDrawnByItsWeightsPasses) {
  ExpectDrawn({1, 7, 50}, {1030, 6950, 50100});
  ExpectEven(3, std::map<char, int64_t>{{'a', 990}, {'b', 1020}, {'c', 995}});
}

TEST(Drawn, AnotherShareAKindTooFewAndTooFewDrawsFail) {
  EXPECT_NONFATAL_FAILURE(ExpectDrawn({1, 7, 50}, {2000, 6000, 50000}), "2000");
  EXPECT_FATAL_FAILURE(
      ExpectEven(3, std::map<int, int64_t>{{0, 1000}, {1, 1000}}),
      "weights.size()");
  EXPECT_NONFATAL_FAILURE(ExpectDrawn({1, 1}, {10, 12}), "too few draws");
}

}  // namespace
}  // namespace ordo::model::tasks::testing

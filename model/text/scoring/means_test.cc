#include "model/text/scoring/means.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ordo::model::text::scoring {
namespace {

std::vector<double> Rights(int num_right, int num_items) {
  std::vector<double> scores(num_items, 0);
  for (int i = 0; i < num_right; ++i) scores[i] = 1;
  return scores;
}

TEST(MeansTest, TheErrorOfAShareIsTheBinomialOne) {
  const Mean mean = MeanOf(Rights(3, 4));
  EXPECT_DOUBLE_EQ(mean.value, 0.75);
  EXPECT_DOUBLE_EQ(mean.standard_error, std::sqrt(0.75 * 0.25 / 3));
  EXPECT_EQ(mean.num_items, 4);
}

// Table 9 of the TAPE paper: 46.25 +- 1.46 and 45.31 +- 1.45 on ARC-Challenge
// with its 1172 items.
TEST(MeansTest, PrintedErrorsOfArcComeOut) {
  const Mean tape = MeanOf(Rights(542, 1172));
  EXPECT_NEAR(100 * tape.value, 46.25, 0.005);
  EXPECT_NEAR(100 * tape.standard_error, 1.46, 0.005);
  const Mean lora = MeanOf(Rights(531, 1172));
  EXPECT_NEAR(100 * lora.value, 45.31, 0.005);
  EXPECT_NEAR(100 * lora.standard_error, 1.45, 0.005);
}

TEST(MeansTest, ItemsOfOneUnitAreDrawnTogether) {
  // Two units of two items, whose sums are 1 above and 1 below those of a mean
  // of 0.5: sqrt(2 / 1 * 2) / 4.
  const Mean mean = MeanOverUnits({{"a", 1}, {"b", 0}, {"a", 1}, {"b", 0}});
  EXPECT_DOUBLE_EQ(mean.value, 0.5);
  EXPECT_DOUBLE_EQ(mean.standard_error, 0.5);
  EXPECT_EQ(mean.num_items, 4);
  EXPECT_EQ(mean.num_units, 2);
  EXPECT_EQ(MeanOverUnits({{"", 1}, {"", 0}, {"a", 0}}).num_units, 3);
  EXPECT_EQ(PooledMean({mean, MeanOf({1, 0, 0})}).num_units, 5);
  EXPECT_TRUE(std::isinf(MeanOverUnits({{"a", 1}, {"a", 0}}).standard_error));
  EXPECT_TRUE(std::isinf(MeanOverUnits({}).standard_error));
}

TEST(MeansTest, ItemsThatStandAloneHaveTheErrorOfAMean) {
  const double expected = MeanOf({1, 0, 0.5}).standard_error;
  EXPECT_DOUBLE_EQ(
      MeanOverUnits({{"a", 1}, {"b", 0}, {"c", 0.5}}).standard_error, expected);
  EXPECT_DOUBLE_EQ(MeanOverUnits({{"", 1}, {"", 0}, {"", 0.5}}).standard_error,
                   expected);
}

TEST(MeansTest, OneItemSaysNothingOfTheError) {
  EXPECT_DOUBLE_EQ(MeanOf({0.5}).value, 0.5);
  EXPECT_TRUE(std::isinf(MeanOf({0.5}).standard_error));
  EXPECT_EQ(MeanOf({}).value, 0);
  EXPECT_TRUE(std::isinf(MeanOf({}).standard_error));
}

// By hand: (10 * 0.2 + 30 * 0.6) / 40 and
// sqrt((9 * 0.1^2 * 10 + 29 * 0.05^2 * 30) / 38 / 40).
TEST(MeansTest, GroupsCountByTheirItems) {
  const Mean pooled = PooledMean({{0.2, 0.1, 10}, {0.6, 0.05, 30}});
  EXPECT_DOUBLE_EQ(pooled.value, 0.5);
  EXPECT_NEAR(pooled.standard_error, 0.0449781, 1e-7);
  EXPECT_EQ(pooled.num_items, 40);
}

TEST(MeansTest, WhatGroupsDifferByIsNotPooled) {
  const Mean apart =
      PooledMean({MeanOf(Rights(10, 10)), MeanOf(Rights(0, 10))});
  EXPECT_DOUBLE_EQ(apart.value, 0.5);
  EXPECT_EQ(apart.standard_error, 0);
}

TEST(MeansTest, GroupsOfOneItemAddToTheMeanAlone) {
  const Mean pooled = PooledMean({MeanOf({1}), MeanOf(Rights(1, 2)), Mean()});
  EXPECT_DOUBLE_EQ(pooled.value, 2.0 / 3);
  // (1 * 0.5^2 * 2) / (3 - 2) / 3.
  EXPECT_DOUBLE_EQ(pooled.standard_error, std::sqrt(0.5 / 3));
  EXPECT_TRUE(std::isinf(PooledMean({MeanOf({1})}).standard_error));
  EXPECT_EQ(PooledMean({}).num_items, 0);
}

}  // namespace
}  // namespace ordo::model::text::scoring

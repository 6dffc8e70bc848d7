#include "model/tasks/rate.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

TEST(Rate, IsTheMeanOfItsItems) {
  Rate rate;
  EXPECT_DOUBLE_EQ(rate.value(), 0);
  for (const int worth : {1, 0, 0, 1, 0}) rate.Add(rate.total(), worth);
  EXPECT_DOUBLE_EQ(rate.value(), 0.4);
  EXPECT_DOUBLE_EQ(rate.sum(), 2);
  EXPECT_EQ(rate.total(), 5);
  EXPECT_EQ(rate.num_units(), 5);
}

// sqrt(p (1 - p) / (n - 1)).
TEST(Estimate, OfItemsOfTheirOwnHasTheSampleStandardError) {
  Rate rate;
  for (const int worth : {1, 0, 0, 0}) rate.Add(rate.total(), worth);
  const Estimate estimate = EstimateOf(rate);
  EXPECT_DOUBLE_EQ(estimate.value, 0.25);
  EXPECT_NEAR(*estimate.standard_error, std::sqrt(0.25 * 0.75 / 3), 1e-12);
}

TEST(Estimate, OfOneUnitHasNoError) {
  Rate rate;
  EXPECT_FALSE(EstimateOf(rate).standard_error.has_value());
  rate.Add(7, 1);
  rate.Add(7, 0);
  EXPECT_DOUBLE_EQ(EstimateOf(rate).value, 0.5);
  EXPECT_FALSE(EstimateOf(rate).standard_error.has_value());
}

// Items that say the same tell no more than one of them, in whatever order.
TEST(Estimate, ItemsOfAUnitCountTogether) {
  Rate units, items;
  for (const int worth : {1, 0, 0, 1}) units.Add(units.total(), worth);
  for (int repeated = 0; repeated < 3; ++repeated) {
    for (const int unit : {0, 1, 2, 3}) {
      items.Add(unit, unit == 0 || unit == 3 ? 1 : 0);
    }
  }
  EXPECT_EQ(items.num_units(), 4);
  EXPECT_EQ(items.total(), 12);
  EXPECT_NEAR(*EstimateOf(items).standard_error,
              *EstimateOf(units).standard_error, 1e-12);
}

// Units of two items, both wrong, and of one, right: r is 2/3, both are 2/3
// from what is expected of them.
TEST(Estimate, UnitsOfSeveralSizesAreARatio) {
  Rate rate;
  rate.Add(0, 1);
  rate.Add(0, 1);
  rate.Add(1, 0);
  EXPECT_NEAR(*EstimateOf(rate).standard_error,
              std::sqrt(2.0 * (2 * 4.0 / 9)) / 3, 1e-12);
}

TEST(MeanOf, UnitsOfTheirOwnAddTheirVariances) {
  Rate a, b;
  for (const int worth : {1, 0, 0, 0}) a.Add(a.total(), worth);
  for (const int worth : {1, 1, 0, 0}) b.Add(10 + b.total(), worth);
  const Estimate mean = MeanOf({&a, &b});
  EXPECT_DOUBLE_EQ(mean.value, 0.375);
  EXPECT_NEAR(*mean.standard_error, std::sqrt(0.1875 / 3 + 0.25 / 3) / 2,
              1e-12);
}

TEST(MeanOf, CountsNoMoreThanIfAllRatesWereAsSmallAsTheLeast) {
  Rate many, few;
  for (int unit = 0; unit < 100; ++unit) many.Add(unit, 1);
  for (const int unit : {200, 200, 201}) few.Add(unit, 1);
  EXPECT_EQ(EstimateOf(many).num_units, 100);
  EXPECT_EQ(EstimateOf(few).num_units, 2);
  EXPECT_EQ(EstimateOf(few).num_items, 3);
  EXPECT_EQ(MeanOf({&many, &few}).num_units, 4);
  EXPECT_EQ(MeanOf({&many, &few}).num_items, 6);
  // The same units at both.
  EXPECT_EQ(MeanOf({&many, &many}).num_units, 100);
}

TEST(MeanOf, UnitsThatRatesShareMoveThemTogether) {
  Rate a, same, opposite;
  for (const int worth : {1, 0, 0, 1}) {
    opposite.Add(a.total(), 1 - worth);
    same.Add(a.total(), worth);
    a.Add(a.total(), worth);
  }
  EXPECT_NEAR(*MeanOf({&a, &same}).standard_error,
              *EstimateOf(a).standard_error, 1e-12);
  EXPECT_NEAR(*MeanOf({&a, &opposite}).standard_error, 0, 1e-12);
}

TEST(MeanOf, IsAsUnknownAsOneOfItsRates) {
  Rate a, b;
  for (const int worth : {1, 0}) a.Add(a.total(), worth);
  b.Add(5, 1);
  EXPECT_DOUBLE_EQ(MeanOf({&a, &b}).value, 0.75);
  EXPECT_FALSE(MeanOf({&a, &b}).standard_error.has_value());
}

}  // namespace
}  // namespace ordo::model::tasks

#include "report/stats/paired.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

PairedSample Sample(const std::vector<PairedItem>& items) {
  return MakePairedSample(items).value();
}

// Differences of items that each stand alone.
PairedSample Singles(const std::vector<double>& differences) {
  std::vector<PairedItem> items;
  for (const double d : differences) items.push_back({0, d, ""});
  return Sample(items);
}

TEST(MakePairedSampleTest, ItemsOfOneUnitAreSummed) {
  const PairedSample sample =
      Sample({{0, 1, "b"}, {1, 0, "a"}, {1, 1, ""}, {0, 1, "b"}, {0, 0, ""}});
  ASSERT_EQ(sample.units.size(), 4u);
  EXPECT_EQ(sample.units[0].sum, 2);
  EXPECT_EQ(sample.units[0].num_items, 2);
  EXPECT_EQ(sample.units[1].sum, -1);
  EXPECT_EQ(sample.units[1].num_items, 1);
  EXPECT_EQ(sample.num_items, 5);
  EXPECT_EQ(sample.num_better, 2);
  EXPECT_EQ(sample.num_worse, 1);
  EXPECT_EQ(sample.sum_of_squares, 3);
  EXPECT_TRUE(sample.is_binary);
}

TEST(MakePairedSampleTest, OneScoreBetweenMakesItNotBinary) {
  const PairedSample sample = Sample({{0, 1, ""}, {0.5, 0.25, ""}});
  EXPECT_FALSE(sample.is_binary);
  EXPECT_EQ(sample.max_difference, 1);
}

TEST(MakePairedSampleTest, RefusesScoresThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(MakePairedSample({{0, 1, ""}, {0, nan, ""}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("items[1].candidate")));
  EXPECT_THAT(MakePairedSample({{nan, 1, ""}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("items[0].baseline")));
}

TEST(MakePairedSampleTest, RefusesAComparisonOfNothing) {
  EXPECT_THAT(MakePairedSample({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("items")));
}

TEST(MeanDifferenceTest, OfSinglesIsThePairedTTest) {
  // Student, "The probable error of a mean", Biometrika 6 (1908): additional
  // hours of sleep under two drugs; differences with mean 1.58, t = 4.0621.
  const Estimate estimate =
      MeanDifference(Singles({1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}));
  EXPECT_NEAR(estimate.mean, 1.58, 1e-12);
  EXPECT_NEAR(estimate.mean / estimate.standard_error, 4.0621, 5e-5);
  const Interval interval = StudentTInterval(estimate, 0.95);
  EXPECT_NEAR(interval.low, 0.7001142, 5e-8);
  EXPECT_NEAR(interval.high, 2.4598858, 5e-8);
}

TEST(MeanDifferenceTest, OfUnitsFollowsTheSandwichByHand) {
  // Unit sums 2, -1, 0 of 2, 1, 2 items: mean 0.2, residuals 1.6, -1.2, -0.4.
  const Estimate estimate = MeanDifference(Sample(
      {{0, 1, "a"}, {0, 1, "a"}, {1, 0, "b"}, {0, 0, "c"}, {1, 1, "c"}}));
  EXPECT_DOUBLE_EQ(estimate.mean, 0.2);
  EXPECT_NEAR(estimate.standard_error,
              std::sqrt(1.5 * (2.56 + 1.44 + 0.16)) / 5, 1e-15);
  EXPECT_EQ(estimate.num_units, 3);
}

TEST(MeanDifferenceTest, CopiesOfItemsInTheirUnitsAddNoPrecision) {
  const std::vector<double> differences = {1, -1, 0, 0, 1, 1, 0, -1, 0, 1};
  std::vector<PairedItem> copied;
  for (size_t i = 0; i < differences.size(); ++i) {
    for (int copy = 0; copy < 7; ++copy) {
      copied.push_back({0, differences[i], std::to_string(i)});
    }
  }
  const Estimate once = MeanDifference(Singles(differences));
  const Estimate often = MeanDifference(Sample(copied));
  EXPECT_NEAR(often.mean, once.mean, 1e-15);
  EXPECT_NEAR(often.standard_error, once.standard_error, 1e-15);
}

TEST(MeanDifferenceTest, OneUnitSaysNothingAboutOthers) {
  const Estimate estimate =
      MeanDifference(Sample({{0, 1, "a"}, {0, 0.5, "a"}}));
  EXPECT_TRUE(std::isinf(estimate.standard_error));
  const Interval interval = StudentTInterval(estimate, 0.95);
  EXPECT_TRUE(std::isinf(interval.low) && interval.low < 0);
  EXPECT_TRUE(std::isinf(interval.high) && interval.high > 0);
}

TEST(StudentTIntervalTest, UnitsThatDoNotVaryLeaveItOpen) {
  // 0.9 - 0.6 and the others are not equal to the last digit.
  const Estimate alike =
      MeanDifference(Sample({{0.6, 0.9, ""}, {0.5, 0.8, ""}, {0.4, 0.7, ""}}));
  EXPECT_NEAR(alike.mean, 0.3, 1e-15);
  EXPECT_EQ(alike.standard_error, 0);
  const Interval interval = StudentTInterval(alike, 0.95);
  EXPECT_TRUE(std::isinf(interval.low) && interval.low < 0);
  EXPECT_TRUE(std::isinf(interval.high) && interval.high > 0);
}

// Share of simulated samples whose interval holds the true mean, which is 0:
// documents of 1 to 9 items, each with an effect of its own.
double SimulatedCoverage(bool with_units) {
  base::RandomSequence random(7, "coverage");
  constexpr int kSamples = 2000;
  int covered = 0;
  for (int s = 0; s < kSamples; ++s) {
    std::vector<PairedItem> items;
    for (int g = 0; g < 40; ++g) {
      const double effect = random.Normal();
      const uint64_t size = 1 + random.Int(9);
      for (uint64_t i = 0; i < size; ++i) {
        items.push_back(
            {0, effect + random.Normal(), with_units ? std::to_string(g) : ""});
      }
    }
    const Interval interval =
        StudentTInterval(MeanDifference(Sample(items)), 0.95);
    covered += interval.low <= 0 && 0 <= interval.high;
  }
  return static_cast<double>(covered) / kSamples;
}

TEST(StudentTIntervalTest, KeepsItsLevelWhenUnitsAreNamed) {
  EXPECT_NEAR(SimulatedCoverage(true), 0.94, 0.015);
}

TEST(StudentTIntervalTest, WouldLoseItsLevelIfUnitsWereLeftOut) {
  EXPECT_LT(SimulatedCoverage(false), 0.80);
}

TEST(DesignEffectTest, IsOneForSinglesAndTheSizeForCopies) {
  EXPECT_EQ(DesignEffect(Singles({1, 0, -1, 1})), 1);
  std::vector<PairedItem> copied;
  for (int i = 0; i < 1000; ++i) {
    for (int copy = 0; copy < 4; ++copy) {
      copied.push_back({0, i % 3 == 0 ? 1.0 : 0.0, std::to_string(i)});
    }
  }
  EXPECT_NEAR(DesignEffect(Sample(copied)), 4, 0.01);
}

TEST(DesignEffectTest, IsNeverBelowOne) {
  // Each unit has one better and one worse item: all unit sums are zero.
  EXPECT_EQ(DesignEffect(
                Sample({{0, 1, "a"}, {1, 0, "a"}, {0, 1, "b"}, {1, 0, "b"}})),
            1);
}

TEST(DesignEffectTest, WithoutADifferenceItIsTheWorstThatSizesAllow) {
  EXPECT_DOUBLE_EQ(DesignEffect(Sample(
                       {{1, 1, "a"}, {1, 1, "a"}, {1, 1, "a"}, {0, 0, "b"}})),
                   10.0 / 4);
}

}  // namespace
}  // namespace ordo::report::stats

#include "report/stats/arms.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

// Student (1908): hours of sleep gained by ten patients under two drugs.
const std::vector<double>& FirstDrug() {
  static const auto& results = *new std::vector<double>(
      {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0});
  return results;
}
const std::vector<double>& SecondDrug() {
  static const auto& results = *new std::vector<double>(
      {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4});
  return results;
}

TEST(CompareArmsTest, GivesThePublishedPairedTTest) {
  const ArmComparison comparison =
      CompareArms({{"first", FirstDrug()}, {"second", SecondDrug()}}, {})
          .value();
  EXPECT_EQ(comparison.num_seeds, 10);
  EXPECT_NEAR(comparison.arms[0].mean, 0.75, 1e-12);
  EXPECT_NEAR(comparison.arms[0].deviation, 1.78901, 5e-6);
  EXPECT_NEAR(comparison.arms[1].mean, 2.33, 1e-12);
  ASSERT_EQ(comparison.differences.size(), 1u);
  const ArmDifference& difference = comparison.differences[0];
  EXPECT_EQ(difference.name, "second");
  EXPECT_NEAR(difference.mean, 1.58, 1e-12);
  EXPECT_NEAR(difference.deviation, 1.229995, 5e-6);
  EXPECT_NEAR(difference.t_p, 0.002832890, 5e-9);
  EXPECT_NEAR(difference.interval.low, 0.7001142, 5e-7);
  EXPECT_NEAR(difference.interval.high, 2.4598858, 5e-7);
  // All differences but a zero are positive: two of 2^9 assignments.
  EXPECT_DOUBLE_EQ(difference.flip_p, 2.0 / 512);
}

TEST(CompareArmsTest, SeveralArmsAreCorrectedTogether) {
  const ArmComparison alone =
      CompareArms({{"a", FirstDrug()}, {"b", SecondDrug()}}, {}).value();
  const ArmComparison three =
      CompareArms(
          {{"c", SecondDrug()}, {"a", FirstDrug()}, {"b", SecondDrug()}},
          {/*baseline=*/1, 0.95, 0})
          .value();
  ASSERT_EQ(three.differences.size(), 2u);
  EXPECT_EQ(three.differences[0].name, "c");
  EXPECT_EQ(three.differences[1].name, "b");
  EXPECT_DOUBLE_EQ(three.differences[1].t_p, alone.differences[0].t_p);
  EXPECT_DOUBLE_EQ(three.differences[1].t_p_adjusted,
                   2 * alone.differences[0].t_p);
  EXPECT_DOUBLE_EQ(three.differences[1].flip_p_adjusted,
                   2 * alone.differences[0].flip_p);
  EXPECT_LT(three.differences[1].interval.low,
            alone.differences[0].interval.low);
  // Of one arm, nothing else was compared.
  EXPECT_EQ(three.arms[1].interval.low, alone.arms[0].interval.low);
}

TEST(CompareArmsTest, BootstrapIntervalsAreTheSameEachTime) {
  const std::vector<Arm> arms = {{"first", FirstDrug()},
                                 {"second", SecondDrug()}};
  const ArmDifference difference = CompareArms(arms, {}).value().differences[0];
  EXPECT_GT(difference.bootstrap.low, 0);
  EXPECT_LT(difference.bootstrap.low, difference.mean);
  EXPECT_GT(difference.bootstrap.high, difference.mean);
  // One patient gained far more than the others: the upper bound knows of it,
  // where Student's interval is symmetric.
  EXPECT_GT(difference.bootstrap.high, difference.interval.high);
  const ArmDifference again = CompareArms(arms, {}).value().differences[0];
  EXPECT_EQ(again.bootstrap.low, difference.bootstrap.low);
  EXPECT_EQ(again.bootstrap.high, difference.bootstrap.high);
  const ArmDifference other =
      CompareArms(arms, {/*baseline=*/0, 0.95, /*seed=*/1})
          .value()
          .differences[0];
  EXPECT_NE(other.bootstrap.low, difference.bootstrap.low);
}

TEST(CompareArmsTest, BootstrapIntervalsOfSeveralArmsHoldTogether) {
  const Interval alone =
      CompareArms({{"a", FirstDrug()}, {"b", SecondDrug()}}, {})
          .value()
          .differences[0]
          .bootstrap;
  std::vector<Arm> many = {{"a", FirstDrug()}};
  for (int i = 0; i < 40; ++i) many.push_back({"b", SecondDrug()});
  const Interval together =
      CompareArms(many, {}).value().differences[0].bootstrap;
  EXPECT_LT(together.low, alone.low);
  EXPECT_GT(together.high, alone.high);
}

TEST(CompareArmsTest, ThreeSeedsAreTooFewToResample) {
  const Interval three =
      CompareArms({{"a", {0, 0, 0}}, {"b", {0.1, 0.2, 0.4}}}, {})
          .value()
          .differences[0]
          .bootstrap;
  EXPECT_TRUE(std::isinf(three.low));
  EXPECT_TRUE(std::isinf(three.high));
  // No number of resamples reaches such a level.
  const Interval sure = CompareArms({{"a", FirstDrug()}, {"b", SecondDrug()}},
                                    {/*baseline=*/0, 0.9999999, 0})
                            .value()
                            .differences[0]
                            .bootstrap;
  EXPECT_TRUE(std::isinf(sure.low));
  EXPECT_TRUE(std::isinf(sure.high));
}

TEST(CompareArmsTest, OneSeedShowsNoDifference) {
  const ArmComparison comparison =
      CompareArms({{"a", {0.5}}, {"b", {0.9}}}, {}).value();
  EXPECT_EQ(comparison.arms[1].mean, 0.9);
  EXPECT_TRUE(std::isinf(comparison.arms[1].deviation));
  EXPECT_DOUBLE_EQ(comparison.differences[0].mean, 0.4);
  EXPECT_TRUE(std::isinf(comparison.differences[0].interval.high));
  EXPECT_TRUE(std::isinf(comparison.differences[0].bootstrap.low));
  EXPECT_EQ(comparison.differences[0].t_p, 1);
  EXPECT_EQ(comparison.differences[0].flip_p, 1);
}

TEST(CompareArmsTest, SeedsThatDifferAlikeAreNotCertain) {
  for (const std::vector<double>& results :
       {std::vector<double>{0.8, 0.9, 0.7, 1.0},
        std::vector<double>{0.5, 0.6, 0.4, 0.7}}) {
    const ArmDifference difference =
        CompareArms({{"a", {0.5, 0.6, 0.4, 0.7}}, {"b", results}}, {})
            .value()
            .differences[0];
    EXPECT_NEAR(difference.deviation, 0, 1e-15);
    EXPECT_TRUE(std::isinf(difference.interval.low));
    EXPECT_TRUE(std::isinf(difference.interval.high));
    EXPECT_TRUE(std::isinf(difference.bootstrap.low));
    EXPECT_TRUE(std::isinf(difference.bootstrap.high));
    EXPECT_EQ(difference.t_p, 1);
  }
  // The test of signs needs no spread.
  const ArmComparison three =
      CompareArms({{"a", {0, 0, 0}}, {"b", {0.5, 0.5, 0.5}}}, {}).value();
  EXPECT_TRUE(std::isinf(three.arms[1].interval.low));
  EXPECT_DOUBLE_EQ(three.differences[0].flip_p, 0.25);
}

TEST(CompareArmsTest, PairingBySeedTakesAwayWhatSeedsShare) {
  base::RandomSequence random(4, "seeds");
  Arm baseline{"rope", {}};
  Arm arm{"tape", {}};
  for (int seed = 0; seed < 5; ++seed) {
    const double shared = 10 * random.Normal();
    baseline.results.push_back(shared + 0.1 * random.Normal());
    arm.results.push_back(shared + 1 + 0.1 * random.Normal());
  }
  const ArmComparison comparison = CompareArms({baseline, arm}, {}).value();
  EXPECT_GT(comparison.arms[1].deviation, 3);
  EXPECT_LT(comparison.differences[0].deviation, 0.5);
  EXPECT_LT(comparison.differences[0].t_p, 0.01);
  EXPECT_DOUBLE_EQ(comparison.differences[0].flip_p, 2.0 / 32);
}

TEST(CompareArmsTest, RefusesArmsThatCannotBeCompared) {
  EXPECT_THAT(CompareArms({{"a", {1}}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("arms")));
  EXPECT_THAT(CompareArms({{"a", {1, 2}}, {"b", {1}}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("arms[1].results")));
  EXPECT_THAT(CompareArms({{"a", {}}, {"b", {}}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("arms[0].results")));
  EXPECT_THAT(
      CompareArms(
          {{"a", {1}}, {"b", {std::numeric_limits<double>::infinity()}}}, {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not finite")));
  EXPECT_THAT(
      CompareArms({{"a", {1}}, {"b", {1}}}, {/*baseline=*/2, 0.95, 0}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("baseline")));
  EXPECT_THAT(CompareArms({{"a", {1}}, {"b", {1}}}, {/*baseline=*/0, 1, 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("level")));
}

}  // namespace
}  // namespace ordo::report::stats

#include "report/stats/paired_interval.h"

#include <limits>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "report/stats/bootstrap.h"
#include "report/stats/proportions.h"

namespace ordo::report::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PairedSample Scores(const std::vector<double>& differences) {
  std::vector<PairedItem> items;
  for (const double d : differences) items.push_back({0.5, 0.5 + d, ""});
  return MakePairedSample(items).value();
}

// Of 300 units, the first of which differ, each by its own size.
PairedSample Differing(int num_units) {
  base::RandomSequence random(3, "differing");
  std::vector<double> differences(300, 0.0);
  for (int i = 0; i < num_units; ++i) {
    differences[static_cast<size_t>(i)] = 0.1 + 0.1 * random.Double();
  }
  return Scores(differences);
}

TEST(MethodOfTest, AnswersHavePairedSharesHoweverFewDiffer) {
  const PairedSample answers =
      MakePairedSample({{0, 1, "a"}, {1, 1, "b"}}).value();
  EXPECT_EQ(MethodOf(answers), IntervalMethod::kPairedShares);
}

TEST(MethodOfTest, OtherScoresAreResampledWhereEnoughDiffer) {
  EXPECT_EQ(MethodOf(Differing(kMinDifferingUnits)),
            IntervalMethod::kStudentizedBootstrap);
  EXPECT_EQ(MethodOf(Differing(kMinDifferingUnits - 1)),
            IntervalMethod::kShareOfUnits);
}

TEST(MethodOfTest, UnitsThatAreAllAlikeAreNotResampled) {
  const PairedSample alike = Scores(std::vector<double>(100, 0.25));
  EXPECT_EQ(MethodOf(alike), IntervalMethod::kShareOfUnits);
  ORDO_ASSERT_OK_AND_ASSIGN(const Interval interval, IntervalOf(alike, {}));
  EXPECT_NEAR(interval.low, -0.0362, 5e-4);  // Clopper-Pearson, 0 of 100
  EXPECT_EQ(interval.high, 1);
}

TEST(IntervalOfTest, EachBoundHasItsLevel) {
  IntervalOptions options;
  options.high_alpha = 0.005;
  for (const PairedSample& sample :
       {Differing(10), Differing(100),
        MakePairedSample({{0, 1, ""}, {1, 0, ""}, {1, 1, ""}, {1, 1, ""}})
            .value()}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const Interval both, IntervalOf(sample, {}));
    ORDO_ASSERT_OK_AND_ASSIGN(const Interval wider,
                              IntervalOf(sample, options));
    EXPECT_EQ(wider.low, both.low);
    EXPECT_GT(wider.high, both.high);
  }
}

TEST(IntervalOfTest, IsThatOfItsMethod) {
  const PairedSample many = Differing(100);
  ORDO_ASSERT_OK_AND_ASSIGN(const Interval resampled, IntervalOf(many, {}));
  ORDO_ASSERT_OK_AND_ASSIGN(const Interval expected,
                            ResampledInterval(many, 0.95, 0));
  EXPECT_EQ(resampled.low, expected.low);
  EXPECT_EQ(resampled.high, expected.high);
  const PairedSample answers =
      MakePairedSample({{0, 1, ""}, {1, 1, ""}, {1, 1, ""}}).value();
  ORDO_ASSERT_OK_AND_ASSIGN(const Interval shares, IntervalOf(answers, {}));
  EXPECT_EQ(shares.low, PairedShareInterval(answers, 0.025).low);
  EXPECT_EQ(shares.high, PairedShareInterval(answers, 0.025).high);
}

TEST(IntervalOfTest, WhatHardlyDiffersIsBoundedByTheRangeOfScores) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Interval one, IntervalOf(Differing(4), {}));
  EXPECT_LT(one.low, 0);
  EXPECT_GT(one.high, 4.0 / 300);
  IntervalOptions options;
  options.score_range = 2;
  ORDO_ASSERT_OK_AND_ASSIGN(const Interval two,
                            IntervalOf(Differing(4), options));
  EXPECT_DOUBLE_EQ(two.low, 2 * one.low);
  EXPECT_DOUBLE_EQ(two.high, 2 * one.high);
  options.score_range = kInfinity;
  ORDO_ASSERT_OK_AND_ASSIGN(const Interval open,
                            IntervalOf(Differing(4), options));
  EXPECT_EQ(open.low, -kInfinity);
  EXPECT_EQ(open.high, kInfinity);
}

}  // namespace
}  // namespace ordo::report::stats

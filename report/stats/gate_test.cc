#include "report/stats/gate.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/stats/bootstrap.h"
#include "report/stats/proportions.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

GateOptions Margin(double margin) {
  GateOptions options;
  options.margin = margin;
  return options;
}

// Right and wrong answers.
PairedSample Answers(int num_items, int num_better, int num_worse) {
  std::vector<PairedItem> items;
  for (int i = 0; i < num_items; ++i) {
    if (i < num_better) {
      items.push_back({0, 1, ""});
    } else if (i < num_better + num_worse) {
      items.push_back({1, 0, ""});
    } else {
      items.push_back({1, 1, ""});
    }
  }
  return MakePairedSample(items).value();
}

PairedSample Scores(const std::vector<double>& differences) {
  std::vector<PairedItem> items;
  for (const double d : differences) items.push_back({0.5, 0.5 + d, ""});
  return MakePairedSample(items).value();
}

TEST(DecideTest, PassesWhenTheIntervalLiesAboveTheMargin) {
  EXPECT_EQ(Decide({-0.009, 0.02}, Margin(0.01)), Verdict::kPass);
  EXPECT_EQ(Decide({-0.01, 0.02}, Margin(0.01)), Verdict::kInconclusive);
}

TEST(DecideTest, FailsWhenTheIntervalLiesBelowZero) {
  EXPECT_EQ(Decide({-0.03, -0.001}, Margin(0.01)), Verdict::kFail);
  EXPECT_EQ(Decide({-0.03, 0}, Margin(0.01)), Verdict::kInconclusive);
}

TEST(DecideTest, FailsBelowTheMarginOnlyWhenAsked) {
  GateOptions options = Margin(0.01);
  options.fail_below = FailBelow::kMargin;
  EXPECT_EQ(Decide({-0.03, -0.001}, options), Verdict::kInconclusive);
  EXPECT_EQ(Decide({-0.03, -0.011}, options), Verdict::kFail);
}

TEST(DecideTest, ALossShownToBeWithinTheMarginPasses) {
  EXPECT_EQ(Decide({-0.009, -0.001}, Margin(0.01)), Verdict::kPass);
}

TEST(DecideJointlyTest, AllMustPassAndOneFails) {
  constexpr Verdict kPass = Verdict::kPass;
  constexpr Verdict kFail = Verdict::kFail;
  constexpr Verdict kOpen = Verdict::kInconclusive;
  EXPECT_EQ(DecideJointly({kPass, kPass}), kPass);
  EXPECT_EQ(DecideJointly({kPass, kOpen}), kOpen);
  EXPECT_EQ(DecideJointly({kOpen, kFail, kPass}), kFail);
}

TEST(CheckGateOptionsTest, NamesEveryFieldOutOfRange) {
  EXPECT_THAT(CheckGateOptions(Margin(0)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("margin: is 0: give one above 0")));
  EXPECT_THAT(CheckGateOptions(Margin(1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("every candidate would pass")));
  GateOptions options = Margin(std::numeric_limits<double>::quiet_NaN());
  options.level = 1;
  options.num_tests = 0;
  const absl::Status status = CheckGateOptions(options);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("level: is 1")));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("num_tests: is 0")));
  EXPECT_THAT(CheckGateOptions(Margin(0.01)), base::testing::IsOk());
}

TEST(DecideGateTest, AnswersAreDecidedByPairedShares) {
  const GateResult result =
      DecideGate(Answers(2000, 40, 90), Margin(0.01)).value();
  EXPECT_EQ(result.verdict, Verdict::kFail);
  EXPECT_EQ(result.method, IntervalMethod::kPairedShares);
  EXPECT_DOUBLE_EQ(result.discordance, 0.065);
  EXPECT_DOUBLE_EQ(result.estimate.mean, -0.025);
  const Interval interval =
      PairedShareInterval(DiscordantCounts{40, 90, 2000}, 0.025);
  EXPECT_DOUBLE_EQ(result.interval.low, interval.low);
  EXPECT_DOUBLE_EQ(result.interval.high, interval.high);
}

TEST(DecideGateTest, FiftyEqualAnswersAreTooFewForTwoPoints) {
  EXPECT_EQ(DecideGate(Answers(50, 0, 0), Margin(0.02)).value().verdict,
            Verdict::kInconclusive);
  EXPECT_EQ(DecideGate(Answers(200, 0, 0), Margin(0.02)).value().verdict,
            Verdict::kPass);
}

TEST(DecideGateTest, SeveralTestsMakeFailingHarderAndPassingNot) {
  GateOptions options = Margin(0.01);
  EXPECT_EQ(DecideGate(Answers(500, 10, 25), options).value().verdict,
            Verdict::kFail);
  const Interval alone =
      DecideGate(Answers(500, 10, 25), options).value().interval;
  options.num_tests = 10;
  const GateResult jointly = DecideGate(Answers(500, 10, 25), options).value();
  EXPECT_EQ(jointly.verdict, Verdict::kInconclusive);
  EXPECT_EQ(jointly.interval.low, alone.low);
  EXPECT_GT(jointly.interval.high, alone.high);
}

TEST(DecideGateTest, OtherScoresAreDecidedByTheBootstrap) {
  std::vector<double> differences;
  base::RandomSequence random(2, "scores");
  for (int i = 0; i < 300; ++i) {
    differences.push_back(0.1 * (random.Double() - 0.5) - 0.02);
  }
  GateOptions options = Margin(0.01);
  const GateResult result = DecideGate(Scores(differences), options).value();
  EXPECT_EQ(result.method, IntervalMethod::kStudentizedBootstrap);
  EXPECT_EQ(result.verdict, Verdict::kFail);
  EXPECT_EQ(DecideGate(Scores(differences), Margin(0.05)).value().verdict,
            Verdict::kPass);
  options.num_tests = 5;
  const GateResult jointly = DecideGate(Scores(differences), options).value();
  EXPECT_GT(jointly.interval.high, result.interval.high);
}

TEST(DecideGateTest, ScoresThatHardlyDifferAreNoProofOfEquality) {
  std::vector<double> differences(100, 0.0);
  EXPECT_EQ(DecideGate(Scores(differences), Margin(0.02)).value().verdict,
            Verdict::kInconclusive);
  differences[0] = -0.01;
  const GateResult result =
      DecideGate(Scores(differences), Margin(0.02)).value();
  EXPECT_EQ(result.method, IntervalMethod::kShareOfUnits);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_NEAR(result.interval.low, -0.0545, 5e-4);  // Clopper-Pearson, 1 of 100
  differences.assign(1000, 0.0);
  EXPECT_EQ(DecideGate(Scores(differences), Margin(0.02)).value().verdict,
            Verdict::kPass);
}

TEST(DecideGateTest, WithoutBoundsWhatDoesNotDifferShowsNothing) {
  GateOptions options = Margin(0.02);
  options.score_range = std::numeric_limits<double>::infinity();
  const std::vector<double> differences(1000, 0.0);
  EXPECT_EQ(DecideGate(Scores(differences), options).value().verdict,
            Verdict::kInconclusive);
}

TEST(DecideGateTest, RefusesScoresBeyondTheRange) {
  GateOptions options = Margin(0.02);
  EXPECT_THAT(
      DecideGate(Scores({2.0, 0, 0}), options),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("score_range")));
}

// Scores of which 5 % change, most by a little and some by all: the mean
// difference is -margin, so that a pass is an error.
TEST(DecideGateTest, SkewedScoresOnTheMarginHardlyPass) {
  base::RandomSequence random(9, "skewed");
  constexpr int kGates = 100;
  int passed = 0;
  for (int gate = 0; gate < kGates; ++gate) {
    std::vector<double> differences;
    for (int i = 0; i < 400; ++i) {
      const double draw = random.Double();
      differences.push_back(draw < 0.01 ? -0.5 : draw < 0.05 ? -0.125 : 0);
    }
    GateOptions options = Margin(0.01);
    options.seed = static_cast<uint64_t>(gate);
    passed += DecideGate(Scores(differences), options).value().verdict ==
              Verdict::kPass;
  }
  // 2.5 % are 2.5; four standard deviations more are 8.8.
  EXPECT_LE(passed, 8);
}

}  // namespace
}  // namespace ordo::report::stats

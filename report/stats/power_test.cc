#include "report/stats/power.h"

#include <cmath>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/stats/distributions.h"
#include "report/stats/proportions.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

GatePlan Plan(double margin, double discordance, double difference) {
  GatePlan plan;
  plan.gate.margin = margin;
  plan.discordance = discordance;
  plan.difference = difference;
  return plan;
}

// Every outcome, decided by the interval that a gate shows.
VerdictRates SlowRates(const GatePlan& plan, int n) {
  VerdictRates rates;
  const double share = (1 + plan.difference / plan.discordance) / 2;
  for (int m = 0; m <= n; ++m) {
    for (int b = 0; b <= m; ++b) {
      const double p =
          BinomialPmf(m, n, plan.discordance) * BinomialPmf(b, m, share);
      const DiscordantCounts counts = {static_cast<double>(b),
                                       static_cast<double>(m - b),
                                       static_cast<double>(n)};
      const Interval interval = {
          PairedShareInterval(counts, PassAlpha(plan.gate)).low,
          PairedShareInterval(counts, FailAlpha(plan.gate)).high};
      switch (Decide(interval, plan.gate)) {
        case Verdict::kPass:
          rates.pass += p;
          break;
        case Verdict::kFail:
          rates.fail += p;
          break;
        case Verdict::kInconclusive:
          rates.inconclusive += p;
          break;
      }
    }
  }
  return rates;
}

TEST(RatesOfGateTest, AreTheSumsOverAllOutcomesOfTheShownInterval) {
  std::vector<GatePlan> plans = {Plan(0.1, 0.3, 0), Plan(0.05, 0.4, -0.2),
                                 Plan(0.2, 0.1, 0.03)};
  plans.push_back(plans[1]);
  plans.back().gate.fail_below = FailBelow::kMargin;
  plans.push_back(plans[1]);
  plans.back().gate.num_tests = 4;
  for (const GatePlan& plan : plans) {
    const VerdictRates rates = RatesOfGate(plan, 70).value();
    const VerdictRates slow = SlowRates(plan, 70);
    EXPECT_NEAR(rates.pass, slow.pass, 1e-10);
    EXPECT_NEAR(rates.fail, slow.fail, 1e-10);
    EXPECT_NEAR(rates.inconclusive, slow.inconclusive, 1e-10);
    EXPECT_GT(rates.pass + rates.fail, 0.01);
  }
}

TEST(RatesOfGateTest, ErrorsStayBelowTheirLevel) {
  for (const double discordance : {0.02, 0.1, 0.3}) {
    EXPECT_LE(RatesOfGate(Plan(0.02, discordance, -0.02), 2000)->pass, 0.025);
    EXPECT_LE(RatesOfGate(Plan(0.02, discordance, 0), 2000)->fail, 0.025);
  }
}

TEST(RatesOfGateTest, ALossOfTwoPointsIsSeenInTwoThousandItems) {
  EXPECT_GT(RatesOfGate(Plan(0.01, 0.04, -0.02), 2000)->fail, 0.98);
  EXPECT_GT(RatesOfGate(Plan(0.01, 0.10, -0.02), 2000)->fail, 0.75);
  EXPECT_LT(RatesOfGate(Plan(0.01, 0.40, -0.02), 2000)->fail, 0.40);
}

TEST(RatesOfGateTest, AreNearTheNormalApproximationForManyItems) {
  for (const double difference : {0.0, -0.01, -0.02}) {
    const GatePlan plan = Plan(0.015, 0.2, difference);
    const double n = 20'000;
    const VerdictRates exact = RatesOfGate(plan, 20'000).value();
    const VerdictRates normal =
        RatesAtStandardError(plan.gate, difference,
                             std::sqrt((0.2 - difference * difference) / n))
            .value();
    EXPECT_NEAR(exact.pass, normal.pass, 0.01);
    EXPECT_NEAR(exact.fail, normal.fail, 0.01);
    EXPECT_NEAR(exact.pass + exact.fail + exact.inconclusive, 1, 1e-10);
  }
}

TEST(RatesOfGateTest, WithoutDiscordanceTheVerdictIsCertain) {
  EXPECT_EQ(RatesOfGate(Plan(0.02, 0, 0), 50)->inconclusive, 1);
  EXPECT_EQ(RatesOfGate(Plan(0.02, 0, 0), 500)->pass, 1);
}

TEST(RatesOfGateTest, RefusesADifferenceBeyondTheDiscordance) {
  EXPECT_THAT(
      RatesOfGate(Plan(0.02, 0.01, -0.02), 100),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("difference")));
  EXPECT_THAT(
      RatesOfGate(Plan(0.02, 1.5, 0), 100),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("discordance")));
  EXPECT_THAT(
      RatesOfGate(Plan(0.02, 0.1, 0), 0),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_items")));
}

TEST(RatesAtStandardErrorTest, IsTheTextbookPowerOfNonInferiority) {
  // Margin of 3.24 standard errors: 1.96 + 1.28, 90 % power.
  GateOptions gate;
  gate.margin = 0.0324;
  const VerdictRates rates = RatesAtStandardError(gate, 0, 0.01).value();
  EXPECT_NEAR(rates.pass, 0.9, 1e-3);
  EXPECT_NEAR(rates.fail, 0.025, 1e-12);
}

TEST(RatesAtStandardErrorTest, WhatPassesDoesNotFailToo) {
  GateOptions gate;
  gate.margin = 0.1;
  const VerdictRates rates = RatesAtStandardError(gate, -0.05, 0.01).value();
  EXPECT_NEAR(rates.pass + rates.fail + rates.inconclusive, 1, 1e-12);
  EXPECT_GT(rates.pass, 0.99);
}

TEST(ItemsForPowerTest, AreEnoughAndHardlyMore) {
  const GatePlan plan = Plan(0.02, 0.1, 0);
  const int64_t items = ItemsForPower(plan, 0.8, 100'000).value();
  EXPECT_GE(RatesOfGate(plan, items)->pass, 0.8);
  EXPECT_LT(RatesOfGate(plan, items * 97 / 100)->pass, 0.8);
  // (1.96 + 0.84)^2 0.1 / 0.02^2 = 1962 for the normal approximation, and
  // 2 / 0.02 more for the continuity correction.
  EXPECT_NEAR(static_cast<double>(items), 2062, 50);
}

TEST(ItemsForPowerTest, AGateWithoutPowerIsToldSoWithAMarginThatHasIt) {
  const GatePlan plan = Plan(0.01, 0.1, 0);
  const absl::StatusOr<int64_t> items = ItemsForPower(plan, 0.8, 2000);
  EXPECT_THAT(items,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("allow more items or a margin of 0.0")));
  EXPECT_EQ(base::GetErrorInfo(items.status())->reason, "NO_POWER");
  const double margin = MarginForPower(plan, 0.8, 2000).value();
  GatePlan wider = plan;
  wider.gate.margin = margin;
  EXPECT_GE(RatesOfGate(wider, 2000)->pass, 0.8);
  wider.gate.margin = 0.97 * margin;
  EXPECT_LT(RatesOfGate(wider, 2000)->pass, 0.8);
}

TEST(ItemsForPowerTest, ACandidateOnTheMarginHasNoPowerAtAnyBudget) {
  EXPECT_THAT(ItemsForPower(Plan(0.02, 0.1, -0.02), 0.8, 100'000),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ItemsForPowerTest, AMarginOfZeroIsRefused) {
  EXPECT_THAT(
      ItemsForPower(Plan(0, 0.1, 0), 0.8, 1'000'000),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("margin")));
}

TEST(MarginForPowerTest, ThreeItemsHaveNone) {
  EXPECT_THAT(
      MarginForPower(Plan(0.5, 1, 0), 0.9, 3),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("too few")));
  EXPECT_THAT(MarginForPower(Plan(0.5, 1, 0), 1, 3),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("power")));
}

}  // namespace
}  // namespace ordo::report::stats

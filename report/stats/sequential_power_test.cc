#include "report/stats/sequential_power.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/stats/gate.h"
#include "report/stats/paired.h"
#include "report/stats/sequential.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

GatePlan Plan(double margin, double discordance) {
  GatePlan plan;
  plan.gate.margin = margin;
  plan.discordance = discordance;
  return plan;
}

// The share of simulated gates that pass by looks up to the budget.
double Simulate(const GatePlan& plan, int64_t budget, int num_gates) {
  base::RandomSequence random(7, "gates");
  int passed = 0;
  for (int gate = 0; gate < num_gates; ++gate) {
    Verdict verdict = Verdict::kInconclusive;
    std::vector<PairedItem> items;
    while (verdict == Verdict::kInconclusive &&
           static_cast<int64_t>(items.size()) < budget) {
      const auto look = static_cast<size_t>(
          NextLook(static_cast<int64_t>(items.size()), budget));
      while (items.size() < look) {
        const double draw = random.Double();
        items.push_back({draw < plan.discordance / 2 ? 1.0 : 0.0,
                         draw >= 1 - plan.discordance / 2 ? 1.0 : 0.0, ""});
      }
      verdict = DecideSequentially(MakePairedSample(items).value(), plan.gate)
                    ->verdict;
    }
    passed += verdict == Verdict::kPass;
  }
  return static_cast<double>(passed) / num_gates;
}

TEST(SequentialPassRateTest, IsAtMostWhatSimulationShowsAndNotFarBelow) {
  constexpr int kGates = 1000;
  // What a failure may take, and who passes at a look but would not at the
  // last.
  constexpr double kFarthest = 0.025 + 0.055;
  for (const double discordance : {0.04, 0.1, 0.2}) {
    const GatePlan plan = Plan(0.05, discordance);
    for (const int64_t budget : {500, 800}) {
      ORDO_ASSERT_OK_AND_ASSIGN(const double rate,
                                SequentialPassRate(plan, budget));
      const double seen = Simulate(plan, budget, kGates);
      const double noise = 4 * std::sqrt(seen * (1 - seen) / kGates);
      EXPECT_LE(rate, seen + noise) << discordance << " " << budget;
      EXPECT_GE(rate, seen - kFarthest - noise) << discordance << " " << budget;
      EXPECT_GT(rate, 0.1) << discordance << " " << budget;
    }
  }
}

TEST(SequentialPassRateTest, AgreesWithTheOnlyOutcomeThereIs) {
  const GatePlan plan = Plan(0.05, 0);
  ORDO_ASSERT_OK_AND_ASSIGN(const int64_t typical, TypicalItems(plan, 10'000));
  // Nothing differs, so all gates pass at once; less what a failure may take.
  EXPECT_NEAR(SequentialPassRate(plan, typical).value(), 0.975, 1e-6);
  EXPECT_EQ(SequentialPassRate(plan, typical / 2).value(), 0);
}

TEST(BudgetForPowerTest, GivesThePowerAndHardlyMore) {
  const GatePlan plan = Plan(0.05, 0.1);
  ORDO_ASSERT_OK_AND_ASSIGN(const int64_t budget, BudgetForPower(plan, 0.8));
  EXPECT_GE(SequentialPassRate(plan, budget).value(), 0.8);
  EXPECT_LT(SequentialPassRate(plan, budget * 97 / 100).value(), 0.8);
}

TEST(BudgetForPowerTest, SaysWhenNoBudgetSuffices) {
  const auto refused = BudgetForPower(Plan(0.0001, 0.9), 0.8);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("margin 0.0001")));
  EXPECT_EQ(base::GetErrorInfo(refused.status())->reason, "NO_POWER");
}

TEST(SequentialPassRateTest, NamesWhatIsOutOfRange) {
  GatePlan worse = Plan(0.05, 0.1);
  worse.difference = -0.02;
  EXPECT_THAT(
      SequentialPassRate(worse, 100),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("difference")));
  EXPECT_THAT(
      SequentialPassRate(Plan(0.05, 0.1), 0),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("budget")));
  EXPECT_THAT(BudgetForPower(Plan(0.05, 0.1), 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("power")));
}

}  // namespace
}  // namespace ordo::report::stats

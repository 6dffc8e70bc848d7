#include "report/gate/power.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/gate/testing/comparisons.h"
#include "report/stats/power.h"

namespace ordo::report::gate {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using testing::Answers;
using ::testing::DoubleNear;
using ::testing::EndsWith;
using ::testing::Eq;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using testing::Margin;
using ::testing::Not;
using ::testing::Optional;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Result ResultOf(const Options& options, const Comparison& comparison) {
  return Decide(options, {comparison})->results.front();
}

TEST(StatePowerTest, OfIndependentAnswersIsThatOfThePlanAtTheSeenDiscordance) {
  const Result result = ResultOf(Margin(0.02), Answers("a", {500, 10, 40}));
  stats::GatePlan plan;
  plan.gate = result.options;
  plan.discordance = 0.1;
  const Power power = StatePower(result);
  EXPECT_THAT(power.equal_passes,
              Optional(stats::RatesOfGate(plan, 500)->pass));
  EXPECT_EQ(power.why_not, "");
  EXPECT_THAT(power.needed_items,
              Optional(stats::ItemsForPower(plan, 0.8, 1'000'000).value()));
  EXPECT_THAT(power.equal_passes, Optional(Lt(0.5)));
}

TEST(StatePowerTest, TheNeededItemsHaveThePower) {
  const Power power =
      StatePower(ResultOf(Margin(0.05), Answers("a", {100, 5, 5})));
  ASSERT_THAT(power.needed_items, Optional(Gt(100)));
  const int items = static_cast<int>(*power.needed_items);
  EXPECT_THAT(StatePower(ResultOf(Margin(0.05), Answers("a", {items, items / 20,
                                                              items / 20})))
                  .equal_passes,
              Optional(DoubleNear(0.8, 0.04)));
}

TEST(StatePowerTest, ItemsOfOneUnitCountForFewer) {
  Comparison alone = Answers("a", {1000, 50, 50});
  Comparison in_units = alone;
  for (size_t i = 0; i < in_units.items.size(); ++i) {
    in_units.items[i].unit = absl::StrCat("d", i / 10);
  }
  const Power of_items = StatePower(ResultOf(Margin(0.03), alone));
  const Power of_units = StatePower(ResultOf(Margin(0.03), in_units));
  ASSERT_TRUE(of_items.needed_items.has_value());
  EXPECT_THAT(of_units.equal_passes, Optional(Lt(*of_items.equal_passes)));
  EXPECT_THAT(of_units.needed_items, Optional(Gt(5 * *of_items.needed_items)));
}

TEST(StatePowerTest, OfOtherScoresFollowsFromTheStandardError) {
  Comparison comparison = Answers("a", {400, 0, 0});
  for (size_t i = 0; i < comparison.items.size(); ++i) {
    comparison.items[i].reference = 0.5;
    comparison.items[i].candidate = i % 2 == 0 ? 0.6 : 0.4;
  }
  // The standard error is 0.1 / sqrt(400) = 0.005: 0.014 are 2.8 of them, and
  // Phi(2.8 - 1.96) = 0.8.
  const Power power = StatePower(ResultOf(Margin(0.01401), comparison));
  EXPECT_THAT(power.equal_passes, Optional(DoubleNear(0.8, 0.005)));
  EXPECT_THAT(power.needed_items, Optional(AllOf(Gt(390), Lt(410))));
}

TEST(StatePowerTest, NothingIsSaidWhereHardlyAScoreDiffers) {
  Comparison comparison = Answers("a", {400, 0, 0});
  comparison.items[0].candidate = 0.9;
  const Power power = StatePower(ResultOf(Margin(0.05), comparison));
  EXPECT_FALSE(power.equal_passes.has_value());
  EXPECT_FALSE(power.needed_items.has_value());
  EXPECT_THAT(power.why_not, HasSubstr("too few scores differ"));
  // 72 items would do if none differed: no news.
  EXPECT_THAT(power.why_not, Not(HasSubstr("independent items")));
}

TEST(StatePowerTest, WhereHardlyAScoreDiffersItSaysWhatEqualAnswersTake) {
  Comparison comparison = Answers("a", {300, 0, 0});
  comparison.items[0].candidate = 0.9;
  const Power power = StatePower(ResultOf(Margin(0.01), comparison));
  EXPECT_FALSE(power.equal_passes.has_value());
  const std::string& text = power.why_not;
  const size_t at = text.find("takes ");
  ASSERT_NE(at, std::string::npos) << text;
  const int least = std::stoi(text.substr(at + 6));
  EXPECT_THAT(text, EndsWith(" independent items to pass"));
  // Scores between right and wrong, of which none differs.
  const auto verdict = [](int num_items) {
    Comparison equal = Answers("a", {num_items, 0, 0});
    equal.items[0].reference = equal.items[0].candidate = 0.5;
    return ResultOf(Margin(0.01), equal).gate.verdict;
  };
  EXPECT_EQ(verdict(least), stats::Verdict::kPass);
  EXPECT_EQ(verdict(least - 1), stats::Verdict::kInconclusive);
}

TEST(StatePowerTest, ItSaysNothingOfTheKindWhereScoresHaveNoBounds) {
  Comparison comparison = Answers("a", {300, 0, 0});
  comparison.items[0].candidate = 0.9;
  comparison.score_range = std::numeric_limits<double>::infinity();
  const Power power = StatePower(ResultOf(Margin(0.01), comparison));
  EXPECT_THAT(power.why_not, EndsWith("that it could be stated by"));
}

TEST(StatePowerTest, OfAGrowingSetOfOtherScoresItSaysWhyThereIsNone) {
  Comparison comparison = Answers("a", {100, 5, 5});
  comparison.items[0].candidate = 0.5;
  comparison.budget = 300;
  const Power power = StatePower(ResultOf(Margin(0.05), comparison));
  EXPECT_FALSE(power.equal_passes.has_value());
  EXPECT_THAT(power.why_not, HasSubstr("more than right or wrong"));
}

TEST(StatePowerTest, OfASetThatGrowsIsThatOfItsBudget) {
  Comparison comparison = Answers("a", {100, 5, 5});
  comparison.budget = 300;
  const Power small = StatePower(ResultOf(Margin(0.05), comparison));
  comparison.budget = 5000;
  const Power large = StatePower(ResultOf(Margin(0.05), comparison));
  EXPECT_THAT(small.equal_passes, Optional(Lt(0.3)));
  EXPECT_THAT(large.equal_passes, Optional(Gt(0.95)));
  EXPECT_THAT(small.needed_items, Optional(AllOf(Gt(300), Lt(5000))));
  EXPECT_EQ(small.needed_items, large.needed_items);
}

TEST(JointPowerTest, IsWhatIsLeftOfWhatEachLacks) {
  EXPECT_THAT(JointPower({{0.9, {}}, {0.8, {}}}),
              Optional(DoubleNear(0.7, 1e-12)));
  EXPECT_THAT(JointPower({{0.3, {}}, {0.4, {}}}), Optional(Eq(0)));
  EXPECT_FALSE(JointPower({{0.9, {}}, {}}).has_value());
}

Comparison Planned(int64_t budget) {
  Comparison comparison;
  comparison.task = "a";
  comparison.budget = budget;
  return comparison;
}

TEST(CheckPlanTest, ABudgetOnWhichNobodyPassesIsRefusedWithTheLeast) {
  const absl::Status refused = CheckPlan(Margin(0.05), {Planned(100)});
  EXPECT_THAT(refused,
              StatusIs(kInvalid, HasSubstr("comparisons[0].budget: is 100")));
  const std::string text(refused.message());
  const size_t at = text.find("give ");
  ASSERT_NE(at, std::string::npos) << text;
  const int least = std::stoi(text.substr(at + 5));
  ORDO_EXPECT_OK(CheckPlan(Margin(0.05), {Planned(least)}));
  EXPECT_THAT(CheckPlan(Margin(0.05), {Planned(least - 1)}),
              StatusIs(kInvalid, HasSubstr("budget")));
}

TEST(CheckPlanTest, ABudgetOfWholeSamplesIsNamedAsItWasAskedFor) {
  Comparison plan = Planned(72);
  plan.items_per_sample = 36;
  plan.asked_budget = 100;
  const absl::Status refused = CheckPlan(Margin(0.05), {plan});
  EXPECT_THAT(refused, StatusIs(kInvalid, HasSubstr("budget: is 100, which is "
                                                    "72 in whole samples of a: "
                                                    "with margin 0.05")));
  const std::string text(refused.message());
  const size_t at = text.find("give ");
  ASSERT_NE(at, std::string::npos) << text;
  // So is what is enough.
  plan.budget = std::stoi(text.substr(at + 5));
  EXPECT_EQ(plan.budget % plan.items_per_sample, 0);
  ORDO_EXPECT_OK(CheckPlan(Margin(0.05), {plan}));
  plan.budget -= plan.items_per_sample;
  EXPECT_THAT(CheckPlan(Margin(0.05), {plan}),
              StatusIs(kInvalid, HasSubstr("budget")));
}

TEST(CheckPlanTest, AMarginThatNoBudgetSufficesForIsRefused) {
  EXPECT_THAT(CheckPlan(Margin(1e-9), {Planned(1000)}),
              StatusIs(kInvalid, HasSubstr("no budget suffices")));
  EXPECT_THAT(CheckPlan(Margin(0), {Planned(0)}),
              StatusIs(kInvalid, HasSubstr("margin: is 0")));
}

Comparison FixedAnswers() {
  Comparison comparison = Planned(0);
  comparison.is_binary = true;
  return comparison;
}

TEST(CheckPlanTest, ALeastBudgetThatNoSetHasIsNotNamed) {
  // Four million would do.
  EXPECT_THAT(CheckPlan(Margin(2e-6), {Planned(1000)}),
              StatusIs(kInvalid, HasSubstr("no budget suffices")));
}

TEST(CheckPlanTest, AFixedSetMayBeSmall) {
  ORDO_EXPECT_OK(CheckPlan(Margin(0.01), {FixedAnswers()}));
}

TEST(CheckPlanTest, AMarginThatNoFixedSetShowsIsRefusedWithTheLeast) {
  // 1 - 0.025^(1e-6).
  EXPECT_THAT(CheckPlan(Margin(3.6e-6), {FixedAnswers()}),
              StatusIs(kInvalid, HasSubstr("margin: is 3.6e-06: not even "
                                           "1000000 items, the most that a set "
                                           "has, all of them answered as the "
                                           "reference does, would show it; "
                                           "give more than 3.68")));
  ORDO_EXPECT_OK(CheckPlan(Margin(3.7e-6), {FixedAnswers()}));
  Comparison anchor = FixedAnswers();
  anchor.reference = Reference::kAnchor;
  Options options = Margin(0.01);
  options.anchor_margin = 1e-9;
  const auto violations =
      base::FieldViolations(CheckPlan(options, {FixedAnswers(), anchor}));
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "anchor_margin");
  // Said once, however many comparisons have it.
  Comparison other = FixedAnswers();
  other.task = "b";
  EXPECT_EQ(
      base::FieldViolations(CheckPlan(Margin(1e-9), {FixedAnswers(), other}))
          .size(),
      1u);
}

TEST(CheckPlanTest, SoIsOneOfScoresBetweenRightAndWrong) {
  EXPECT_THAT(CheckPlan(Margin(1e-9), {Planned(0)}),
              StatusIs(kInvalid, HasSubstr("give more than 3.68")));
  ORDO_EXPECT_OK(CheckPlan(Margin(3.7e-6), {Planned(0)}));
  Comparison wide = Planned(0);
  wide.score_range = 100;
  EXPECT_THAT(CheckPlan(Margin(3.7e-6), {wide}),
              StatusIs(kInvalid, HasSubstr("give more than 0.000368")));
}

TEST(CheckPlanTest, ScoresWithoutBoundsMayShowAnyMargin) {
  Comparison unbounded = Planned(0);
  unbounded.score_range = std::numeric_limits<double>::infinity();
  ORDO_EXPECT_OK(CheckPlan(Margin(1e-9), {unbounded}));
}

TEST(CheckPlanTest, ScoresWithoutBoundsCannotGrow) {
  Comparison unbounded = Planned(10'000);
  unbounded.score_range = std::numeric_limits<double>::infinity();
  EXPECT_THAT(CheckPlan(Margin(0.05), {unbounded}),
              StatusIs(kInvalid, HasSubstr("have no bounds")));
}

}  // namespace
}  // namespace ordo::report::gate

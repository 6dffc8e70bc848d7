#include "report/gate/decision.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/gate/testing/comparisons.h"

namespace ordo::report::gate {
namespace {

using ::ordo::base::testing::StatusIs;
using stats::Verdict;
using ::testing::AllOf;
using testing::Answers;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Margin;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Comparison Against(Reference reference, Comparison comparison) {
  comparison.reference = reference;
  return comparison;
}

TEST(DecideTest, SaysWhatEachComparisonShowsAndWhatAllShowTogether) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision decision,
                            Decide(Margin(0.05), {Answers("a", {2000, 20, 20}),
                                                  Answers("b", {50, 1, 1})}));
  EXPECT_EQ(decision.results[0].gate.verdict, Verdict::kPass);
  EXPECT_EQ(decision.results[1].gate.verdict, Verdict::kInconclusive);
  EXPECT_EQ(decision.verdict, Verdict::kInconclusive);
  EXPECT_EQ(decision.results[0].gate.discordance, 0.02);
  EXPECT_EQ(decision.results[0].options.num_tests, 2);
}

TEST(DecideTest, OneTaskThatGotWorseFailsAll) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Decision decision,
      Decide(Margin(0.05),
             {Answers("a", {2000, 0, 0}), Answers("b", {2000, 0, 100})}));
  EXPECT_EQ(decision.verdict, Verdict::kFail);
}

TEST(DecideTest, AnInconclusiveGateCountsAsWasAskedAndKeepsItsVerdict) {
  Options options = Margin(0.05);
  for (const auto& [ask, outcome] :
       {std::pair{OnInconclusive::kInconclusive, Verdict::kInconclusive},
        std::pair{OnInconclusive::kPass, Verdict::kPass},
        std::pair{OnInconclusive::kFail, Verdict::kFail}}) {
    options.on_inconclusive = ask;
    ORDO_ASSERT_OK_AND_ASSIGN(const Decision decision,
                              Decide(options, {Answers("a", {50, 1, 1})}));
    EXPECT_EQ(decision.verdict, Verdict::kInconclusive);
    EXPECT_EQ(decision.outcome, outcome);
  }
  options.on_inconclusive = OnInconclusive::kPass;
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision failed,
                            Decide(options, {Answers("a", {2000, 0, 100})}));
  EXPECT_EQ(failed.outcome, Verdict::kFail);
}

TEST(DecideTest, AnAnchorStopsLossesThatEachBaselineLetThrough) {
  const Comparison small_loss = Answers("a", {2000, 10, 20});
  const Comparison large_loss =
      Against(Reference::kAnchor, Answers("a", {2000, 0, 150}));
  EXPECT_EQ(Decide(Margin(0.05), {small_loss})->verdict, Verdict::kPass);
  EXPECT_EQ(Decide(Margin(0.05), {small_loss, large_loss})->verdict,
            Verdict::kFail);
}

TEST(DecideTest, TheAnchorMayHaveAMarginOfItsOwn) {
  Options options = Margin(0.02);
  const Comparison baseline = Answers("a", {2000, 10, 10});
  const Comparison anchor =
      Against(Reference::kAnchor, Answers("a", {2000, 20, 60}));
  EXPECT_EQ(Decide(options, {baseline, anchor})->verdict, Verdict::kFail);
  options.anchor_margin = 0.05;
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision decision,
                            Decide(options, {baseline, anchor}));
  EXPECT_EQ(decision.verdict, Verdict::kPass);
  EXPECT_EQ(decision.results[0].options.margin, 0.02);
  EXPECT_EQ(decision.results[1].options.margin, 0.05);
}

TEST(DecideTest, ItemsThatGotWorseAreListedTheLargestLossFirst) {
  Comparison comparison;
  comparison.task = "a";
  comparison.items = {{"same", "d1", 0.5, 0.5},
                      {"little", "d1", 0.5, 0.4},
                      {"better", "d2", 0.1, 0.9},
                      {"much", "d2", 0.9, 0.1},
                      {"little-too", "little-too", 0.5, 0.4}};
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision decision,
                            Decide(Margin(0.05), {comparison}));
  EXPECT_THAT(decision.results[0].worse,
              ElementsAre(AllOf(Field(&WorseItem::id, "much"),
                                Field(&WorseItem::unit, "d2"),
                                Field(&WorseItem::reference, 0.9),
                                Field(&WorseItem::candidate, 0.1)),
                          Field(&WorseItem::id, "little"),
                          AllOf(Field(&WorseItem::id, "little-too"),
                                Field(&WorseItem::unit, IsEmpty()))));
  EXPECT_EQ(decision.results[0].num_worse, 3);
  EXPECT_EQ(decision.results[0].num_better, 1);
}

TEST(DecideTest, TheListOfWorseItemsIsBoundedAndTheirNumberIsNot) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Decision decision,
      Decide(Margin(0.05), {Answers("a", {3000, 0, 1500})}));
  EXPECT_THAT(decision.results[0].worse, SizeIs(kMaxWorseItems));
  EXPECT_EQ(decision.results[0].num_worse, 1500);
}

Comparison Growing(int64_t budget, const testing::Counts& counts) {
  Comparison comparison = Answers("a", counts);
  comparison.budget = budget;
  return comparison;
}

TEST(DecideTest, ASetThatGrowsAsksForMoreItemsUntilItDecides) {
  const Options options = Margin(0.05);
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision open,
                            Decide(options, {Growing(1000, {100, 2, 2})}));
  EXPECT_EQ(open.verdict, Verdict::kInconclusive);
  EXPECT_EQ(open.results[0].next_look, 200);
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision passed,
                            Decide(options, {Growing(1000, {1000, 2, 2})}));
  EXPECT_EQ(passed.verdict, Verdict::kPass);
  EXPECT_EQ(passed.results[0].next_look, 0);
  EXPECT_EQ(passed.results[0].gate.method, stats::IntervalMethod::kAnytime);
}

TEST(DecideTest, ABudgetThatIsSpentEndsInconclusive) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision spent,
                            Decide(Margin(0.05), {Growing(100, {100, 2, 2})}));
  EXPECT_EQ(spent.verdict, Verdict::kInconclusive);
  EXPECT_EQ(spent.results[0].next_look, 0);
}

TEST(DecideTest, ItemsAfterTheLookThatDecidedChangeNothing) {
  // All of the first 200 are alike, and pass; what follows is a loss.
  Comparison early = Growing(1000, {200, 0, 0});
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision before,
                            Decide(Margin(0.1), {early}));
  ASSERT_EQ(before.verdict, Verdict::kPass);
  Comparison later = early;
  for (int i = 200; i < 900; ++i) {
    later.items.push_back({absl::StrCat("i", i), "", 1, 0});
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision after, Decide(Margin(0.1), {later}));
  EXPECT_EQ(after.verdict, Verdict::kPass);
  EXPECT_EQ(after.results[0].gate.estimate.num_items,
            before.results[0].gate.estimate.num_items);
  EXPECT_THAT(after.results[0].worse, IsEmpty());
  // A fixed set of these items is looked at as a whole.
  later.budget = 0;
  EXPECT_EQ(Decide(Margin(0.1), {later})->verdict, Verdict::kFail);
}

TEST(DecideTest, ASetIsLookedAtByWholeSamples) {
  // Its samples have 40 items. The first 100 items fail, the first 120 do not.
  Comparison samples = Growing(400, {100, 0, 12});
  for (int i = 100; i < 120; ++i) {
    samples.items.push_back({absl::StrCat("i", i), "", 0, 1});
  }
  EXPECT_EQ(Decide(Margin(0.05), {samples})->verdict, Verdict::kFail);
  samples.items_per_sample = 40;
  ORDO_ASSERT_OK_AND_ASSIGN(const Decision decision,
                            Decide(Margin(0.05), {samples}));
  EXPECT_EQ(decision.verdict, Verdict::kInconclusive);
  EXPECT_EQ(decision.results[0].gate.estimate.num_items, 120);
  EXPECT_EQ(decision.results[0].next_look, 240);
}

TEST(DecideTest, AGateThatFailedAsksForNoMoreItems) {
  Comparison open = Growing(1000, {100, 2, 2});
  open.task = "b";
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Decision decision,
      Decide(Margin(0.05), {Answers("a", {2000, 0, 300}), open}));
  ASSERT_EQ(decision.verdict, Verdict::kFail);
  EXPECT_EQ(decision.results[1].gate.verdict, Verdict::kInconclusive);
  EXPECT_EQ(decision.results[1].next_look, 0);
}

TEST(DecideTest, UnitsMakeTheIntervalWider) {
  Comparison alone = Answers("a", {2000, 100, 100});
  Comparison in_units = alone;
  for (size_t i = 0; i < in_units.items.size(); ++i) {
    in_units.items[i].unit = absl::StrCat("d", i / 20);
  }
  EXPECT_EQ(Decide(Margin(0.03), {alone})->verdict, Verdict::kPass);
  EXPECT_EQ(Decide(Margin(0.03), {in_units})->verdict, Verdict::kInconclusive);
}

TEST(DecideTest, NamesTheOptionThatIsOutOfRange) {
  const Comparison baseline = Answers("a", {100, 0, 0});
  const Comparison anchor = Against(Reference::kAnchor, baseline);
  Options options = Margin(0);
  options.level = 0.4;
  EXPECT_THAT(Decide(options, {baseline, anchor}),
              StatusIs(kInvalid, AllOf(HasSubstr("margin: is 0"),
                                       HasSubstr("level: is 0.4"),
                                       Not(HasSubstr("anchor_margin")))));
  options = Margin(0.05);
  options.anchor_margin = 1.5;
  EXPECT_THAT(Decide(options, {baseline, anchor}),
              StatusIs(kInvalid, HasSubstr("anchor_margin: is 1.5")));
  Comparison no_range = baseline;
  no_range.score_range = 0;
  EXPECT_THAT(Decide(Margin(0.05), {no_range}),
              StatusIs(kInvalid, HasSubstr("comparisons[0].score_range")));
}

TEST(DecideTest, NamesTheComparisonThatCannotBe) {
  const Options options = Margin(0.05);
  const Comparison a = Answers("a", {100, 0, 0});
  EXPECT_THAT(Decide(options, {}),
              StatusIs(kInvalid, HasSubstr("comparisons: are 0")));
  EXPECT_THAT(Decide(options, std::vector<Comparison>(101, a)),
              StatusIs(kInvalid, HasSubstr("comparisons: are 101")));
  EXPECT_THAT(Decide(options, {a, a}),
              StatusIs(kInvalid, HasSubstr("comparisons[1].task: is a")));
  EXPECT_THAT(Decide(options, {Against(Reference::kAnchor, a)}),
              StatusIs(kInvalid, HasSubstr("has an anchor and no baseline")));
  Comparison broken = a;
  broken.items[7].candidate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(
      Decide(options, {broken}),
      StatusIs(kInvalid, HasSubstr("comparisons[0].items[7].candidate")));
  broken = a;
  broken.items[7].id = "i3";
  EXPECT_THAT(Decide(options, {broken}),
              StatusIs(kInvalid, HasSubstr("comparisons[0].items[7].id")));
  broken = a;
  broken.items[7].candidate = 5;
  EXPECT_THAT(Decide(options, {broken}),
              StatusIs(kInvalid, HasSubstr("comparisons[0].score_range")));
  broken = a;
  broken.items.clear();
  EXPECT_THAT(Decide(options, {broken}),
              StatusIs(kInvalid, HasSubstr("comparisons[0].items")));
}

TEST(DecideTest, NamesTheBudgetThatCannotBe) {
  const Options options = Margin(0.05);
  EXPECT_THAT(Decide(options, {Growing(50, {100, 0, 0})}),
              StatusIs(kInvalid, HasSubstr("comparisons[0].budget: is 50")));
  EXPECT_THAT(Decide(options, {Growing(-1, {100, 0, 0})}),
              StatusIs(kInvalid, HasSubstr("comparisons[0].budget: is -1")));
  Comparison in_samples = Growing(200, {100, 0, 0});
  for (const int64_t items_per_sample : {0, 40, 200}) {
    in_samples.items_per_sample = items_per_sample;
    EXPECT_THAT(
        Decide(options, {in_samples}),
        StatusIs(kInvalid, HasSubstr("comparisons[0].items_per_sample: is")));
  }
  Comparison in_units = Growing(200, {100, 0, 0});
  in_units.items[0].unit = in_units.items[1].unit = "d";
  EXPECT_THAT(Decide(options, {in_units}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("comparisons[0]: ")));
}

}  // namespace
}  // namespace ordo::report::gate

#include "report/summary/items.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/stats/bootstrap.h"
#include "report/stats/paired.h"
#include "report/stats/proportions.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RopeAndTape;
using ::testing::SizeIs;

std::vector<std::string> PathsOf(const PairedArm& arm) {
  std::vector<std::string> paths;
  for (const ReportPair& pair : arm.seeds) {
    paths.push_back(pair.candidate + " " + pair.baseline);
  }
  return paths;
}

TEST(PairArmsTest, ReportsArePairedSeedBySeed) {
  const auto paired = PairArms(RopeAndTape());
  ASSERT_THAT(paired, SizeIs(1));
  EXPECT_EQ(paired[0].evaluation, "grid");
  EXPECT_EQ(paired[0].arm, "tape");
  EXPECT_THAT(
      PathsOf(paired[0]),
      ElementsAre(
          "jobs/c-tape-s1/results/grid-100-1 jobs/c-rope-s1/results/grid-100-1",
          "jobs/c-tape-s2/results/grid-100-1 jobs/c-rope-s2/results/grid-100-1",
          "jobs/c-tape-s3/results/grid-100-1 "
          "jobs/c-rope-s3/results/grid-100-1"));
}

TEST(PairArmsTest, SeedsOfWhichAnArmHasNoSuchReportAreLeftOut) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_state("FAILED");
  spec.mutable_parts(4)->mutable_reports(0)->set_step(99);
  ASSERT_THAT(PairArms(spec), SizeIs(1));
  EXPECT_THAT(PairArms(spec)[0].seeds, SizeIs(1));
  spec.mutable_parts(5)->clear_reports();
  EXPECT_THAT(PairArms(spec), IsEmpty());
}

TEST(PairArmsTest, WithABudgetReportsAreThoseOfTheEnds) {
  auto spec = RopeAndTape();
  spec.mutable_comparison()->set_budget("flops");
  for (int i = 3; i < 6; ++i) {
    spec.mutable_parts(i)->mutable_checkpoint()->set_step(80);
    spec.mutable_parts(i)->mutable_reports(0)->set_step(80);
  }
  ASSERT_THAT(PairArms(spec), SizeIs(1));
  EXPECT_THAT(PairArms(spec)[0].seeds, SizeIs(3));
  spec.mutable_parts(5)->mutable_reports(0)->set_step(70);
  EXPECT_THAT(PairArms(spec)[0].seeds, SizeIs(2));
}

TEST(PairArmsTest, ABaselineThatIsNoArmIsPairedWithNothing) {
  auto spec = RopeAndTape();
  spec.mutable_comparison()->set_baseline("none");
  EXPECT_THAT(PairArms(spec), IsEmpty());
}

// 200 items, of which tape has 30 right that rope has not, and rope 10, alike
// in each seed.
ArmItems TapeOf(int num_seeds) {
  std::vector<stats::PairedItem> items;
  for (int seed = 0; seed < num_seeds; ++seed) {
    for (int i = 0; i < 200; ++i) {
      items.push_back({i < 30 ? 0.0 : 1.0, i >= 30 && i < 40 ? 0.0 : 1.0,
                       "1-" + std::to_string(i)});
    }
  }
  return {"grid", "tape", num_seeds, stats::MakePairedSample(items).value()};
}

// Where three seeds have none (arms_test.cc).
TEST(CompareItemsTest, ThreeSeedsHaveAnIntervalOverItems) {
  const ArmItems tape = TapeOf(3);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto differences, CompareItems({tape}, 0.95));
  ASSERT_THAT(differences, SizeIs(1));
  EXPECT_EQ(differences[0].num_seeds, 3);
  EXPECT_EQ(differences[0].estimate.num_items, 600);
  EXPECT_EQ(differences[0].estimate.num_units, 200);
  EXPECT_NEAR(differences[0].estimate.mean, 0.1, 1e-12);
  const stats::Interval interval =
      stats::PairedShareInterval(tape.sample, 0.025);
  EXPECT_NEAR(differences[0].interval.low, interval.low, 1e-9);
  EXPECT_NEAR(differences[0].interval.high, interval.high, 1e-9);
  EXPECT_GT(interval.low, 0);
  EXPECT_LT(interval.high, 0.2);
}

// As many answers again to the same questions say nothing of other questions.
TEST(CompareItemsTest, SeedsAreNoFurtherItems) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto of_one, CompareItems({TapeOf(1)}, 0.9));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto of_three,
                            CompareItems({TapeOf(3)}, 0.9));
  EXPECT_NEAR(of_three[0].interval.low, of_one[0].interval.low, 1e-3);
  EXPECT_NEAR(of_three[0].interval.high, of_one[0].interval.high, 1e-3);
}

TEST(CompareItemsTest, IntervalsOfAllArmsOfAnEvaluationHoldTogether) {
  ArmItems alibi = TapeOf(1);
  alibi.arm = "alibi";
  ArmItems elsewhere = TapeOf(1);
  elsewhere.evaluation = "sparse";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto differences,
                            CompareItems({TapeOf(1), alibi, elsewhere}, 0.95));
  ASSERT_THAT(differences, SizeIs(3));
  const stats::Interval of_two =
      stats::PairedShareInterval(TapeOf(1).sample, 0.0125);
  EXPECT_NEAR(differences[0].interval.low, of_two.low, 1e-9);
  EXPECT_NEAR(differences[1].interval.low, of_two.low, 1e-9);
  EXPECT_GT(differences[2].interval.low, of_two.low);
}

TEST(CompareItemsTest, OtherScoresAreResampledWhereEnoughDiffer) {
  base::RandomSequence random(4, "scores");
  std::vector<stats::PairedItem> items(100, {0.5, 0.5, ""});
  for (int i = 0; i < 30; ++i) {
    items[static_cast<size_t>(i)].candidate = 0.6 + 0.1 * random.Double();
  }
  const ArmItems tape = {"grid", "tape", 1,
                         stats::MakePairedSample(items).value()};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto differences, CompareItems({tape}, 0.95));
  ORDO_ASSERT_OK_AND_ASSIGN(const stats::Interval interval,
                            stats::ResampledInterval(tape.sample, 0.95, 1));
  EXPECT_NEAR(differences[0].interval.low, interval.low, 1e-9);
  EXPECT_NEAR(differences[0].interval.high, interval.high, 1e-9);
}

struct Population {
  // Probability that an item differs, either way alike.
  double discordance = 0;
  int num_seeds = 1;
  // By how much it then does: 1, or some of it.
  bool is_binary = true;
};

// 100 items between arms that are equally good, alike in each seed.
ArmItems EquallyGood(const Population& population,
                     base::RandomSequence* random) {
  std::vector<stats::PairedItem> items;
  for (int i = 0; i < 100; ++i) {
    const double draw = random->Double();
    const double size =
        population.is_binary ? 1 : 0.1 + 0.15 * random->Double();
    stats::PairedItem item = {1, 1, "1-" + std::to_string(i)};
    if (draw < population.discordance / 2) {
      item.baseline -= size;
    } else if (draw < population.discordance) {
      item.candidate -= size;
    }
    items.insert(items.end(), static_cast<size_t>(population.num_seeds), item);
  }
  return {"grid", "tape", population.num_seeds,
          stats::MakePairedSample(items).value()};
}

// Where a few differ, all of them may do so in one direction by chance.
TEST(CompareItemsTest, AFewItemsThatDifferTellNoArmsApart) {
  constexpr int kDraws = 400;
  // 5 % are 20; four standard deviations more are 37.4.
  constexpr int kAllowed = 37;
  for (const Population& population :
       {Population{0.04, 1, true}, Population{0.08, 1, true},
        Population{0.04, 2, true}, Population{0.08, 2, true},
        Population{0.04, 1, false}, Population{0.08, 1, false}}) {
    base::RandomSequence random(24, "equally_good");
    int told_apart = 0;
    for (int i = 0; i < kDraws; ++i) {
      ORDO_ASSERT_OK_AND_ASSIGN(
          const auto differences,
          CompareItems({EquallyGood(population, &random)}, 0.95));
      const stats::Interval& interval = differences[0].interval;
      told_apart += interval.low > 0 || interval.high < 0;
    }
    EXPECT_LE(told_apart, kAllowed)
        << population.discordance << " of items differ, "
        << population.num_seeds << " seeds, binary: " << population.is_binary;
  }
}

TEST(CompareItemsTest, AnswersThatDoNotVaryAreBoundedByTheirNumber) {
  base::RandomSequence random(25, "alike");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto differences,
      CompareItems({EquallyGood({0, 1, true}, &random)}, 0.95));
  // Clopper-Pearson, 0 of 100.
  EXPECT_NEAR(differences[0].interval.low, -0.0362, 5e-4);
  EXPECT_NEAR(differences[0].interval.high, 0.0362, 5e-4);
}

TEST(CompareItemsTest, WhatHardlyDiffersHasNoBoundsWhereScoresHaveNone) {
  const ArmItems alike = {
      "text", "tape", 1,
      stats::MakePairedSample({{-3, -3, "a"}, {-2, -1, "b"}}).value(),
      std::numeric_limits<double>::infinity()};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto differences,
                            CompareItems({alike}, 0.95));
  EXPECT_TRUE(std::isinf(differences[0].interval.low));
  EXPECT_TRUE(std::isinf(differences[0].interval.high));
  EXPECT_EQ(ItemTable(differences).rows[0].back(), "-");
}

TEST(CompareItemsTest, ManyUnitsHaveStudentsInterval) {
  std::vector<stats::PairedItem> items(kMaxResampledUnits + 1, {1, 1, ""});
  for (size_t i = 0; i < items.size(); i += 10) items[i].baseline = 0.5;
  const ArmItems many = {"grid", "tape", 1,
                         stats::MakePairedSample(items).value()};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto differences, CompareItems({many}, 0.95));
  const stats::Interval student =
      stats::StudentTInterval(differences[0].estimate, 0.95);
  EXPECT_NEAR(differences[0].interval.low, student.low, 1e-9);
  EXPECT_NEAR(differences[0].interval.high, student.high, 1e-9);
}

TEST(ItemTableTest, SaysOverWhatTheIntervalIs) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto differences,
                            CompareItems({TapeOf(3)}, 0.95));
  const Table table = ItemTable(differences);
  EXPECT_THAT(table.title, HasSubstr("intervals over items"));
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_THAT(table.rows[0], SizeIs(table.header.size()));
  // Scores by arm may go the other way.
  EXPECT_EQ(table.header[5], "difference (more is better)");
  EXPECT_THAT(table.note, HasSubstr("by item and by seed are then of unlike"));
  EXPECT_EQ(table.rows[0][3], "600");
  EXPECT_EQ(table.rows[0][4], "200");
  EXPECT_EQ(table.rows[0][5], "0.1");
  EXPECT_EQ(table.rows[0][6], NumberText(differences[0].interval.low));
  const auto bounds = ItemValue(differences[0])
                          .struct_value()
                          .fields()
                          .at("interval")
                          .list_value();
  EXPECT_EQ(bounds.values(0).number_value(), differences[0].interval.low);
  EXPECT_EQ(bounds.values(1).number_value(), differences[0].interval.high);
}

}  // namespace
}  // namespace ordo::report::summary

#include "report/summary/lengths.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/lengths.h"
#include "report/summary/testing/drawing_test.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RecordsOf;
using testing::RopeAndTape;
using ::testing::SizeIs;

// Rope and tape at seeds 1 to 3, trained on 8: errors at 8, 16 and 32 that
// grow by the number of the part.
struct ByLength {
  ByLength() : records(RecordsOf(spec)) {
    for (int i = 0; i < spec.parts_size(); ++i) {
      const double more = 0.01 * i;
      records[i].lengths[spec.parts(i).reports(0).path()] = {
          "length", "error", 8, {{8, more}, {16, 0.5}, {32, 0.75 + more}}};
    }
  }
  Lengths& LengthsOf(int part) { return records[part].lengths.begin()->second; }
  absl::StatusOr<std::vector<ComparedLengths>> Compared() const {
    const auto comparison = Compare(spec, records);
    if (!comparison.ok()) return comparison.status();
    return CompareLengths(spec, *comparison, records);
  }

  ordo::training::v1::SummarizeSpec spec = RopeAndTape();
  std::vector<PartRecords> records;
};

TEST(CompareLengthsTest, EachArmHasItsMeanAndIntervalAtEachLength) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, ByLength().Compared());
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].evaluation, "grid");
  EXPECT_EQ(all[0].trained, 8);
  EXPECT_EQ(all[0].num_seeds, 3);
  ASSERT_THAT(all[0].arms, SizeIs(2));
  EXPECT_EQ(all[0].arms[1].arm, "tape");
  ASSERT_THAT(all[0].arms[1].points, SizeIs(3));
  const LengthPoint& longest = all[0].arms[1].points[2];
  EXPECT_EQ(longest.length, 32);
  // Of 0.78, 0.79 and 0.8; t of two degrees at 0.975 is 4.3027.
  EXPECT_THAT(longest.mean, DoubleNear(0.79, 1e-12));
  EXPECT_THAT(longest.high - longest.mean, DoubleNear(0.024841, 1e-5));
  EXPECT_THAT(longest.mean - longest.low, DoubleNear(0.024841, 1e-5));
}

TEST(CompareLengthsTest, OnlySeedsAndLengthsThatAllArmsHaveCount) {
  ByLength scored;
  scored.spec.mutable_parts(5)->set_state("FAILED");
  scored.LengthsOf(0).values.erase(16);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, scored.Compared());
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].num_seeds, 2);
  EXPECT_THAT(all[0].arms[0].points, SizeIs(2));
  EXPECT_THAT(all[0].arms[1].points, SizeIs(2));
}

TEST(CompareLengthsTest, WhatIsScoredOtherwiseIsNotCompared) {
  ByLength scored;
  scored.LengthsOf(4).score = "perplexity";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, scored.Compared());
  EXPECT_THAT(all, IsEmpty());
}

TEST(CompareLengthsTest, TrainedLengthsThatDifferAreNotMarked) {
  ByLength scored;
  scored.LengthsOf(4).trained = 16;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, scored.Compared());
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].trained, 0);
  EXPECT_EQ(TrainedText(all[0]), "");
  EXPECT_THAT(LengthPlot(all[0]).script, Not(HasSubstr("set arrow")));
}

TEST(CompareLengthsTest, SeedsThatScoreAlikeHaveNoInterval) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, ByLength().Compared());
  const LengthPoint& alike = all[0].arms[1].points[1];
  EXPECT_EQ(alike.mean, 0.5);
  EXPECT_TRUE(std::isinf(alike.low));
  EXPECT_TRUE(std::isinf(alike.high));
  EXPECT_THAT(LengthTable(all).rows[4],
              ::testing::ElementsAre("grid", "length", "16", "8", "tape", "3",
                                     "error", "0.5", "", ""));
  // Nothing is drawn beside the mean.
  EXPECT_THAT(LengthPlot(all[0]).script,
              HasSubstr("\n16.111289 0.5 0.5 0.5\n"));
}

TEST(LengthTableTest, ASingleSeedHasNoInterval) {
  ByLength scored;
  for (const int i : {1, 2, 4, 5}) {
    scored.spec.mutable_parts(i)->set_state("FAILED");
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, scored.Compared());
  const Table table = LengthTable(all);
  ASSERT_THAT(table.rows, SizeIs(6));
  EXPECT_THAT(table.rows[1],
              ::testing::ElementsAre("grid", "length", "16", "8", "rope", "1",
                                     "error", "0.5", "", ""));
  EXPECT_THAT(LengthPlot(all[0]).script, Not(HasSubstr("filledcurves")));
}

using LengthPlotTest = testing::DrawingTest;

TEST_F(LengthPlotTest, ErrorsHaveBandsAndTheTrainedLengthIsMarked) {
  ByLength scored;
  for (int i = 0; i < scored.spec.parts_size(); ++i) {
    scored.LengthsOf(i).values[16] = 0.5 + 0.01 * i;
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, scored.Compared());
  const Figure figure = LengthPlot(all[0]);
  // Lengths that double stand on a logarithmic axis, by their own numbers, and
  // an interval ends where errors do. Arms stand beside each other.
  EXPECT_THAT(figure.script, HasSubstr("set logscale x\nset xtics (8, 16, 32)\n"
                                       "set xrange [6.57488:38.936]\n"));
  EXPECT_THAT(figure.script, HasSubstr("set arrow 1 from first 8,graph 0"));
  EXPECT_THAT(figure.script, HasSubstr("$arm0 << EOD\n7.94474 0.01 0 0.0348"));
  EXPECT_THAT(figure.script, HasSubstr("$arm1 << EOD\n8.0556444 0.04 "));
  EXPECT_THAT(figure.script, HasSubstr("$arm1 using 1:3:4 with filledcurves"));
  const std::string svg = Svg(figure);
  EXPECT_THAT(svg, HasSubstr(">error<"));
  EXPECT_THAT(svg, HasSubstr(">grid; means over 3 seeds; bands: 95 % "
                             "intervals over seeds<"));
  EXPECT_THAT(svg, HasSubstr(">tape<"));
}

TEST_F(LengthPlotTest, WhereALengthHasNoIntervalTheOthersAreBars) {
  // All seeds of an arm score alike at 16.
  ORDO_ASSERT_OK_AND_ASSIGN(const auto all, ByLength().Compared());
  const Figure figure = LengthPlot(all[0]);
  EXPECT_THAT(figure.script, Not(HasSubstr("filledcurves")));
  EXPECT_THAT(figure.script, HasSubstr("$arm0 using 1:2:3:4 with yerrorlines"));
  EXPECT_THAT(figure.script, HasSubstr("; bars: 95 % intervals over seeds\""));
  ByLength alike;
  for (int i = 0; i < alike.spec.parts_size(); ++i) {
    alike.LengthsOf(i).values = {{8, 0.25}, {16, 0.5}};
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto none, alike.Compared());
  EXPECT_THAT(LengthPlot(none[0]).script,
              HasSubstr("$arm0 using 1:2 with linespoints"));
  EXPECT_THAT(LengthPlot(none[0]).script,
              HasSubstr("set title \"grid; means over 3 seeds\" "));
}

TEST_F(LengthPlotTest, ArmsThatScoreAlikeStandBesideEachOther) {
  ComparedLengths compared;
  compared.by = "digits";
  compared.score = "error";
  compared.num_seeds = 1;
  const std::vector<LengthPoint> points = {{10, 1, 1, 1}, {20, 1, 1, 1}};
  compared.arms = {{"a", points}, {"b", points}, {"c", points}};
  const Figure figure = LengthPlot(compared);
  EXPECT_THAT(figure.script, HasSubstr("$arm0 << EOD\n9.8 1 1 1\n19.8 1 "));
  EXPECT_THAT(figure.script, HasSubstr("$arm1 << EOD\n10 1 1 1\n20 1 "));
  EXPECT_THAT(figure.script, HasSubstr("$arm2 << EOD\n10.2 1 1 1\n20.2 1 "));
  // All have a place.
  EXPECT_THAT(figure.script, HasSubstr("set xrange [9.2:20.8]\n"));
  // The lengths that were asked, whatever is round between them.
  EXPECT_THAT(figure.script, HasSubstr("\nset xtics (10, 20)\n"));
  ComparedLengths near = compared;
  for (LengthCurve& arm : near.arms) arm.points[1].length = 12;
  EXPECT_THAT(LengthPlot(near).script, HasSubstr("\nset xtics (10, 12)\n"));
  for (LengthCurve& arm : near.arms) arm.points.push_back({14, 1, 1, 1});
  EXPECT_THAT(LengthPlot(near).script, HasSubstr("\nset xtics 1\n"));
  for (LengthCurve& arm : near.arms) arm.points.back().length = 24;
  EXPECT_THAT(LengthPlot(near).script, Not(HasSubstr("set xtics")));
  // Many stay between two lengths.
  while (compared.arms.size() < 50) compared.arms.push_back({"d", points});
  EXPECT_THAT(LengthPlot(compared).script,
              HasSubstr("$arm49 << EOD\n10.49 1 1 1\n20.49 1 "));
}

TEST_F(LengthPlotTest, OnlyATrainedLengthOnTheAxisHasALine) {
  ComparedLengths compared;
  compared.by = "length";
  compared.score = "error";
  compared.num_seeds = 1;
  compared.trained = 8;
  compared.arms = {{"rope", {{8, 1, 1, 1}, {16, 1, 1, 1}}}};
  EXPECT_THAT(LengthPlot(compared).script, HasSubstr("set arrow"));
  EXPECT_EQ(TrainedText(compared), " Trained on up to 8: the dashed line.");
  for (const int64_t outside : {4, 32}) {
    compared.trained = outside;
    EXPECT_THAT(LengthPlot(compared).script, Not(HasSubstr("set arrow")));
    EXPECT_EQ(TrainedText(compared),
              " Trained on up to " + std::to_string(outside) + ".");
  }
}

TEST_F(LengthPlotTest, WithoutATrainedLengthNothingIsMarkedAtZero) {
  ComparedLengths compared;
  compared.by = "answer";
  compared.score = "error";
  compared.num_seeds = 1;
  compared.arms = {{"rope", {{0, 1, 1, 1}, {1, 0.5, 0.5, 0.5}}}};
  EXPECT_THAT(LengthPlot(compared).script, Not(HasSubstr("set arrow")));
}

TEST_F(LengthPlotTest, BarsOfOneRunAreOverItsQuestions) {
  ComparedLengths compared;
  compared.evaluation = "held_out";
  compared.by = "length";
  compared.score = "bits_per_byte";
  compared.num_seeds = 1;
  compared.has_bars = true;
  compared.arms = {{"rope", {{16, 2, 1.5, 2.5}, {64, 3, 2.5, 3.5}}}};
  const std::string svg = Svg(LengthPlot(compared));
  EXPECT_THAT(svg,
              HasSubstr(">held_out; bars: 95 % intervals over questions<"));
  EXPECT_THAT(svg, HasSubstr(">bits per byte<"));
}

TEST_F(LengthPlotTest, PerplexitiesThatDifferTenfoldHaveALogarithmicAxis) {
  ComparedLengths compared;
  compared.by = "length";
  compared.score = "perplexity";
  compared.num_seeds = 2;
  compared.arms = {{"rope", {{10, 20, -50, 90}, {11, 400, 300, 500}}}};
  const Figure figure = LengthPlot(compared);
  EXPECT_THAT(figure.script, HasSubstr("set logscale y\n"));
  EXPECT_THAT(figure.script, Not(HasSubstr("set logscale x")));
  EXPECT_THAT(figure.script,
              HasSubstr("$arm0 << EOD\n10 20 10 90\n11 400 300 500\nEOD\n"));
  EXPECT_THAT(Svg(figure), HasSubstr("perplexity"));
}

}  // namespace
}  // namespace ordo::report::summary

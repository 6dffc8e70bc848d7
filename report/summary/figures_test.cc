#include "report/summary/figures.h"

#include <limits>
#include <map>
#include <utility>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/drawing_test.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RopeAndTape;
using ::testing::SizeIs;

using FiguresTest = testing::DrawingTest;

TEST_F(FiguresTest, AForestPlotNamesArmsScoreAndBaseline) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  const std::string svg = Svg(ForestPlot(comparison, comparison.metrics[0]));
  EXPECT_THAT(svg, HasSubstr("tape"));
  EXPECT_THAT(svg,
              HasSubstr("difference from rope (more is better), joint 95 %, "
                        "3 seeds"));
}

TEST_F(FiguresTest, WithoutBoundsAPointHasNoBar) {
  auto spec = RopeAndTape();
  spec.mutable_parts()->SwapElements(1, 3);
  while (spec.parts_size() > 2) spec.mutable_parts()->RemoveLast();
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  const Figure figure = ForestPlot(comparison, comparison.metrics[0]);
  EXPECT_THAT(figure.script, Not(HasSubstr("inf")));
  EXPECT_THAT(figure.script, Not(HasSubstr("xerrorbars")));
  EXPECT_THAT(Svg(figure), HasSubstr("difference from rope (more is better), "
                                     "1 seed<"));
  EXPECT_TRUE(LacksBars(comparison.metrics[0]));
  const std::vector<CostAxis> axes = CostAxes(comparison);
  ASSERT_THAT(axes, SizeIs(2));
  const Figure cost = CostPlot(comparison, comparison.metrics[0], axes[0]);
  EXPECT_THAT(cost.script, HasSubstr("$arm1 using 1:2 with points "));
  EXPECT_THAT(cost.script, Not(HasSubstr("bars")));
  EXPECT_THAT(Svg(cost), HasSubstr("device time of a run (s)"));
  EXPECT_TRUE(LacksBars(comparison, comparison.metrics[0], axes[0]));
}

TEST_F(FiguresTest, ACostPlotSaysWhatItsBarsAreAndOfHowManySeeds) {
  // The seeds of an arm take the same time.
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  const ComparedMetric& metric = comparison.metrics[0];
  const std::vector<CostAxis> axes = CostAxes(comparison);
  const Figure time = CostPlot(comparison, metric, axes[0]);
  EXPECT_THAT(time.script, HasSubstr("$arm0 using 1:2:5:6 with yerrorbars "));
  EXPECT_TRUE(LacksBars(comparison, metric, axes[0]));
  EXPECT_THAT(Svg(time), HasSubstr("more is better; means over 3 seeds, bars: "
                                   "95 % intervals"));
  // What is counted has no bar to lack.
  ASSERT_EQ(axes[1].measured, nullptr);
  EXPECT_FALSE(LacksBars(comparison, metric, axes[1]));
}

TEST_F(FiguresTest, BoundsOfSharesAndCostsAreCutAtWhatTheyCanBe) {
  auto spec = RopeAndTape();
  constexpr double kScores[] = {0.0, 0.5, 0.25, 1.0, 0.5, 0.75};
  for (int i = 0; i < 6; ++i) {
    auto& metrics =
        *spec.mutable_parts(i)->mutable_reports(0)->mutable_metrics();
    metrics["grid_mean"] = kScores[i];
    metrics["nats"] = kScores[i];
    spec.mutable_parts(i)->set_device_seconds(1 + 99 * (i % 3));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  ASSERT_THAT(comparison.metrics, SizeIs(2));
  const ComparedMetric& share = comparison.metrics[0];
  ASSERT_EQ(share.key.metric, "grid_mean");
  // Differences 1, 0 and 0.5: 0.5 more or less 4.3027 / 2 / sqrt(3).
  EXPECT_THAT(ForestPlot(comparison, share).script,
              HasSubstr("\n0.5 1 -0.742069 1\n"));
  const CostAxis axis = CostAxes(comparison)[0];
  // 0 to 0.5 and 1 to 199 s reach below zero.
  EXPECT_THAT(
      CostPlot(comparison, share, axis).script,
      ::testing::ContainsRegex("arm0 << EOD\n100 0.25 0 [0-9.]+ 0 0.871"));
  EXPECT_THAT(
      CostPlot(comparison, comparison.metrics[1], axis).script,
      ::testing::ContainsRegex("arm0 << EOD\n100 0.25 0 [0-9.]+ -0.371"));
}

TEST_F(FiguresTest, CostsAreDrawnInTheUnitOfTheirAxis) {
  ORDO_ASSERT_OK_AND_ASSIGN(Comparison comparison, Compare(RopeAndTape(), {}));
  comparison.costs[0].peak_memory_bytes = 3 << 20;
  ASSERT_THAT(CostAxes(comparison), SizeIs(2)) << "one arm has no memory";
  comparison.costs[1].peak_memory_bytes = 5 << 20;
  const std::vector<CostAxis> axes = CostAxes(comparison);
  ASSERT_THAT(axes, SizeIs(3));
  const Figure work = CostPlot(comparison, comparison.metrics[0], axes[1]);
  EXPECT_THAT(work.script, HasSubstr("$arm1 << EOD\n2 0.7 2 2 "));
  EXPECT_THAT(Svg(work), HasSubstr("work of a step (GFLOP)"));
  const Figure memory = CostPlot(comparison, comparison.metrics[0], axes[2]);
  EXPECT_THAT(memory.script, HasSubstr("$arm0 << EOD\n3 0.5 3 3 "));
  EXPECT_THAT(Svg(memory), HasSubstr("peak memory of a run (MiB)"));
}

TEST_F(FiguresTest, MeasuredCostsHaveTheirIntervals) {
  auto spec = RopeAndTape();
  for (int i = 0; i < 6; ++i) spec.mutable_parts(i)->set_device_seconds(10 + i);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  const Figure figure =
      CostPlot(comparison, comparison.metrics[0], CostAxes(comparison)[0]);
  // 10, 11 and 12; t of two degrees at 0.975 is 4.3027.
  EXPECT_THAT(figure.script,
              HasSubstr("$arm0 << EOD\n11 0.5 8.51586 13.4841 "));
  EXPECT_THAT(Svg(figure), HasSubstr("device time of a run (s)"));
}

TEST_F(FiguresTest, ScoresThatWereAskedOftenStandOverTheirSteps) {
  auto spec = RopeAndTape();
  EXPECT_THAT(ScoresBySteps(spec, {}), ::testing::IsEmpty()) << "asked once";
  for (auto& part : *spec.mutable_parts()) {
    auto& early = *part.add_reports();
    early = part.reports(0);
    early.set_step(50);
    (*early.mutable_metrics())["grid_mean"] = 0.25;
  }
  spec.mutable_parts(5)->set_state("FAILED");
  const std::vector<StepScores> all = ScoresBySteps(spec, {});
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(Title(all[0].key), "grid: grid_mean");
  ASSERT_THAT(all[0].runs, SizeIs(5));
  const std::vector<ArmCurve> arms = ArmCurves(all[0].runs);
  ASSERT_THAT(arms, SizeIs(2));
  EXPECT_EQ(arms[1].num_runs, 2);
  ASSERT_THAT(arms[1].points, SizeIs(2));
  EXPECT_EQ(arms[1].points[0].step, 50);
  EXPECT_EQ(arms[1].points[0].mean, 0.25);
  EXPECT_THAT(Svg(ArmCurvesFigure(arms, Title(all[0].key))),
              HasSubstr("grid: grid_mean"));
}

TEST_F(FiguresTest, NoScoreByTokenOfSeveralTokenizersStandsOverSteps) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    auto& metrics = *part.mutable_reports(0)->mutable_metrics();
    metrics.clear();
    metrics["batch_mean_perplexity"] = 11;
    metrics["bits_per_byte"] = 3.5;
    auto& early = *part.add_reports();
    early = part.reports(0);
    early.set_step(50);
  }
  Tokenizers one;
  one["grid"]["bytes"] = {"c-rope-s1"};
  ASSERT_THAT(ScoresBySteps(spec, one), SizeIs(1));
  EXPECT_EQ(ScoresBySteps(spec, one)[0].key.metric, "batch_mean_perplexity");
  Tokenizers two = one;
  two["grid"]["t.model"] = {"c-tape-s1"};
  ASSERT_THAT(ScoresBySteps(spec, two), SizeIs(1));
  EXPECT_EQ(ScoresBySteps(spec, two)[0].key.metric, "bits_per_byte");
}

TEST(ThinOutTest, TheFirstOfEachRangeOfStepsIsKept) {
  std::map<int64_t, double> losses;
  for (int64_t step = 1; step <= 1000; ++step) losses[step] = 1.0 / step;
  const auto points = ThinOut(losses);
  EXPECT_LE(points.size(), kMaxCurvePoints);
  ASSERT_THAT(points, SizeIs(334));
  EXPECT_EQ(points[0].first, 1);
  EXPECT_EQ(points[1], (std::pair<int64_t, double>(3, 1.0 / 3)));
  EXPECT_EQ(points[333].first, 999);
  EXPECT_THAT(ThinOut({{7, 2.0}}), SizeIs(1));
  EXPECT_THAT(ThinOut({}), SizeIs(0));
}

TEST_F(FiguresTest, CurvesOfOnePartHaveOneColourAndOneTitle) {
  const Figure figure = LearningCurves({{"rope", {{1, 3.0}, {2, 2.0}}},
                                        {"tape", {{1, 3.0}}},
                                        {"rope", {{1, 3.1}, {2, 2.1}}}});
  EXPECT_THAT(figure.script, HasSubstr("$curve2 with lines linewidth 1.5 "
                                       "linecolor rgb '#0072b2' notitle"));
  EXPECT_THAT(Svg(figure), HasSubstr("training loss"));
}

TEST_F(FiguresTest, AnArmIsTheMeanOfItsRunsInABandFromBestToWorst) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ArmCurve> arms =
      ArmCurves({{"rope", {{10, 3.0}, {20, 2.0}, {25, 1.5}, {30, nan}}},
                 {"tape", {{10, 3.0}, {20, 1.0}}},
                 {"rope", {{10, 4.0}, {20, 2.5}, {30, 2.0}}}});
  ASSERT_THAT(arms, SizeIs(2));
  EXPECT_EQ(arms[0].arm, "rope");
  EXPECT_EQ(arms[0].num_runs, 2);
  // Steps that one of the runs lacks, or at which it has no loss, are left out.
  ASSERT_THAT(arms[0].points, SizeIs(2));
  EXPECT_EQ(arms[0].points[1].step, 20);
  EXPECT_EQ(arms[0].points[1].mean, 2.25);
  EXPECT_EQ(arms[0].points[1].low, 2.0);
  EXPECT_EQ(arms[0].points[1].high, 2.5);
  const Figure figure = ArmCurvesFigure(arms, kLossLabel);
  EXPECT_THAT(figure.script,
              HasSubstr("$arm0 << EOD\n10 3.5 3 4\n20 2.25 2 2.5\nEOD\n"));
  EXPECT_THAT(figure.script, HasSubstr("$arm0 using 1:3:4 with filledcurves"));
  const std::string svg = Svg(figure);
  EXPECT_THAT(svg, HasSubstr("rope (2)"));
  EXPECT_THAT(svg, HasSubstr("tape (1)"));
  EXPECT_THAT(svg,
              HasSubstr(">mean and range of seeds, as many as in brackets<"));
}

TEST_F(FiguresTest, ArmsOfEqualRunsAreOfThatManySeeds) {
  std::vector<Curve> runs = {{"rope", {{10, 3.0}}},
                             {"tape", {{10, 3.0}}},
                             {"rope", {{10, 4.0}}},
                             {"tape", {{10, 2.0}}}};
  const std::string svg = Svg(ArmCurvesFigure(ArmCurves(runs), kLossLabel));
  EXPECT_THAT(svg, HasSubstr(">mean and range of 2 seeds<"));
  EXPECT_THAT(svg, HasSubstr(">rope<"));
  EXPECT_THAT(svg, Not(HasSubstr("(2)")));
  // One without a line does not count.
  runs.push_back({"none", {}});
  EXPECT_THAT(ArmCurvesFigure(ArmCurves(runs), kLossLabel).script,
              HasSubstr("\"mean and range of 2 seeds\""));
}

TEST_F(FiguresTest, BeyondTwentyPartsCurvesHaveNoTitle) {
  std::vector<Curve> curves;
  for (int i = 0; i < 30; ++i) {
    curves.push_back({"part" + std::to_string(i), {{1, 3.0}}});
  }
  const std::string script = LearningCurves(curves).script;
  EXPECT_THAT(script, HasSubstr("title \"part19\""));
  EXPECT_THAT(script, Not(HasSubstr("part20")));
}

}  // namespace
}  // namespace ordo::report::summary

#include "report/forest.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(FigureRangeTest, HoldsWhatIsFiniteWithRoomBesideIt) {
  FigureRange range(0);
  range.Add(1);
  range.Add(kInf);
  EXPECT_DOUBLE_EQ(range.low(), -0.08);
  EXPECT_DOUBLE_EQ(range.high(), 1.08);
  EXPECT_DOUBLE_EQ(range.Clip(-kInf), range.low());
  EXPECT_DOUBLE_EQ(range.Clip(0.5), 0.5);
}

TEST(ForestPlotTest, TheFirstRowIsOnTopAndAnOpenIntervalReachesTheEdge) {
  const Figure figure =
      ForestPlot({"t", "x", {{"a", 0.5, 0, 1}, {"b", 0.5, -kInf, 0.75}}, {}});
  EXPECT_THAT(figure.script,
              HasSubstr("$bars << EOD\n0.5 2 0 1\n0.5 1 -0.08 0.75\nEOD\n"));
  EXPECT_THAT(figure.script, Not(HasSubstr("$points")));
  EXPECT_THAT(figure.script, HasSubstr("(\"a\" 2, \"b\" 1)"));
  EXPECT_THAT(figure.script, Not(HasSubstr("dashtype 3")));
}

TEST(ForestPlotTest, ARowWithoutBoundsIsAPointWithoutABar) {
  const Figure figure =
      ForestPlot({"t", "x", {{"a", 0.5, 0, 1}, {"b", 0.5, -kInf, kInf}}, {}});
  EXPECT_THAT(figure.script, HasSubstr("$bars << EOD\n0.5 2 0 1\nEOD\n"));
  EXPECT_THAT(figure.script, HasSubstr("$points << EOD\n0.5 1\nEOD\n"));
  EXPECT_THAT(figure.script, HasSubstr(", $points using 1:2 with points "));
  const Figure alone = ForestPlot({"t", "x", {{"b", 0.5, -kInf, kInf}}, {}});
  EXPECT_THAT(alone.script, HasSubstr("plot $points using 1:2 with points "));
}

TEST(ForestPlotTest, LongNamesStandInTwoLinesAndTicsDoNotTouch) {
  const Figure figure = ForestPlot(
      {"t", "x", {{"addition_grid against the baseline", 0.2, 0, 0.4}}, {}});
  EXPECT_THAT(figure.script,
              HasSubstr("(\"addition\\\\_grid\\nagainst the baseline\" 1)"));
  EXPECT_THAT(figure.script, HasSubstr("set xtics nomirror 0.1\n"));
  EXPECT_EQ(figure.height_px, 158);
  const Figure one =
      ForestPlot({"t", "x", {{"of-one-very-long-word", 3, 0, 9}}, {}});
  EXPECT_THAT(one.script, HasSubstr("(\"of-one-very-long-word\" 1)"));
  EXPECT_THAT(one.script, HasSubstr("set xtics nomirror 2\n"));
}

TEST(ForestPlotTest, MarksStandInsideTheRange) {
  const Figure figure = ForestPlot({"t", "x", {{"a", 0.5, 0, 1}}, {-1.0}});
  EXPECT_THAT(figure.script,
              HasSubstr("set arrow 2 from -1,0.4 to -1,1.6 nohead dashtype 3"));
  EXPECT_THAT(figure.script, HasSubstr("set xrange [-1.16:1.16]"));
}

}  // namespace
}  // namespace ordo::report

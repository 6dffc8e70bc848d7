#include "report/lines.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/drawing_test.h"

namespace ordo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using LinePlotTest = summary::testing::DrawingTest;

Lines Two() {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  return {"A title",
          "layer",
          "change",
          false,
          false,
          {{"one", {{1, 0.5}, {2, nothing}, {3, 0.25}}},
           {"two", {{1, 0}, {2, 4}}}}};
}

TEST_F(LinePlotTest, WhatIsNotFiniteIsLeftOut) {
  const Figure figure = LinePlot(Two());
  EXPECT_THAT(figure.script, HasSubstr("$line0 << EOD\n1 0.5\n3 0.25\nEOD\n"));
  EXPECT_THAT(figure.script, HasSubstr("$line1 << EOD\n1 0\n2 4\nEOD\n"));
  const std::string svg = Svg(figure);
  EXPECT_THAT(svg, HasSubstr(">A title<"));
  EXPECT_THAT(svg, HasSubstr(">two<"));
}

TEST_F(LinePlotTest, ALogarithmicAxisHasNoZero) {
  Lines lines = Two();
  lines.is_logarithmic = lines.has_marks = true;
  const Figure figure = LinePlot(lines);
  EXPECT_THAT(figure.script, HasSubstr("$line1 << EOD\n2 4\nEOD\n"));
  EXPECT_THAT(figure.script, HasSubstr("set logscale y\n"));
  EXPECT_THAT(Svg(figure), HasSubstr(">layer<"));
}

TEST_F(LinePlotTest, MarkedPointsHaveBarsWhereTheirIntervalIsKnown) {
  Lines lines = Two();
  lines.has_marks = true;
  lines.lines[1].points = {{1, 1}, {2, 4, 3, 5}};
  const Figure figure = LinePlot(lines);
  EXPECT_THAT(figure.script, HasSubstr("$line1 << EOD\n1 1\n2 4\nEOD\n"));
  EXPECT_THAT(figure.script, HasSubstr("$interval1 << EOD\n2 4 3 5\nEOD\n"));
  EXPECT_THAT(figure.script,
              HasSubstr("plot $interval1 using ($1+0.02):2:3:4 with "
                        "yerrorbars "));
  EXPECT_THAT(figure.script, Not(HasSubstr("$interval0")));
  EXPECT_THAT(Svg(figure), HasSubstr(">two<"));
}

TEST_F(LinePlotTest, MarkedPointsOfEqualLinesStandBesideEachOther) {
  Lines lines = Two();
  lines.has_marks = true;
  lines.lines[1].points = lines.lines[0].points;
  const Figure figure = LinePlot(lines);
  EXPECT_THAT(figure.script, HasSubstr("$line0 using ($1-0.02):2 with lines"));
  EXPECT_THAT(figure.script, HasSubstr("$line1 using ($1+0.02):2 with lines"));
  EXPECT_THAT(Svg(figure), HasSubstr(">two<"));
  lines.has_marks = false;
  EXPECT_THAT(LinePlot(lines).script,
              HasSubstr("$line1 using 1:2 with lines "));
}

TEST_F(LinePlotTest, ANoteStandsBelowTheTitle) {
  EXPECT_THAT(LinePlot(Two()).script, HasSubstr("set title \"A title\"\n"));
  Lines lines = Two();
  lines.note = "bars: {all}";
  const std::string svg = Svg(LinePlot(lines));
  EXPECT_THAT(svg, HasSubstr(">A title<"));
  EXPECT_THAT(svg, HasSubstr("bars: {all}"));
}

TEST_F(LinePlotTest, LinesWithoutMarksHaveBands) {
  Lines lines = Two();
  lines.lines[1].points = {{0, 1, 0.5, 1.5}, {1, 4, 3, 5}};
  const Figure figure = LinePlot(lines);
  EXPECT_THAT(figure.script,
              HasSubstr("$interval1 using 1:3:4 with filledcurves "));
  EXPECT_THAT(Svg(figure), HasSubstr(">two<"));
}

TEST_F(LinePlotTest, AnIntervalDownToZeroHasNoPlaceOnALogarithmicAxis) {
  Lines lines = Two();
  lines.lines[1].points = {{1, 2, 0, 4}, {2, 4, 3, 5}};
  EXPECT_THAT(LinePlot(lines).script,
              HasSubstr("$interval1 << EOD\n1 2 0 4\n2 4 3 5\nEOD\n"));
  lines.is_logarithmic = true;
  const Figure figure = LinePlot(lines);
  EXPECT_THAT(figure.script, HasSubstr("$line1 << EOD\n1 2\n2 4\nEOD\n"));
  EXPECT_THAT(figure.script, HasSubstr("$interval1 << EOD\n2 4 3 5\nEOD\n"));
}

TEST(CanDrawTest, WhatHasNoPlaceOnTheAxesCannotBeDrawn) {
  Lines lines = Two();
  EXPECT_TRUE(CanDraw(lines));
  lines.lines = {{"one", {{1, 0}, {2, -1}}}};
  EXPECT_TRUE(CanDraw(lines));
  lines.is_logarithmic = true;
  EXPECT_FALSE(CanDraw(lines));
  lines.lines.clear();
  EXPECT_FALSE(CanDraw(lines));
}

TEST_F(LinePlotTest, ALineWithoutPointsIsNotNamed) {
  Lines lines = Two();
  lines.lines[1].points = {{1, 0}};
  lines.is_logarithmic = true;
  EXPECT_THAT(LinePlot(lines).script, Not(HasSubstr("two")));
}

}  // namespace
}  // namespace ordo::report

#include "tests/bench/panels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PanelsTest, LinesOfATitleHaveOneColourInEveryPanel) {
  Panels panels;
  panels.Of("a").Add("fp32", false, {256, 1, 0.5, 2});
  panels.Of("b").Add("bf16", false, {256, 1, 1, 1});
  panels.Of("b").Add("fp32", true, {256, 1, 1, 1});
  panels.Of("a").Add("fp32", false, {512, 1, 1, 1});
  EXPECT_THAT(panels.Titles(), ElementsAre("fp32", "bf16"));
  EXPECT_TRUE(panels.HasDashed());
  Frame frame;
  frame.y_label = "time";
  frame.dashed = "plainly";
  const std::string script = DrawPanels(panels, frame).script;
  EXPECT_THAT(script, HasSubstr("$line0_0 << EOD\n256 1 0.5 2\n512 "));
  EXPECT_THAT(script, HasSubstr("\"dashed: plainly\""));
  EXPECT_THAT(script, Not(HasSubstr("grey: ")));
  frame.level = 3;
  frame.grey = "copies";
  const std::string with_level = DrawPanels(panels, frame).script;
  EXPECT_THAT(with_level, HasSubstr("\"grey: copies\""));
  EXPECT_THAT(with_level, HasSubstr("plot 3 with lines"));
  EXPECT_THAT(with_level, HasSubstr("set xtics (256, 512)"));
  // It is within the axis.
  EXPECT_THAT(with_level, HasSubstr("set yrange [0.4:3.75]"));
}

TEST(PanelsTest, FewPanelsFillTheWidthAndManyStandInRowsOfFour) {
  Panels panels;
  const auto add = [&panels](const char* title) {
    panels.Of(title).Add("fp32", false, {256, 1, 1, 1});
  };
  add("a");
  add("b");
  EXPECT_THAT(DrawPanels(panels, {}).script, HasSubstr("layout 1,2 "));
  for (const char* title : {"c", "d", "e"}) add(title);
  EXPECT_THAT(DrawPanels(panels, {}).script, HasSubstr("layout 2,4 "));
}

// Of a figure of points from `low` to `high`; there is a margin of a quarter.
std::string TicksOf(double low, double high) {
  Panels panels;
  panels.Of("a").Add("fp32", false, {256, low, low, high});
  const std::string script = DrawPanels(panels, {}).script;
  const size_t begin = script.find("set ytics (") + 11;
  return script.substr(begin, script.find(')', begin) - begin);
}

TEST(PanelsTest, AnAxisHasSeveralRoundNumbersHoweverLongItIs) {
  EXPECT_EQ(TicksOf(0.98, 1.1), "0.8, 0.9, 1, 1.1, 1.2, 1.3");
  EXPECT_EQ(TicksOf(0.3, 1), "0.25, 0.5, 1");
  EXPECT_EQ(TicksOf(2.7, 65), "4, 8, 16, 32, 64");
  EXPECT_EQ(TicksOf(2.7, 4000), "4, 16, 64, 256, 1024, 4096");
}

// Memory is measured once.
TEST(PanelsTest, APointOfOneSampleHasNoBar) {
  Panels panels;
  panels.Of("a").Add("fp32", false, {256, 1, 1, 1});
  EXPECT_THAT(DrawPanels(panels, {}).script, Not(HasSubstr("yerrorbars")));
  panels.Of("a").Add("fp32", false, {512, 1, 0.5, 1});
  EXPECT_THAT(DrawPanels(panels, {}).script, HasSubstr("yerrorbars"));
}

TEST(PanelsTest, LinesDifferInMarksToo) {
  Panels panels;
  panels.Of("a").Add("fp32", false, {256, 1, 1, 1});
  panels.Of("a").Add("bf16", false, {256, 2, 2, 2});
  const std::string script = DrawPanels(panels, {}).script;
  EXPECT_THAT(script, HasSubstr("with linespoints pointtype 7 "));
  EXPECT_THAT(script, HasSubstr("with linespoints pointtype 5 "));
}

TEST(PanelsTest, NoPanelsAreNoFigure) {
  EXPECT_EQ(DrawPanels({}, {}).script, "");
}

}  // namespace
}  // namespace ordo::tests::bench

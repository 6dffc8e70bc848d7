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

TEST(PanelsTest, NoPanelsAreNoFigure) {
  EXPECT_EQ(DrawPanels({}, {}).script, "");
}

}  // namespace
}  // namespace ordo::tests::bench

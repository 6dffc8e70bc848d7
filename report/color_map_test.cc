#include "report/color_map.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/drawing_test.h"

namespace ordo::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using MapPlotTest = summary::testing::DrawingTest;

ColorMap Small() {
  ColorMap map;
  map.title = "layer 2";
  map.x_label = "key";
  map.y_label = "query";
  map.value_label = "weight";
  map.rows = {{1, 0}, {0.25, 0.75}};
  map.high = 0.75;
  return map;
}

TEST_F(MapPlotTest, RowsGoDownAndColumnsRight) {
  const Figure figure = MapPlot(Small());
  EXPECT_THAT(figure.script,
              HasSubstr("$map << EOD\n1 1 1\n2 1 0\n1 2 0.25\n2 2 0.75\nEOD"));
  EXPECT_THAT(figure.script, HasSubstr("set yrange [2.5:0.5]\n"));
  EXPECT_THAT(figure.script, HasSubstr("set cbrange [0:0.75]\n"));
  EXPECT_THAT(figure.script, Not(HasSubstr("set arrow")));
  const std::string svg = Svg(figure);
  EXPECT_THAT(svg, HasSubstr(">layer 2<"));
  EXPECT_THAT(svg, HasSubstr(">weight<"));
}

// Seams between cells would be a grid over a large map.
TEST_F(MapPlotTest, EachCellReachesBelowTheNextOnes) {
  const Figure figure = MapPlot(Small());
  EXPECT_THAT(figure.script,
              HasSubstr("plot $map using 1:2:($1-0.5):($1+1):($2-0.5):($2+1):3 "
                        "with boxxyerror "));
  const std::string svg = Svg(figure);
  // The lightest of the four.
  EXPECT_THAT(svg, HasSubstr("<polygon fill = 'rgb(252, 253, 191)'"));
  // Cells are drawn, not a picture beside the file.
  EXPECT_THAT(svg, Not(HasSubstr("<image")));
}

TEST_F(MapPlotTest, ColumnsAndRowsHaveNamesAndAnOutline) {
  ColorMap map = Small();
  map.columns = {"8", "16"};
  map.row_names = {"0 %", "50 %"};
  map.outlined_columns = 1;
  const Figure without = MapPlot(map);
  EXPECT_THAT(without.script, HasSubstr("set xtics (\"8\" 1, \"16\" 2)\n"));
  EXPECT_THAT(without.script,
              HasSubstr("set ytics (\"0 %%\" 1, \"50 %%\" 2)\n"));
  EXPECT_THAT(without.script, Not(HasSubstr("rectangle")));
  map.outlined_rows = 2;
  const Figure figure = MapPlot(map);
  EXPECT_THAT(figure.script, HasSubstr("rectangle from 0.5,0.5 to 1.5,2.5 "));
  EXPECT_THAT(Svg(figure), AllOf(HasSubstr(">16<"), HasSubstr(">50 %<")));
}

TEST_F(MapPlotTest, FewColumnsWithoutNamesHaveWholeNumbers) {
  EXPECT_THAT(MapPlot(Small()).script, HasSubstr("set xtics 1\nset ytics 1\n"));
  ColorMap map = Small();
  map.rows.assign(1, std::vector<double>(kFewTics + 1, map.low));
  EXPECT_THAT(MapPlot(map).script,
              AllOf(Not(HasSubstr("set xtics")), HasSubstr("set ytics 1\n")));
}

TEST_F(MapPlotTest, ColumnsAreMarkedInTwoColours) {
  ColorMap map = Small();
  map.marked = {1};
  map.marked_otherwise = {2};
  const Figure figure = MapPlot(map);
  EXPECT_THAT(figure.script,
              HasSubstr("from first 1,graph 0 to first 1,graph 1 "
                        "nohead front linewidth 0.7 linecolor "
                        "rgb '#00d0ff'"));
  EXPECT_THAT(figure.script, HasSubstr("from first 2,graph 0"));
  EXPECT_THAT(Svg(figure), HasSubstr("<svg"));
}

}  // namespace
}  // namespace ordo::report

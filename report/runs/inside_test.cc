#include "report/runs/inside.h"

#include <cmath>
#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/drawing_test.h"

namespace ordo::report::runs {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using InsideFiguresTest = summary::testing::DrawingTest;

InsideFiles AttentionFiles() {
  return {R"({"task": "attention_map", "newlines": [2], "titles": [1, 2],
              "layers": [{"layer": 3, "diagonal": {"mean": 0.75, "texts": 1},
                          "change": {"mean": 0.5, "texts": 5,
                                     "standard_error": 0.125}}]})",
          "source,layer,head,query,key,value\n"
          "full,3,0,1,1,1\nfull,3,0,2,1,0.25\nfull,3,0,2,2,0.5\n"
          "position_only,3,2,1,1,1\n",
          ""};
}

TEST(ParseInsideTest, MapsAreSquareAndWhatIsLeftOutIsZero) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Inside inside, ParseInside(AttentionFiles()));
  ASSERT_THAT(inside.numbers, SizeIs(2));
  EXPECT_EQ(inside.numbers.at("diagonal").at(3).mean, 0.75);
  EXPECT_THAT(inside.newlines, ElementsAre(2));
  EXPECT_THAT(inside.titles, ElementsAre(1, 2));
  ASSERT_THAT(inside.maps, SizeIs(2));
  EXPECT_EQ(inside.maps[0].source, "full");
  EXPECT_EQ(inside.maps[0].layer, 3);
  EXPECT_THAT(inside.maps[0].rows,
              ElementsAre(ElementsAre(1, 0), ElementsAre(0.25, 0.5)));
  EXPECT_EQ(inside.maps[1].head, 2);
  EXPECT_THAT(inside.maps[1].rows,
              ElementsAre(ElementsAre(1, 0), ElementsAre(0, 0)));
}

// Student's t of four degrees of freedom; a single text tells nothing.
TEST(ParseInsideTest, MeansHaveTheirIntervalsOverTexts) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Inside inside, ParseInside(AttentionFiles()));
  EXPECT_NEAR(inside.numbers.at("change").at(3).half_width, 2.776445 * 0.125,
              1e-6);
  EXPECT_TRUE(std::isinf(inside.numbers.at("diagonal").at(3).half_width));
}

TEST(ParseInsideTest, CurvesStandByLayerAndDistance) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Inside inside,
      ParseInside({"{}", "",
                   "layer,distance,value,texts,standard_error\n"
                   "1,0,1,5,0\n1,1,-0.5,5,0.125\n1,2,0.25,1,\n"}));
  EXPECT_THAT(inside.maps, IsEmpty());
  ASSERT_THAT(inside.curves, SizeIs(1));
  const auto& curve = inside.curves.at(1);
  ASSERT_THAT(curve, SizeIs(3));
  EXPECT_EQ(curve.at(0).mean, 1);
  // Texts that are all alike do not say how others are.
  EXPECT_TRUE(std::isinf(curve.at(0).half_width));
  EXPECT_EQ(curve.at(1).mean, -0.5);
  EXPECT_NEAR(curve.at(1).half_width, 2.776445 * 0.125, 1e-6);
  EXPECT_EQ(curve.at(2).mean, 0.25);
  EXPECT_TRUE(std::isinf(curve.at(2).half_width));
}

TEST(ParseInsideTest, ReportsOfEarlierReleasesHaveNoErrors) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Inside inside,
      ParseInside({R"({"layers": [{"layer": 1, "diagonal":
                       {"mean": 0.75, "standard_error": 0.125}}]})",
                   "", "layer,distance,value,texts\n1,0,0.5,5\n"}));
  EXPECT_EQ(inside.curves.at(1).at(0).mean, 0.5);
  EXPECT_TRUE(std::isinf(inside.curves.at(1).at(0).half_width));
  EXPECT_EQ(inside.numbers.at("diagonal").at(1).mean, 0.75);
  EXPECT_TRUE(std::isinf(inside.numbers.at("diagonal").at(1).half_width));
}

TEST(ParseInsideTest, ALineThatIsNotWholeIsNamed) {
  InsideFiles files = AttentionFiles();
  files.maps += "full,3,0,2\n";
  EXPECT_THAT(ParseInside(files), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("maps.csv line 6 ")));
  files = AttentionFiles();
  // A map of a billion numbers.
  files.maps += "full,3,0,30000,1,0.5\n";
  EXPECT_THAT(ParseInside(files), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("maps.csv line 6 ")));
  files = AttentionFiles();
  for (const char* line : {"1,x,1,5,0", "1,1,1,x,0", "1,1,1,5,x", "1,1,1"}) {
    files.curves = std::string("layer,distance,value,texts\n") + line + "\n";
    EXPECT_THAT(ParseInside(files), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("curves.csv line 2 ")))
        << line;
  }
  files = AttentionFiles();
  files.result = R"({"layers": [{"diagonal": {"mean": 1}}]})";
  const auto violations = base::FieldViolations(ParseInside(files).status());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "layers[0].layer");
}

TEST_F(InsideFiguresTest, AttentionIsAMapForEachLayerAndHead) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Inside inside, ParseInside(AttentionFiles()));
  const auto figures = InsideFigures(inside, "a", "a-maps");
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_EQ(figures[0].name, "a-maps-map-1");
  EXPECT_EQ(figures[0].caption,
            "a, layer 3: attention's weights in the first text, mean over "
            "heads. Blue: ends of lines; orange: titles.");
  // The first query has no choice.
  EXPECT_THAT(figures[0].figure.script, HasSubstr("set cbrange [0:0.5]\n"));
  EXPECT_THAT(figures[1].caption,
              HasSubstr("a, layer 3, head 2, bias alone: "));
  EXPECT_THAT(figures[1].figure.script, HasSubstr("set cbrange [0:1]\n"));
  const std::string svg = Svg(figures[0].figure);
  EXPECT_THAT(svg, HasSubstr(">query<"));
  EXPECT_THAT(svg, HasSubstr(">key (blue: ends of lines; orange: titles)<"));
  EXPECT_THAT(svg, HasSubstr(">weight in the first text, mean over heads<"));
  // Of one head.
  EXPECT_THAT(Svg(figures[1].figure), HasSubstr(">weight in the first text<"));
}

TEST_F(InsideFiguresTest, ChangesStandByLayerOnALogarithmicAxis) {
  Inside inside;
  inside.numbers = {
      {"add_attention", {{1, {0.1}}, {2, {0.2, 0.2 * std::log(2.0)}}}},
      {"shift_attention", {{1, {1e-8}}, {2, {0}}}},
      {"shift_variation", {{1, {1e-8}}, {2, {0}}}}};
  const auto figures = InsideFigures(inside, "a", "a-stability");
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_EQ(figures[0].name, "a-stability-changes");
  EXPECT_THAT(figures[0].figure.script, HasSubstr("\n1 0.1\n2 0.2\nEOD"));
  EXPECT_THAT(figures[0].figure.script, HasSubstr("\n1 1e-08\nEOD"));
  // Of the logarithm, where its interval is known.
  EXPECT_THAT(figures[0].figure.script,
              HasSubstr("$interval0 << EOD\n2 0.2 0.1 0.4\nEOD"));
  EXPECT_THAT(figures[0].figure.script, HasSubstr("with yerrorbars"));
  EXPECT_THAT(figures[0].figure.script, Not(HasSubstr("$interval1")));
  EXPECT_THAT(figures[0].caption, HasSubstr("Bars: 95 % intervals"));
  EXPECT_THAT(figures[0].figure.script, Not(HasSubstr("positions, ids")));
  const std::string svg = Svg(figures[0].figure);
  EXPECT_THAT(svg, HasSubstr("attention, ids shifted"));
  EXPECT_THAT(svg, HasSubstr(">mean change (positions: relative)<"));
  EXPECT_THAT(svg, HasSubstr("near 1e-8 in fp32: rounding"));
}

TEST(InsideFiguresLimitTest, NoChangeAtAllHasNoFigure) {
  Inside inside;
  inside.numbers = {{"shift_attention", {{1, {0}}, {2, {0}}}}};
  EXPECT_THAT(InsideFigures(inside, "a", "a"), IsEmpty());
  EXPECT_THAT(InsideFigures({}, "a", "a"), IsEmpty());
}

TEST_F(InsideFiguresTest, PositionsHaveCurvesMapsAndTheirChange) {
  Inside inside;
  inside.numbers = {
      {"state_change", {{1, {0}}, {2, {0.5, 0.5 * std::log(2.0)}}}},
      {"state_norm", {{1, {1}}, {2, {1.5}}}}};
  inside.curves = {{1, {{0, {1}}, {1, {0.5, 0.25}}, {2, {0.75, 0.5}}}},
                   {2, {{0, {1}}, {1, {-0.5}}}}};
  inside.maps = {{"similarity", 2, 0, {{1, -0.5}, {-0.5, 1}}}};
  const auto figures = InsideFigures(inside, "a", "a-positions");
  ASSERT_THAT(figures, SizeIs(3));
  EXPECT_EQ(figures[0].name, "a-positions-similarity");
  EXPECT_THAT(figures[0].figure.script, HasSubstr("\n0 1\n1 -0.5\nEOD"));
  // A cosine is at most 1.
  EXPECT_THAT(figures[0].figure.script,
              HasSubstr("$interval0 << EOD\n1 0.5 0.25 0.75\n"
                        "2 0.75 0.25 1\nEOD"));
  EXPECT_EQ(figures[1].name, "a-positions-state");
  EXPECT_THAT(figures[1].figure.script,
              HasSubstr("$interval0 << EOD\n2 0.5 0.25 1\nEOD"));
  const std::string state = Svg(figures[1].figure);
  EXPECT_THAT(state, HasSubstr(">change of products<"));
  EXPECT_THAT(state, HasSubstr(">positions relative to layer 1<"));
  EXPECT_THAT(state, HasSubstr("as in layer 1: a change of 0, a norm of 1"));
  EXPECT_THAT(Svg(figures[2].figure), HasSubstr(">cosine, mean over heads<"));
  EXPECT_THAT(figures[2].figure.script, HasSubstr("set cbrange [-1:1]\n"));
  for (const NamedFigure& named : figures) {
    EXPECT_THAT(Svg(named.figure), HasSubstr("layer"));
  }
}

TEST(InsideFiguresLimitTest, BeyondSixteenMapsThereIsTheFile) {
  Inside inside;
  inside.maps.assign(20, {"full", 1, 0, {{1}}});
  EXPECT_THAT(InsideFigures(inside, "a", "a"), SizeIs(kMaxMapFigures));
}

TEST(LooksInsideTest, ThreeTasksDo) {
  EXPECT_TRUE(LooksInside("attention_map"));
  EXPECT_TRUE(LooksInside("position_similarity"));
  EXPECT_TRUE(LooksInside("stability"));
  EXPECT_FALSE(LooksInside("text"));
}

}  // namespace
}  // namespace ordo::report::runs

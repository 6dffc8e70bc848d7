#include "report/summary/figures.h"

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RopeAndTape;

class FiguresTest : public ::testing::Test {
 protected:
  // What gnuplot makes of it.
  std::string Svg(const Figure& figure) {
    const std::string path = folder_.Path("figure.svg");
    ORDO_EXPECT_OK(Draw(files_, figure, FigureForm::kSvg, path));
    const auto svg = base::ReadFile(files_, path, 1 << 20);
    ORDO_EXPECT_OK(svg);
    return svg.ok() ? *svg : "";
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(FiguresTest, AForestPlotNamesArmsScoreAndBaseline) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  const std::string svg = Svg(ForestPlot(comparison, comparison.metrics[0]));
  EXPECT_THAT(svg, HasSubstr("tape"));
  EXPECT_THAT(svg, HasSubstr("difference from rope, 95 % intervals"));
}

TEST_F(FiguresTest, AnIntervalWithoutBoundsReachesTheEdge) {
  auto spec = RopeAndTape();
  spec.mutable_parts()->SwapElements(1, 3);
  while (spec.parts_size() > 2) spec.mutable_parts()->RemoveLast();
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  const Figure figure = ForestPlot(comparison, comparison.metrics[0]);
  EXPECT_THAT(figure.script, Not(HasSubstr("inf")));
  EXPECT_THAT(Svg(figure), HasSubstr("tape"));
  EXPECT_THAT(Svg(CostPlot(comparison, comparison.metrics[0])),
              HasSubstr("device time of a run (s)"));
}

TEST_F(FiguresTest, CurvesOfOnePartHaveOneColourAndOneTitle) {
  const Figure figure = LearningCurves({{"rope", {{1, 3.0}, {2, 2.0}}},
                                        {"tape", {{1, 3.0}}},
                                        {"rope", {{1, 3.1}, {2, 2.1}}}});
  EXPECT_THAT(figure.script, HasSubstr("$curve2 with lines linewidth 1.5 "
                                       "linecolor rgb '#0072b2' notitle"));
  EXPECT_THAT(Svg(figure), HasSubstr("training loss"));
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

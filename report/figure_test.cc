#include "report/figure.h"

#include <cstdlib>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Grid MakeGrid(int max_digits, int trained_digits) {
  Grid grid;
  grid.name = "addition_tape {x}";
  grid.max_digits = max_digits;
  grid.trained_digits = trained_digits;
  grid.samples = 20;
  for (int a = 1; a <= max_digits; ++a) {
    grid.right.emplace_back();
    for (int b = 1; b <= max_digits; ++b) {
      grid.right.back().push_back(a <= trained_digits && b <= trained_digits
                                      ? 20
                                      : std::max(0, 20 - 2 * (a + b)));
    }
  }
  return grid;
}

class DrawTest : public ::testing::Test {
 protected:
  std::string DrawAndRead(const Figure& figure, FigureForm form) {
    const std::string path = folder_.Path("figure");
    ORDO_EXPECT_OK(Draw(files_, figure, form, path));
    const auto text = base::ReadFile(files_, path, 1 << 24);
    ORDO_EXPECT_OK(text);
    return text.value_or("");
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
};

TEST_F(DrawTest, HeatMapAsSvgHasAxesCellsAndSquare) {
  const std::string svg =
      DrawAndRead(HeatMap(MakeGrid(10, 5)), FigureForm::kSvg);
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("digits of A"));
  EXPECT_THAT(svg, HasSubstr("digits of B"));
  EXPECT_THAT(svg, HasSubstr("right answers (%)"));
  // The outline of the trained lengths.
  EXPECT_THAT(svg, HasSubstr("0, 208, 255"));
  // Cells are drawn, not a picture beside the file.
  EXPECT_THAT(svg, Not(HasSubstr("<image")));
  EXPECT_THAT(svg, Not(HasSubstr("\\_")));
}

TEST_F(DrawTest, WholeGridTrainedHasNoSquare) {
  EXPECT_THAT(HeatMap(MakeGrid(5, 5)).script, Not(HasSubstr("rectangle")));
  EXPECT_THAT(HeatMap(MakeGrid(5, 0)).script, Not(HasSubstr("rectangle")));
}

TEST_F(DrawTest, LargeGridHasNoNumbersInItsCells) {
  EXPECT_THAT(HeatMap(MakeGrid(10, 5)).script, HasSubstr("with labels"));
  EXPECT_THAT(HeatMap(MakeGrid(40, 20)).script, Not(HasSubstr("with labels")));
}

TEST_F(DrawTest, HeatMapAsPngIsAPng) {
  EXPECT_THAT(DrawAndRead(HeatMap(MakeGrid(4, 2)), FigureForm::kPng),
              StartsWith("\x89PNG\r\n"));
}

TEST_F(DrawTest, WhatItWasMadeOfStandsBelowIt) {
  Figure figure = HeatMap(MakeGrid(4, 2));
  figure.source =
      "job addition_rope; checkpoint: jobs/addition_rope/checkpoints/100-1 "
      "0123456789ab; again: ordo report addition_rope";
  const std::string svg = DrawAndRead(figure, FigureForm::kSvg);
  // Two lines, for which the picture is higher.
  EXPECT_THAT(svg, HasSubstr(">job addition_rope; checkpoint: "));
  EXPECT_THAT(svg, HasSubstr("/100-1 0123456789ab;<"));
  EXPECT_THAT(svg, HasSubstr(">again: ordo report addition_rope<"));
  EXPECT_THAT(svg, HasSubstr("width=\"560\" height=\"515\""));
  EXPECT_THAT(svg, HasSubstr("digits of A"));
}

TEST_F(DrawTest, WhatItWasMadeOfEndsBeforeTheMargin) {
  Figure figure = HeatMap(MakeGrid(4, 2));
  // Of 560 pixels the margins leave 84 letters of 6.5; this has 85.
  figure.source = std::string(80, 'a') + " bbbb";
  const std::string svg = DrawAndRead(figure, FigureForm::kSvg);
  EXPECT_THAT(svg, HasSubstr(">bbbb<"));
  EXPECT_THAT(svg, HasSubstr("width=\"560\" height=\"515\""));
}

TEST_F(DrawTest, EqualLengthsHasALineForEachGrid) {
  Grid second = MakeGrid(8, 4);
  second.name = "addition-rope";
  const std::string svg =
      DrawAndRead(EqualLengths({MakeGrid(10, 5), second}), FigureForm::kSvg);
  EXPECT_THAT(svg, HasSubstr("addition-rope"));
  EXPECT_THAT(svg, HasSubstr("digits of A and of B"));
}

TEST_F(DrawTest, NumbersOfTicsHaveNoBlankBeforeThem) {
  const std::string svg =
      DrawAndRead(EqualLengths({MakeGrid(10, 5)}), FigureForm::kSvg);
  EXPECT_THAT(svg, HasSubstr(">10<"));
  EXPECT_THAT(svg, Not(::testing::ContainsRegex("> +[0-9.]+<")));
}

TEST_F(DrawTest, EqualLengthsMarkWhatIsLongerThanTrained) {
  EXPECT_EQ(MarkedDigits({MakeGrid(10, 4), MakeGrid(10, 5)}), 5);
  EXPECT_THAT(EqualLengths({MakeGrid(10, 5)}).script, HasSubstr("set arrow 1"));
  for (const int trained : {0, 5}) {
    EXPECT_EQ(MarkedDigits({MakeGrid(5, trained)}), 0);
    EXPECT_THAT(EqualLengths({MakeGrid(5, trained)}).script,
                Not(HasSubstr("set arrow")));
  }
}

TEST_F(DrawTest, LeavesOnlyTheFigure) {
  DrawAndRead(HeatMap(MakeGrid(2, 1)), FigureForm::kSvg);
  EXPECT_THAT(*files_.List(folder_.path()), ElementsAre("figure"));
}

TEST_F(DrawTest, SaysWhatGnuplotDidNotLike) {
  Figure figure = HeatMap(MakeGrid(2, 1));
  figure.script += "plot nothing_of_the_kind\n";
  EXPECT_THAT(
      Draw(files_, figure, FigureForm::kSvg, folder_.Path("figure")),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("nothing_of_the_kind")));
  EXPECT_THAT(*files_.List(folder_.path()), ElementsAre());
}

TEST_F(DrawTest, WithoutGnuplotThePackageIsNamed) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.path().c_str(), 1);
  EXPECT_THAT(Draw(files_, HeatMap(MakeGrid(2, 1)), FigureForm::kSvg,
                   folder_.Path("figure")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("gnuplot-nox")));
  setenv("PATH", path.c_str(), 1);
}

TEST(GnuplotTextTest, NothingEndsTheStringOrRunsACommand) {
  EXPECT_EQ(GnuplotText("a_b{c}"), "a\\\\_b\\\\{c\\\\}");
  EXPECT_EQ(GnuplotText("\"`rm`\\\n"), "''rm'/ ");
}

}  // namespace
}  // namespace ordo::report

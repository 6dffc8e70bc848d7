#include "report/summary/comparison_figures.h"

#include <cstdint>
#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RopeAndTape;
using ::testing::SizeIs;

TEST(ComparisonFiguresTest, DifferencesSayTheirDirectionLevelAndSeeds) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  const auto figures = DifferenceFigures(comparison);
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_EQ(figures[0].name, "difference-1");
  EXPECT_EQ(figures[0].caption,
            "grid: grid_mean (more is better): each arm less rope, over 3 "
            "seeds, with intervals that hold for all arms together (95 %).");
}

TEST(ComparisonFiguresTest, SharesOfAnEvaluationStandInOneFigure) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    auto& metrics = *part.mutable_reports(0)->mutable_metrics();
    metrics["diagonal_mean"] = metrics["grid_mean"] / 2;
    metrics["error_16"] = 1 - metrics["grid_mean"];
    metrics["perplexity"] = 10 * metrics["grid_mean"];
    metrics["wrong_rows"] = 0.5;
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  const auto figures = DifferenceFigures(comparison);
  ASSERT_THAT(figures, SizeIs(3));
  EXPECT_EQ(figures[0].caption,
            "grid (more is better): tape less rope in each score, over 3 "
            "seeds, with an interval of each (95 %).");
  EXPECT_THAT(figures[0].figure.script,
              HasSubstr("(\"diagonal\\\\_mean\" 2, \"grid\\\\_mean\" 1)"));
  EXPECT_THAT(figures[0].figure.script,
              HasSubstr("set title \"grid: tape less rope\"\nset xlabel "
                        "\"difference (more is better), 95 % of each, 3 "
                        "seeds\"\n"));
  // Scores of which less is better.
  EXPECT_EQ(figures[1].name, "difference-2");
  EXPECT_THAT(figures[1].figure.script,
              HasSubstr("(\"error\\\\_16\" 2, \"wrong\\\\_rows\" 1)"));
  EXPECT_THAT(figures[1].caption, HasSubstr(" A point has no bar where "));
  EXPECT_THAT(figures[2].caption, HasSubstr("grid: perplexity (less is "));
  // Arms stand below each other, of each score apart.
  for (const uint64_t seed : {1, 2, 3}) {
    auto& third = *spec.add_parts() = spec.parts(static_cast<int>(seed) + 2);
    third.set_part("alibi");
    third.set_job("c-alibi-s" + std::to_string(seed));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison three, Compare(spec, {}));
  EXPECT_THAT(DifferenceFigures(three), SizeIs(5));
}

TEST(ComparisonFiguresTest, APointWithoutABarIsExplained) {
  auto spec = RopeAndTape();
  // Each tape is better by the same.
  for (int i = 0; i < 6; ++i) {
    (*spec.mutable_parts(i)
          ->mutable_reports(0)
          ->mutable_metrics())["grid_mean"] =
        0.125 * (i % 3) + (i < 3 ? 0 : 0.5);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  const auto figures = DifferenceFigures(comparison);
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_THAT(figures[0].caption, HasSubstr(" A point has no bar where "));
  EXPECT_THAT(figures[0].figure.script, Not(HasSubstr("xerrorbars")));
}

TEST(ComparisonFiguresTest, WorkIsCountedAndTimeMeasured) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  const auto figures = CostFigures(comparison);
  ASSERT_THAT(figures, SizeIs(2));
  // All seeds of an arm take the same time.
  EXPECT_EQ(figures[0].name, "cost-1");
  EXPECT_THAT(figures[0].caption, HasSubstr(" A point has no bar where "));
  EXPECT_EQ(figures[1].name, "cost-1-flops");
  EXPECT_EQ(figures[1].caption,
            "grid: grid_mean (more is better) against the work of a step "
            "(GFLOP), means over 3 seeds with intervals of each (95 %). The "
            "work is counted.");
}

TEST(ComparisonFiguresTest, FiguresOfOneKindAreAsManyAsAPageHolds) {
  ComparedLengths lengths;
  lengths.by = "digits";
  lengths.score = "error";
  lengths.num_seeds = 1;
  lengths.arms.push_back({"rope", {{5, 0.5, 0.5, 0.5}}});
  const auto figures =
      LengthFigures(std::vector<ComparedLengths>(kMaxForestPlots + 1, lengths));
  EXPECT_THAT(figures, SizeIs(kMaxForestPlots));
  EXPECT_EQ(figures.back().name, "lengths-12");
}

TEST(ComparisonFiguresTest, ArmsOfOneRunHaveNoBandOfLosses) {
  auto spec = RopeAndTape();
  const Curve curve = {"rope", {{1, 2.0}}, spec.parts(0).job()};
  Curve other = curve;
  other.job = spec.parts(1).job();
  EXPECT_THAT(LossFigures(spec, {curve}), IsEmpty());
  EXPECT_THAT(LossFigures(spec, {curve, other}), SizeIs(1));
  spec.mutable_parts(1)->set_state("FAILED");
  EXPECT_THAT(LossFigures(spec, {curve, other}), IsEmpty());
}

}  // namespace
}  // namespace ordo::report::summary

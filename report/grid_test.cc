#include "report/grid.h"

#include "absl/strings/str_replace.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kResult[] = R"({
  "task": "addition_grid", "job": "sum", "step": 40, "checkpoint": "40-1",
  "max_digits": 2, "trained_digits": 1, "samples": 3,
  "cells": [[1, 0.3333333333333333], [0.6666666666666666, 0]],
  "metrics": {"grid_mean": 0.5}})";

std::string With(const char* from, const char* to) {
  return absl::StrReplaceAll(kResult, {{from, to}});
}

TEST(ParseGridTest, ReadsCountsBehindShares) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Grid grid, ParseGrid(kResult));
  EXPECT_EQ(grid.name, "sum");
  EXPECT_EQ(grid.checkpoint, "40-1");
  EXPECT_EQ(grid.step, 40);
  EXPECT_EQ(grid.trained_digits, 1);
  EXPECT_THAT(grid.right, ElementsAre(ElementsAre(3, 1), ElementsAre(2, 0)));
  EXPECT_DOUBLE_EQ(grid.At(2, 1), 2.0 / 3);
}

TEST(ParseGridTest, TrainedDigitsMayBeUnknown) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Grid grid,
                            ParseGrid(With(R"("trained_digits": 1,)", "")));
  EXPECT_EQ(grid.trained_digits, 0);
}

struct BadCase {
  const char* from;
  const char* to;
  const char* message;
};

class ParseGridBadTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(ParseGridBadTest, NamesTheField) {
  const BadCase& bad = GetParam();
  EXPECT_THAT(
      ParseGrid(With(bad.from, bad.to)),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad.message)));
}

INSTANTIATE_TEST_SUITE_P(
    Files, ParseGridBadTest,
    ::testing::Values(
        BadCase{"addition_grid", "perplexity", "task: must be addition_grid"},
        BadCase{R"("samples": 3)", R"("samples": 0)", "samples: must be"},
        BadCase{R"("samples": 3)", R"("samples": "3")", "samples: must be"},
        BadCase{R"("max_digits": 2)", R"("max_digits": 3)",
                "cells: must be 3 lists of 3"},
        BadCase{"[1, 0.3333333333333333]", "[1]", "cells[0]: must be"},
        BadCase{"[1, 0.3333333333333333]", "[1, 0.4]",
                "cells[0][1]: must be a share of 3 samples"},
        BadCase{"[1, 0.3333333333333333]", "[1.5, 0]", "cells[0][0]"},
        BadCase{"[1, 0.3333333333333333]", "[null, 0]", "cells[0][0]"}));

TEST(ParseGridTest, RefusesWhatIsNotJson) {
  EXPECT_THAT(ParseGrid("{\"task\": "),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SummarizeTest, PoolsThePartsOfTheGrid) {
  Grid grid;
  grid.max_digits = 3;
  grid.trained_digits = 2;
  grid.samples = 20;
  grid.right = {{20, 18, 3}, {20, 19, 0}, {1, 0, 5}};
  const GridSummary summary = Summarize(grid);
  EXPECT_EQ(summary.all.right, 86);
  EXPECT_EQ(summary.all.samples, 180);
  EXPECT_EQ(summary.trained.right, 77);
  EXPECT_EQ(summary.trained.samples, 80);
  EXPECT_EQ(summary.outside.right, 9);
  EXPECT_EQ(summary.outside.samples, 100);
  EXPECT_EQ(summary.diagonal.right, 44);
  EXPECT_EQ(summary.largest_95, 2);
  EXPECT_DOUBLE_EQ(summary.all.share.value, 86.0 / 180);
}

TEST(SummarizeTest, WithoutTrainedLengthsTheirPartsAreEmpty) {
  Grid grid;
  grid.max_digits = 1;
  grid.samples = 1;
  grid.right = {{0}};
  const GridSummary summary = Summarize(grid);
  EXPECT_EQ(summary.trained.samples, 0);
  EXPECT_EQ(summary.outside.samples, 0);
  EXPECT_EQ(summary.largest_95, 0);
}

TEST(ShareTextTest, HasTheIntervalInPercent) {
  GridScore score;
  EXPECT_EQ(ShareText(score), "-");
  score.right = 10;
  score.samples = 20;
  score.share = WilsonInterval(10, 20);
  EXPECT_EQ(ShareText(score), "50.0 % [29.9, 70.1]");
}

}  // namespace
}  // namespace ordo::report

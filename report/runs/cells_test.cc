#include "report/runs/cells.h"

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/drawing_test.h"

namespace ordo::report::runs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using CellPlotTest = summary::testing::DrawingTest;

constexpr char kNeedle[] = R"({"task": "needle", "trained_length": 512,
  "cells": [{"depth": "0 %", "length": 512, "recall": 1, "items": 2},
            {"depth": "0 %", "length": 1024, "recall": 0.5, "items": 2},
            {"depth": "50 %", "length": 512, "recall": 0.5, "items": 2},
            {"depth": "50 %", "length": 1024, "recall": 0, "items": 2}]})";

TEST(ParseCellsTest, RecallStandsByDepthAndLength) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Cells cells, ParseCells(kNeedle));
  EXPECT_EQ(cells.x_label, "length");
  EXPECT_EQ(cells.y_label, "depth");
  EXPECT_THAT(cells.columns, ElementsAre("512", "1024"));
  EXPECT_THAT(cells.row_names, ElementsAre("0 %", "50 %"));
  EXPECT_THAT(cells.shares,
              ElementsAre(ElementsAre(1, 0.5), ElementsAre(0.5, 0)));
  EXPECT_EQ(cells.trained_columns, 1);
  EXPECT_EQ(cells.trained_rows, 2);
}

TEST(ParseCellsTest, CellsThatAreNotAllThereAreNotDrawn) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Cells cells,
      ParseCells(R"({"cells": [{"depth": "a", "length": 1, "recall": 1},
                               {"depth": "b", "length": 2, "recall": 1}]})"));
  EXPECT_THAT(cells.shares, IsEmpty());
}

TEST(ParseCellsTest, OperandsThatAreCountedAlikeStandByTheirLengths) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Cells cells,
                            ParseCells(R"({"max_bits": 2, "trained_bits": 1,
                     "cells": [[1, 0.5], [0.25, 0]]})"));
  EXPECT_EQ(cells.x_label, "bits of B");
  EXPECT_EQ(cells.y_label, "bits of A");
  EXPECT_THAT(cells.columns, IsEmpty());
  EXPECT_THAT(cells.shares,
              ElementsAre(ElementsAre(1, 0.5), ElementsAre(0.25, 0)));
  EXPECT_EQ(cells.trained_columns, 1);
  EXPECT_EQ(cells.trained_rows, 1);
  // Which is which is not told.
  ORDO_ASSERT_OK_AND_ASSIGN(const Cells sorting,
                            ParseCells(R"({"max_digits": 2, "max_numbers": 2,
                     "cells": [[1, 0.5], [0.25, 0]]})"));
  EXPECT_THAT(sorting.shares, IsEmpty());
}

TEST(ParseCellsTest, OtherTasksHaveNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Cells cells, ParseCells(R"({"shares": []})"));
  EXPECT_THAT(cells.shares, IsEmpty());
}

TEST(ParseCellsTest, WhatHasAnotherShapeIsNamed) {
  auto violations = base::FieldViolations(
      ParseCells(R"({"max_bits": 2, "cells": [[1, 0], [1]]})").status());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "cells[1]");
  violations = base::FieldViolations(
      ParseCells(R"({"cells": [{"depth": "a", "recall": 1}]})").status());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "cells[0].length");
}

TEST_F(CellPlotTest, TrainedLengthsAreOutlined) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Cells cells, ParseCells(kNeedle));
  const Figure figure = CellPlot("a needle", cells);
  EXPECT_THAT(figure.script, HasSubstr("1 1 100\n2 1 50\n1 2 50\n2 2 0\n"));
  EXPECT_THAT(figure.script, HasSubstr("to 1.5,2.5 "));
  const std::string svg = Svg(figure);
  EXPECT_THAT(svg, HasSubstr(">depth<"));
  EXPECT_THAT(svg, HasSubstr(">1024<"));
}

}  // namespace
}  // namespace ordo::report::runs

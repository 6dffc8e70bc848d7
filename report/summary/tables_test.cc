#include "report/summary/tables.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::RopeAndTape;
using ::testing::SizeIs;

TEST(TablesTest, EachScoreHasARowForEachArm) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape()));
  const Table table = ComparisonTable(comparison);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_THAT(table.rows[0],
              ElementsAre("grid", "grid_mean", "rope", "3", "0.5", "0.02",
                          "baseline", "-", "-", "-"));
  EXPECT_THAT(table.rows[1][6], "0.2");
  EXPECT_THAT(table.rows, Each(SizeIs(table.header.size())));
}

TEST(TablesTest, WhatASingleSeedCannotTellIsADash) {
  auto spec = RopeAndTape();
  while (spec.parts_size() > 4) spec.mutable_parts()->RemoveLast();
  spec.mutable_parts()->SwapElements(1, 3);
  while (spec.parts_size() > 2) spec.mutable_parts()->RemoveLast();
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec));
  EXPECT_THAT(ComparisonTable(comparison).rows[1],
              ElementsAre("grid", "grid_mean", "tape", "1", "0.7", "-", "0.2",
                          "-", "-", "-"));
}

TEST(TablesTest, EachPartHasARowWithItsScores) {
  const auto spec = RopeAndTape();
  const Table table = ScoreTable(spec, Tabulate(spec));
  EXPECT_THAT(table.header, ElementsAre("job", "part", "grid: grid_mean"));
  EXPECT_THAT(table.rows, Contains(ElementsAre("c-tape-s2", "tape", "0.73")));
}

TEST(TablesTest, TheRunsSayWhatTheyRecorded) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_state("FAILED");
  spec.mutable_parts(0)->set_reason("NON_FINITE");
  const Table table = PartTable(spec);
  EXPECT_THAT(
      table.rows[0],
      ElementsAre("c-rope-s1", "rope", "FAILED, NON_FINITE", "1", "100", "6400",
                  "c0ffee", "d474d474d474", "171717171717", "10"));
  EXPECT_THAT(table.rows, Each(SizeIs(table.header.size())));
}

TEST(TablesTest, ValuesKeepAllTheirDigits) {
  auto spec = RopeAndTape();
  (*spec.mutable_parts(0)->mutable_reports(0)->mutable_metrics())["grid_mean"] =
      1.0 / 3;
  const Table table = ValueTable(spec, Tabulate(spec));
  EXPECT_THAT(table.rows[0], ElementsAre("c-rope-s1", "rope", "1", "grid",
                                         "grid_mean", "0.33333333333333331"));
}

}  // namespace
}  // namespace ordo::report::summary

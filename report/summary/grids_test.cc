#include "report/summary/grids.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RopeAndTape;
using ::testing::SizeIs;

// One digit each, of ten samples.
Grid GridOf(int right) {
  Grid grid;
  grid.max_digits = 1;
  grid.samples = 10;
  grid.right = {{right}};
  return grid;
}

struct Runs {
  Runs() : spec(RopeAndTape()), records(spec.parts_size()) {
    for (int i = 0; i < spec.parts_size(); ++i) {
      // Of rope 0, 1, 2 are right, of tape 3, 4, 5.
      records[i].grids[spec.parts(i).reports(0).path()] = GridOf(i);
    }
  }

  std::vector<ArmGrid> Grids() const {
    const auto comparison = Compare(spec, records);
    ORDO_EXPECT_OK(comparison);
    return comparison.ok() ? ArmGrids(spec, *comparison, records)
                           : std::vector<ArmGrid>();
  }

  ordo::training::v1::SummarizeSpec spec;
  std::vector<PartRecords> records;
};

TEST(ArmGridsTest, EachArmHasTheMeanOverItsSeeds) {
  const std::vector<ArmGrid> grids = Runs().Grids();
  ASSERT_THAT(grids, SizeIs(2));
  EXPECT_EQ(grids[0].evaluation, "grid");
  EXPECT_EQ(grids[0].grid.name, "rope");
  EXPECT_EQ(grids[0].num_seeds, 3);
  EXPECT_DOUBLE_EQ(grids[0].grid.At(1, 1), 0.1);
  EXPECT_EQ(grids[1].grid.name, "tape");
  EXPECT_DOUBLE_EQ(grids[1].grid.At(1, 1), 0.4);
}

TEST(ArmGridsTest, ASeedThatLacksARunCountsForNoArm) {
  Runs runs;
  runs.spec.mutable_parts(5)->set_state("FAILED");
  const std::vector<ArmGrid> grids = runs.Grids();
  ASSERT_THAT(grids, SizeIs(2));
  EXPECT_EQ(grids[0].num_seeds, 2);
  EXPECT_DOUBLE_EQ(grids[0].grid.At(1, 1), 0.05);
  EXPECT_DOUBLE_EQ(grids[1].grid.At(1, 1), 0.35);
}

TEST(ArmGridsTest, GridsOfOtherShapesAreNotPooled) {
  Runs runs;
  runs.records[1].grids.begin()->second.samples = 20;
  EXPECT_EQ(runs.Grids()[0].num_seeds, 2);
  runs.records.clear();
  EXPECT_THAT(runs.Grids(), IsEmpty());
}

TEST(CellsTitleTest, SaysTheArmItsSeedsAndItsQuestions) {
  EXPECT_EQ(CellsTitle(Runs().Grids()[1]),
            "tape: 3 seeds, 30 questions a cell");
  ArmGrid one;
  one.num_seeds = 1;
  one.grid = GridOf(1);
  one.grid.name = "rope";
  one.grid.samples = 1;
  EXPECT_EQ(CellsTitle(one), "rope: 1 seed, 1 question a cell");
}

TEST(CellTableTest, EachCellHasItsCountsAndAnInterval) {
  Runs runs;
  const std::vector<ArmGrid> grids = runs.Grids();
  const Table table = CellTable(grids);
  ASSERT_THAT(table.rows, SizeIs(2));
  // 0, 1 and 2 of ten each.
  const std::vector<std::string>& row = table.rows[0];
  ASSERT_THAT(row, SizeIs(table.header.size()));
  EXPECT_THAT(std::vector<std::string>(row.begin(), row.begin() + 8),
              ElementsAre("grid", "rope", "3", "", "1", "1", "3", "30"));
  EXPECT_DOUBLE_EQ(std::stod(row[8]), 0.1);
  EXPECT_NEAR(std::stod(row[9]), 0.034600, 1e-5);
  EXPECT_NEAR(std::stod(row[10]), 0.256211, 1e-5);
}

TEST(CellTableTest, CellsAreNamedByTheDigitsOfBothOperands) {
  ArmGrid of_arm;
  of_arm.num_seeds = 1;
  of_arm.grid.max_digits = 2;
  of_arm.grid.trained_digits = 1;
  of_arm.grid.samples = 4;
  of_arm.grid.right = {{4, 3}, {2, 0}};
  const Table table = CellTable({of_arm});
  ASSERT_THAT(table.rows, SizeIs(4));
  // One digit plus two.
  EXPECT_EQ(table.rows[1][3], "1");
  EXPECT_EQ(table.rows[1][4], "1");
  EXPECT_EQ(table.rows[1][5], "2");
  EXPECT_EQ(table.rows[1][6], "3");
  EXPECT_EQ(table.rows[3][8], "0");
  EXPECT_EQ(table.rows[3][9], "0");
}

}  // namespace
}  // namespace ordo::report::summary

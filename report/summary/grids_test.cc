#include "report/summary/grids.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

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

}  // namespace
}  // namespace ordo::report::summary

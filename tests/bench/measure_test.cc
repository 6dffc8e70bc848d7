#include "tests/bench/measure.h"

#include <algorithm>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/system.h"

namespace ordo::tests::bench {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(MeasureTest, QuantileTakesTheNearestRank) {
  const std::vector<double> samples = {5, 1, 4, 2, 3};
  EXPECT_EQ(Quantile(samples, 0), 1);
  EXPECT_EQ(Quantile(samples, 0.5), 3);
  EXPECT_EQ(Quantile(samples, 0.99), 5);
  EXPECT_EQ(Quantile(samples, 1), 5);
}

TEST(MeasureTest, MedianKeepsTheRange) {
  const Measurement m = MedianOf({"b", "m", 0, "s", {}, "", 0, 0}, {3, 1, 9});
  EXPECT_EQ(m.value, 3);
  EXPECT_EQ(m.min, 1);
  EXPECT_EQ(m.max, 9);
}

TEST(MeasureTest, JsonIsOneObjectOnALine) {
  const Measurement m = {"train_step",           "ratio", 1.5, "1",
                         {{"encoding", "tape"}}, "rope",  1,   2};
  EXPECT_EQ(ToJson(m),
            "{\"benchmark\":\"train_step\",\"max\":2,\"metric\":\"ratio\","
            "\"min\":1,\"params\":{\"encoding\":\"tape\"},"
            "\"reference\":\"rope\",\"unit\":\"1\",\"value\":1.5}");
}

TEST(MeasureTest, OneSampleIsItsOwnRange) {
  EXPECT_EQ(ToJson(MedianOf({"b", "m", 0, "s", {}, "", 0, 0}, {3})),
            "{\"benchmark\":\"b\",\"max\":3,\"metric\":\"m\",\"min\":3,"
            "\"params\":{},\"unit\":\"s\",\"value\":3}");
}

TEST(MeasureTest, TableHasALinePerMeasurement) {
  const std::string table = ToTable(
      {{"a", "x", 1, "s", {}, "", 1, 1}, {"b", "y", 2, "s", {}, "z", 1, 3}});
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  EXPECT_NE(table.find("to z"), std::string::npos);
  EXPECT_NE(table.find("1..3"), std::string::npos);
}

absl::StatusOr<std::vector<Measurement>> OneFigure(
    const BenchmarkOptions& options) {
  const double count = options.Count(100, 2);
  return std::vector<Measurement>{{"b", "m", count, "1", {}, "", 0, 9}};
}

TEST(RunBenchmarkTest, DurableFiguresNameTheirFilesystem) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto durable, RunBenchmark({"b", "", OneFigure, true}, {"/proc"}));
  EXPECT_EQ(durable[0].value, 100);
  EXPECT_THAT(durable[0].params, ElementsAre(Pair("filesystem", "proc")));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto other, RunBenchmark({"b", "", OneFigure, false}, {"/proc"}));
  EXPECT_THAT(other[0].params, IsEmpty());
}

TEST(RunBenchmarkTest, QuickFiguresSaySo) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto quick,
      RunBenchmark({"b", "", OneFigure, false}, {"/proc", true}));
  EXPECT_EQ(quick[0].value, 2);
  EXPECT_THAT(quick[0].params, ElementsAre(Pair("quick", "true")));
}

// Where a machine has no such mount there is nothing to refuse.
TEST(RunBenchmarkTest, DurableFiguresAreNotTakenInMemory) {
  const auto type = FilesystemOf("/dev/shm");
  if (!type.ok() || *type != "tmpfs") GTEST_SKIP() << "no tmpfs at /dev/shm";
  EXPECT_THAT(RunBenchmark({"b", "", OneFigure, true}, {"/dev/shm"}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(RunBenchmark({"b", "", OneFigure, true}, {"/dev/shm", true}),
              IsOk());
  EXPECT_THAT(RunBenchmark({"b", "", OneFigure, false}, {"/dev/shm"}), IsOk());
}

}  // namespace
}  // namespace ordo::tests::bench

#include "tests/bench/measure.h"

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

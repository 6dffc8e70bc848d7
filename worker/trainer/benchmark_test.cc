#include "worker/trainer/benchmark.h"

#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::training::v1::ProgressRecord;
using ::testing::HasSubstr;

class BenchmarkTest : public ::testing::Test {
 protected:
  BenchmarkTest() : context_(files_, clock_) {
    context_.job_folder = folder_.Path("b");
    ordo::training::v1::BenchmarkSpec spec;
    spec.set_job("b");
    auto& benchmark = *spec.mutable_benchmark();
    benchmark.add_classes("alibi");
    benchmark.add_types("fp32");
    auto& shape = *benchmark.add_shapes();
    shape.set_length(6);
    shape.set_heads(1);
    shape.set_width(8);
    benchmark.set_rounds(1);
    spec.mutable_resources()->set_threads(1);
    spec_ = *model::catalog::ResolveBenchmarkSpec(spec);
  }

  absl::StatusOr<ordo::training::v1::ExitCode> Run() {
    const auto progress =
        Progress::Open(files_, clock_, AttemptFolder(context_, 1));
    ORDO_EXPECT_OK(progress);
    return RunBenchmark(context_, spec_, progress->get());
  }

  std::vector<ProgressRecord> Records() {
    base::RecordReader reader(files_,
                              folder_.Path("b/attempts/1/progress.records"));
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  ordo::training::v1::BenchmarkSpec spec_;
};

TEST_F(BenchmarkTest, ReportsAndTellsHowFarItIs) {
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  const std::vector<ProgressRecord> records = Records();
  ASSERT_EQ(records.size(), 5U);
  EXPECT_TRUE(records[0].has_started());
  EXPECT_EQ(records[2].evaluation().done(), 1);
  EXPECT_EQ(records[2].evaluation().total(), 1);
  EXPECT_EQ(records[3].report().id(), "attention");
  EXPECT_EQ(records[3].report().kind(), "benchmark");
  EXPECT_EQ(records[4].finished().code(), ordo::training::v1::FINISHED);
  const auto table = base::ReadFile(
      files_, folder_.Path("b/results/attention-1/table.md"), 1 << 20);
  ORDO_ASSERT_OK(table);
  EXPECT_THAT(*table, HasSubstr("alibi: "));
}

TEST_F(BenchmarkTest, AFinishedReportIsNotMadeAgain) {
  spec_.add_finished_reports("attention");
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_EQ(Records().size(), 2U);
}

TEST_F(BenchmarkTest, AStopLeavesNoReport) {
  context_.stop_requested = [] { return true; };
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::STOPPED));
  EXPECT_FALSE(base::Exists(files_, folder_.Path("b/results")));
}

}  // namespace
}  // namespace ordo::worker::trainer

#include "worker/trainer/progress.h"

#include <cerrno>
#include <string>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::FileOperation;
using ::ordo::training::v1::ProgressRecord;
using ::testing::HasSubstr;

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() : files_(real_), folder_(temporary_.Path("attempts/3")) {
    auto progress = Progress::Open(files_, clock_, folder_);
    ORDO_EXPECT_OK(progress);
    progress_ = *std::move(progress);
  }

  std::vector<ProgressRecord> Records() {
    base::RecordReader reader(real_, folder_ + "/progress.records");
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      ORDO_EXPECT_OK(payload);
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  void Step(int64_t number) {
    ordo::training::v1::StepDone step;
    step.set_step(number);
    step.set_loss(0.25);
    progress_->Step(step);
  }

  void Checkpoint(const std::string& id) {
    ordo::training::v1::CheckpointWritten checkpoint;
    checkpoint.set_id(id);
    progress_->Checkpoint(checkpoint);
  }

  absl::Status Finish() {
    return progress_->Finished(ordo::training::v1::TrainerFinished());
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::testing::FakeClock clock_;
  base::testing::TemporaryFolder temporary_;
  const std::string folder_;
  std::unique_ptr<Progress> progress_;
};

TEST_F(ProgressTest, ARankOtherThan0WritesRecordsOfItsOwnAndNothingElse) {
  const std::string folder = temporary_.Path("attempts/4");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto progress,
                            Progress::Open(files_, clock_, folder, /*rank=*/2));
  ordo::training::v1::StepDone step;
  step.set_step(1);
  progress->Step(step);
  progress->Waiting(1);
  ORDO_EXPECT_OK(progress->CheckFolder());
  EXPECT_THAT(real_.List(folder),
              base::testing::IsOkAndHolds(
                  ::testing::ElementsAre("progress-2.records")));
  base::RecordReader reader(real_, folder + "/progress-2.records");
  ProgressRecord record;
  ASSERT_TRUE(record.ParseFromString(reader.Next()->value()));
  EXPECT_EQ(record.step().step(), 1);
  ASSERT_TRUE(record.ParseFromString(reader.Next()->value()));
  EXPECT_EQ(record.waiting().step(), 1);
}

TEST_F(ProgressTest, WritesRecordsInOrderWithTheirTime) {
  Step(10);
  Checkpoint("10-3");
  ORDO_ASSERT_OK(Finish());
  const auto records = Records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].step().step(), 10);
  EXPECT_EQ(records[0].time().seconds(), 1'700'000'000);
  EXPECT_EQ(records[1].checkpoint().id(), "10-3");
  EXPECT_TRUE(records[2].has_finished());
}

TEST_F(ProgressTest, WritesMetricsForPeople) {
  Step(10);
  ordo::training::v1::ReportWritten report;
  report.set_step(10);
  (*report.mutable_metrics())["grid_mean"] = 0.5;
  progress_->Report(report, "grid");
  const std::string metrics =
      base::ReadFile(real_, folder_ + "/metrics.jsonl", 1 << 20).value();
  EXPECT_THAT(metrics, HasSubstr(R"("step":10,"loss":0.25)"));
  EXPECT_THAT(metrics, HasSubstr(R"("evaluation":"grid","grid_mean":0.5})"));
}

TEST_F(ProgressTest, KeepsWhatMustBeKnownUntilTheDiskTakesIt) {
  files_.Fail(FileOperation::kAppend, "progress.records", ENOSPC);
  Step(1);
  Checkpoint("1-3");
  files_.Heal();
  Step(2);
  ORDO_ASSERT_OK(Finish());
  const auto records = Records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].checkpoint().id(), "1-3");
  EXPECT_EQ(records[1].step().step(), 2);
}

TEST_F(ProgressTest, KeepsWhatMustBeKnownUntilItIsSynced) {
  files_.Fail(FileOperation::kSync, "progress.records", EIO);
  Checkpoint("1-3");
  files_.Heal();
  // What the disk did not confirm it may have lost.
  ORDO_ASSERT_OK(real_.Truncate(folder_ + "/progress.records", 0));
  Step(2);
  const auto records = Records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].checkpoint().id(), "1-3");
}

TEST_F(ProgressTest, CutsATornRecordOffBeforeGoingOn) {
  Step(1);
  files_.LimitDisk(20);
  Step(2);
  files_.Heal();
  Step(3);
  const auto records = Records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].step().step(), 3);
}

TEST_F(ProgressTest, EndsWithAStorageErrorWhenTheEndCannotBeWritten) {
  files_.Fail(FileOperation::kAppend, "progress.records", ENOSPC);
  EXPECT_EQ(ExitCodeOf(Finish()), ordo::training::v1::STORAGE_ERROR);
}

TEST_F(ProgressTest, GoesOnWithoutMetricsThatCannotBeWritten) {
  files_.Fail(FileOperation::kAppend, "metrics.jsonl", ENOSPC);
  files_.Fail(FileOperation::kAppend, "tfevents", ENOSPC);
  Step(1);
  files_.Heal();
  Step(2);
  EXPECT_EQ(Records().size(), 2u);
  EXPECT_EQ(base::ReadFile(real_, folder_ + "/metrics.jsonl", 1 << 20).value(),
            "");
}

TEST_F(ProgressTest, NamesAFolderThatVanished) {
  ORDO_ASSERT_OK(progress_->CheckFolder());
  ORDO_ASSERT_OK(real_.RemoveTree(temporary_.Path("attempts")));
  const absl::Status status = progress_->CheckFolder();
  EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::DATA_MISSING);
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_));
}

TEST_F(ProgressTest, GoesOnInTheFilesOfAnEarlierProcess) {
  Step(1);
  progress_ = *Progress::Open(files_, clock_, folder_);
  Step(2);
  EXPECT_EQ(Records().size(), 2u);
}

TEST(Progress, CannotOpenWhereNothingCanBeWritten) {
  base::PosixFilesystem files;
  base::testing::FakeClock clock;
  const auto progress = Progress::Open(files, clock, "/proc/attempts/1");
  EXPECT_EQ(ExitCodeOf(progress.status()), ordo::training::v1::STORAGE_ERROR);
}

}  // namespace
}  // namespace ordo::worker::trainer

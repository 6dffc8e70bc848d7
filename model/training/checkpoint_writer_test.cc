#include "model/training/checkpoint_writer.h"

#include <cerrno>
#include <future>
#include <string>

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::FileOperation;
using ::ordo::base::testing::StatusIs;

// What is waited for comes long before this, or never.
constexpr absl::Duration kDeadline = absl::Minutes(1);

class CheckpointWriterTest : public ::testing::Test {
 protected:
  CheckpointWriterTest()
      : files_(real_),
        run_(*training::Run::Create(testing::TinySpec("rope"))) {}

  Checkpoint State() { return {run_->State(), run_->spec(), {}, true}; }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  std::unique_ptr<training::Run> run_;
};

TEST_F(CheckpointWriterTest, SavesTheStateOfTheStartWhileTrainingGoesOn) {
  CheckpointWriter writer(files_, clock_, folder_.path());
  const std::string digest = StateDigest(run_->State());
  writer.Start(State());
  EXPECT_TRUE(writer.busy());
  ORDO_ASSERT_OK(run_->Step());
  const auto outcome = writer.Poll(kDeadline);
  ASSERT_TRUE(outcome.has_value());
  ORDO_ASSERT_OK(outcome->written);
  EXPECT_EQ(outcome->written->state_digest(), digest);
  EXPECT_NE(StateDigest(run_->State()), digest);
  EXPECT_GE(outcome->written->write_seconds(),
            outcome->written->stall_seconds());
  EXPECT_FALSE(writer.busy());
  EXPECT_FALSE(writer.Poll(kDeadline).has_value());
}

TEST_F(CheckpointWriterTest, CountsTheWaitForTheWriteBeforeAsStall) {
  CheckpointWriter writer(files_, clock_, folder_.path());
  writer.Start(State(), absl::Seconds(3));
  const auto outcome = writer.Poll(kDeadline);
  ORDO_ASSERT_OK(outcome->written);
  EXPECT_GE(outcome->written->stall_seconds(), 3);
}

TEST_F(CheckpointWriterTest, WaitsNoLongerThanItIsTold) {
  std::promise<void> go;
  files_.Delay(FileOperation::kRename, "/0-1",
               [gate = go.get_future().share()] { gate.wait(); });
  CheckpointWriter writer(files_, clock_, folder_.path());
  writer.Start(State());
  EXPECT_FALSE(writer.Poll().has_value());
  EXPECT_FALSE(writer.Poll(absl::Milliseconds(10)).has_value());
  EXPECT_TRUE(writer.busy());
  go.set_value();
  ORDO_EXPECT_OK(writer.Poll(kDeadline)->written);
}

TEST_F(CheckpointWriterTest, ReportsAFullDiskAndCanGoOn) {
  CheckpointWriter writer(files_, clock_, folder_.path());
  files_.Fail(FileOperation::kAppend, "optimizer.safetensors", ENOSPC);
  writer.Start(State());
  EXPECT_THAT(writer.Poll(kDeadline)->written,
              StatusIs(absl::StatusCode::kResourceExhausted));
  files_.Heal();
  writer.Start(State());
  ORDO_EXPECT_OK(writer.Poll(kDeadline)->written);
}

TEST_F(CheckpointWriterTest, EndsTheWriteInFlightWhenDestroyed) {
  {
    CheckpointWriter writer(files_, clock_, folder_.path());
    writer.Start(State());
  }
  ORDO_EXPECT_OK(ReadCheckpoint(files_, folder_.Path("0-1"), ""));
}

}  // namespace
}  // namespace ordo::model::training

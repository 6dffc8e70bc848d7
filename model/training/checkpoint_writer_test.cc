#include "model/training/checkpoint_writer.h"

#include <cerrno>
#include <string>

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
  const auto outcome = writer.Wait();
  ASSERT_TRUE(outcome.has_value());
  ORDO_ASSERT_OK(outcome->written);
  EXPECT_EQ(outcome->written->state_digest(), digest);
  EXPECT_NE(StateDigest(run_->State()), digest);
  EXPECT_GE(outcome->written->write_seconds(),
            outcome->written->stall_seconds());
  EXPECT_FALSE(writer.busy());
  EXPECT_FALSE(writer.Wait().has_value());
  EXPECT_FALSE(writer.Poll().has_value());
}

TEST_F(CheckpointWriterTest, CountsTheWaitForTheWriteBeforeAsStall) {
  CheckpointWriter writer(files_, clock_, folder_.path());
  writer.Start(State(), absl::Seconds(3));
  const auto outcome = writer.Wait();
  ORDO_ASSERT_OK(outcome->written);
  EXPECT_GE(outcome->written->stall_seconds(), 3);
}

TEST_F(CheckpointWriterTest, ReportsAFullDiskAndCanGoOn) {
  CheckpointWriter writer(files_, clock_, folder_.path());
  files_.Fail(FileOperation::kAppend, "optimizer.safetensors", ENOSPC);
  writer.Start(State());
  EXPECT_THAT(writer.Wait()->written,
              StatusIs(absl::StatusCode::kResourceExhausted));
  files_.Heal();
  writer.Start(State());
  ORDO_EXPECT_OK(writer.Wait()->written);
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

#include "worker/trainer/checkpoints.h"

#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/checkpoint.h"
#include "model/training/testing/tiny_spec.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::FileOperation;
using ::ordo::base::testing::IsOkAndHolds;
// Not Test::Run.
using TrainingRun = ::ordo::model::training::Run;
using ::ordo::model::training::testing::TinySpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Of real time, within which what a write waits for comes about: one that waits
// longer goes on, and the test fails.
constexpr std::chrono::seconds kPatience(30);

// Steps of a run whose checkpoints are due every five of 20.
class CheckpointsTest : public ::testing::Test {
 protected:
  CheckpointsTest() : files_(real_), context_(files_, clock_) {
    context_.job_folder = folder_.Path("a");
    progress_ =
        *Progress::Open(real_, clock_, AttemptFolder(context_, /*attempt=*/2));
    auto spec = TinySpec("none");
    spec.set_attempt(2);
    spec.set_host("10.0.0.1");
    spec.add_resume()->set_path("jobs/a/checkpoints/10-1");
    spec.mutable_resume(0)->set_manifest_sha256("ab");
    spec.add_own_attempts(1);
    spec.add_own_attempts(2);
    run_ = *TrainingRun::Create(spec);
    checkpoints_ =
        std::make_unique<Checkpoints>(context_, *run_, progress_.get());
    model::training::Environment environment;
    environment.build_digest = "build";
    checkpoints_->Begin({}, environment);
  }

  // Goes to a step, letting what is due be written at each on the way.
  void StepTo(int64_t step) {
    while (run_->cursors().step < step) {
      ORDO_ASSERT_OK(run_->Step());
      ORDO_ASSERT_OK(checkpoints_->WriteIfDue(/*wanted=*/false));
      ORDO_ASSERT_OK(checkpoints_->Wait());
    }
  }

  std::vector<std::string> Ids() {
    return *model::training::ListCheckpoints(real_,
                                             folder_.Path("a/checkpoints"));
  }

  // Signs of life that were given.
  int NumWaiting() {
    base::RecordReader reader(real_,
                              folder_.Path("a/attempts/2/progress.records"));
    int count = 0;
    while (true) {
      const auto payload = reader.Next();
      ORDO_EXPECT_OK(payload);
      if (!payload.ok() || !payload->has_value()) return count;
      ordo::training::v1::ProgressRecord record;
      EXPECT_TRUE(record.ParseFromString(**payload));
      count += record.has_waiting() ? 1 : 0;
    }
  }

  void MakeFolder(const std::string& id) {
    ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("a/checkpoints/" + id)));
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::testing::FakeClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<TrainingRun> run_;
  std::unique_ptr<Checkpoints> checkpoints_;
};

TEST_F(CheckpointsTest, AreWrittenWhenDueAndAtTheEnd) {
  StepTo(20);
  EXPECT_THAT(Ids(), ElementsAre("20-2", "15-2", "10-2", "5-2"));
  EXPECT_EQ(checkpoints_->durable_id(), "20-2");
}

TEST_F(CheckpointsTest, HaveTheirIdBeforeTheyAreWritten) {
  EXPECT_EQ(checkpoints_->CurrentId(), "0-2");
  StepTo(5);
  EXPECT_EQ(checkpoints_->CurrentId(), checkpoints_->durable_id());
  // As if the run had begun here.
  StartingPoint point;
  point.own_checkpoint = "10-1";
  checkpoints_->Begin(point, {});
  EXPECT_EQ(checkpoints_->CurrentId(), "10-1");
  EXPECT_EQ(checkpoints_->durable_manifest(), "ab");
  ORDO_ASSERT_OK(run_->Step());
  EXPECT_EQ(checkpoints_->CurrentId(), "6-2");
}

TEST_F(CheckpointsTest, AreWrittenWhenWantedAndOnce) {
  StepTo(3);
  ORDO_ASSERT_OK(checkpoints_->WriteIfDue(/*wanted=*/true));
  ORDO_ASSERT_OK(checkpoints_->Wait());
  EXPECT_THAT(Ids(), ElementsAre("3-2"));
  ORDO_ASSERT_OK(real_.RemoveTree(folder_.Path("a/checkpoints/3-2")));
  ORDO_ASSERT_OK(checkpoints_->WriteIfDue(/*wanted=*/true));
  ORDO_ASSERT_OK(checkpoints_->Wait());
  EXPECT_THAT(Ids(), ElementsAre());
}

TEST_F(CheckpointsTest, AreTriedAgainAfterADelay) {
  files_.Fail(FileOperation::kAppend, ".tmp-5-2", ENOSPC);
  StepTo(6);
  EXPECT_THAT(Ids(), ElementsAre());
  clock_.Advance(absl::Seconds(10));
  StepTo(7);
  EXPECT_THAT(Ids(), ElementsAre("7-2"));
}

TEST_F(CheckpointsTest, OfAFullDiskAreAStorageErrorWhereOneIsNeeded) {
  StepTo(1);
  files_.Fail(FileOperation::kAppend, ".tmp-1-2", ENOSPC);
  EXPECT_EQ(ExitCodeOf(checkpoints_->MakeDurable()),
            ordo::training::v1::STORAGE_ERROR);
  files_.Heal();
  ORDO_EXPECT_OK(checkpoints_->MakeDurable());
  EXPECT_EQ(checkpoints_->durable_id(), "1-2");
}

TEST_F(CheckpointsTest, ThatTheStorageTakesSlowlyAreWaitedForWithSignsOfLife) {
  files_.Delay(FileOperation::kRename, "checkpoints/5-2", [this] {
    // Little by little, so as not to come to kLongestWrite between two looks.
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (NumWaiting() < 2 && std::chrono::steady_clock::now() < end) {
      clock_.Advance(absl::Milliseconds(1));
    }
  });
  StepTo(5);
  EXPECT_GE(NumWaiting(), 2);
  EXPECT_THAT(Ids(), ElementsAre("5-2"));
}

TEST_F(CheckpointsTest, ThatTheStorageTakesTooSlowlyAreAStorageError) {
  std::promise<void> go;
  files_.Delay(FileOperation::kRename, "checkpoints/5-2",
               [this, gate = go.get_future().share()] {
                 clock_.Advance(Checkpoints::kLongestWrite);
                 gate.wait_for(kPatience);
               });
  while (run_->cursors().step < 5) ORDO_ASSERT_OK(run_->Step());
  ORDO_EXPECT_OK(checkpoints_->WriteIfDue(/*wanted=*/false));
  EXPECT_TRUE(checkpoints_->MayWaitAt(10));
  EXPECT_FALSE(checkpoints_->MayWaitAt(9));
  const absl::Status status = checkpoints_->Wait();
  EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::STORAGE_ERROR);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has not taken the checkpoint of step 5 within 30m: " +
                        folder_.Path("a/checkpoints")));
  EXPECT_TRUE(checkpoints_->IsHeldUp());
  go.set_value();
  while (checkpoints_->IsHeldUp()) checkpoints_->Poll();
  EXPECT_FALSE(checkpoints_->MayWaitAt(10));
  EXPECT_THAT(Ids(), ElementsAre("5-2"));
}

TEST_F(CheckpointsTest, ThatNobodyToldOfAreRemoved) {
  // The job knows 10-1 as its newest, and attempt 2 writes now.
  for (const char* id : {"5-1", "10-1", "12-1", "3-2", ".tmp-20-1"}) {
    MakeFolder(id);
  }
  checkpoints_->RemoveLeftOver();
  EXPECT_THAT(real_.List(folder_.Path("a/checkpoints")),
              IsOkAndHolds(ElementsAre("10-1", "3-2", "5-1")));
}

TEST_F(CheckpointsTest, OfAttemptsThatAreNotTheJobsOwnStay) {
  auto spec = TinySpec("none");
  spec.set_attempt(5);
  // Attempts 2 and 4 were another job's of this name.
  for (const int own : {1, 3, 5}) spec.add_own_attempts(own);
  checkpoints_.reset();
  run_ = *TrainingRun::Create(spec);
  checkpoints_ =
      std::make_unique<Checkpoints>(context_, *run_, progress_.get());
  for (const char* id : {"10-1", "20-2", "10-3", "20-4"}) MakeFolder(id);
  checkpoints_->RemoveLeftOver();
  EXPECT_THAT(Ids(), UnorderedElementsAre("20-2", "20-4"));
}

TEST_F(CheckpointsTest, BeyondThePolicyAreRemovedWhereTheTrainerPrunes) {
  context_.prune_checkpoints = true;
  StepTo(20);
  EXPECT_THAT(Ids(), ElementsAre("20-2", "15-2", "10-2"));
}

TEST_F(CheckpointsTest, OptimizersBeyondThePolicyGoWhereTheTrainerPrunes) {
  context_.prune_checkpoints = true;
  auto spec = run_->spec();
  spec.mutable_checkpoint()->set_keep_optimizer(2);
  checkpoints_.reset();
  run_ = *TrainingRun::Create(spec);
  checkpoints_ =
      std::make_unique<Checkpoints>(context_, *run_, progress_.get());
  checkpoints_->Begin({}, {});
  StepTo(20);
  EXPECT_THAT(Ids(), ElementsAre("20-2", "15-2", "10-2"));
  for (const auto& [id, is_whole] :
       {std::pair("20-2", true), std::pair("15-2", true),
        std::pair("10-2", false)}) {
    const std::string folder = folder_.Path("a/checkpoints/") + id;
    EXPECT_EQ(base::Exists(real_, folder + "/optimizer.safetensors"), is_whole)
        << id;
    EXPECT_TRUE(base::Exists(real_, folder + "/model.safetensors")) << id;
  }
}

TEST_F(CheckpointsTest, HoldNothingOfTheAttemptsSurroundings) {
  StepTo(5);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto checkpoint,
                            model::training::ReadCheckpoint(
                                real_, folder_.Path("a/checkpoints/5-2"), ""));
  EXPECT_EQ(checkpoint.spec.host(), "");
  EXPECT_EQ(checkpoint.spec.resume_size(), 0);
  EXPECT_EQ(checkpoint.spec.own_attempts_size(), 0);
  EXPECT_EQ(checkpoint.environment.build_digest, "build");
}

}  // namespace
}  // namespace ordo::worker::trainer

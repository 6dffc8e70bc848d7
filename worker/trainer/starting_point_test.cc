#include "worker/trainer/starting_point.h"

#include <memory>
#include <new>
#include <string>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/checkpoint.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::model::training::Environment;
using ::ordo::model::training::testing::TinySpec;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using TrainingRun = ::ordo::model::training::Run;

class StartingPointTest : public ::testing::Test {
 protected:
  StartingPointTest() : context_(files_, clock_), spec_(TinySpec("none")) {
    context_.storage_root = folder_.path();
    const auto run = MakeRun();
    for (int step = 0; step < 3; ++step) ORDO_EXPECT_OK(run->Step());
    const auto written = model::training::WriteCheckpoint(
        files_, folder_.Path("jobs/a/checkpoints"),
        {run->State(), spec_, here_, /*exact=*/true});
    ORDO_EXPECT_OK(written);
    source_.set_name("jobs/a/checkpoints/3-1");
    source_.set_path("jobs/a/checkpoints/3-1");
    source_.set_manifest_sha256(written->manifest_sha256());
    digest_ = written->state_digest();
  }

  std::unique_ptr<TrainingRun> MakeRun() {
    auto run = TrainingRun::Create(spec_);
    ORDO_EXPECT_OK(run);
    return *std::move(run);
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  ordo::training::v1::TrainSpec spec_;
  const Environment here_{"build", 2, "AVX2", "2.11"};
  ordo::training::v1::CheckpointSource source_;
  std::string digest_;
};

TEST_F(StartingPointTest, IsStepZeroWithoutCheckpoints) {
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 0);
  EXPECT_EQ(point.resumed_from, "");
  EXPECT_TRUE(point.exact);
  EXPECT_THAT(point.warnings, IsEmpty());
  EXPECT_EQ(point.state_digest, model::training::StateDigest(run->State()));
}

TEST_F(StartingPointTest, IsTheFirstGoodCheckpointUnderTheStorageRoot) {
  *spec_.add_resume() = source_;
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 3);
  EXPECT_EQ(point.resumed_from, "jobs/a/checkpoints/3-1");
  EXPECT_EQ(point.own_checkpoint, "3-1");
  EXPECT_EQ(point.state_digest, digest_);
}

TEST_F(StartingPointTest, PassesOverAManifestThatIsNotTheRegisteredOne) {
  source_.set_manifest_sha256(std::string(64, '0'));
  *spec_.add_resume() = source_;
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 0);
  ASSERT_FALSE(point.warnings.empty());
  EXPECT_THAT(point.warnings[0], HasSubstr("MANIFEST.json is damaged"));
}

class OtherDataTest : public StartingPointTest {
 protected:
  // A checkpoint of a run that has read other data than this one.
  OtherDataTest() {
    const auto run = MakeRun();
    ORDO_EXPECT_OK(run->Step());
    auto state = run->State();
    state.data_fingerprint = "0123";
    const auto written = model::training::WriteCheckpoint(
        files_, folder_.Path("jobs/b/checkpoints"),
        {state, spec_, here_, /*exact=*/true});
    ORDO_EXPECT_OK(written);
    other_.set_path("jobs/b/checkpoints/1-1");
    other_.set_manifest_sha256(written->manifest_sha256());
  }

  ordo::training::v1::CheckpointSource other_;
};

TEST_F(OtherDataTest, EndsARunRatherThanStartItOver) {
  *spec_.add_resume() = other_;
  *spec_.add_resume() = source_;
  const auto run = MakeRun();
  const auto point = LoadStartingPoint(context_, here_, run.get());
  EXPECT_EQ(ExitCodeOf(point.status()), ordo::training::v1::DATA_MISSING);
  EXPECT_THAT(std::string(point.status().message()),
              AllOf(HasSubstr("jobs/b/checkpoints/1-1"),
                    HasSubstr("fingerprint was 0123 and is none")));
  EXPECT_EQ(run->cursors().step, 0);
}

TEST_F(OtherDataTest, IsNoMatterToARunThatStartsFromIt) {
  *spec_.mutable_start() = other_;
  const auto run = MakeRun();
  ORDO_ASSERT_OK(LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 1);
}

TEST_F(StartingPointTest, OfAnotherJobIsNoCheckpointOfItsOwn) {
  *spec_.mutable_start() = source_;
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 3);
  EXPECT_EQ(point.own_checkpoint, "");
}

TEST_F(StartingPointTest, MustBeWithinTheStepsOfTheRun) {
  *spec_.mutable_start() = source_;
  spec_.mutable_training()->set_steps(2);
  const auto run = MakeRun();
  const auto point = LoadStartingPoint(context_, here_, run.get());
  EXPECT_EQ(ExitCodeOf(point.status()), ordo::training::v1::CHECKPOINT_DAMAGED);
  EXPECT_THAT(std::string(point.status().message()),
              HasSubstr("it is at step 3 and training.steps is 2"));
}

TEST_F(StartingPointTest, RefusesTheCheckpointOfAnotherModel) {
  *spec_.add_resume() = source_;
  spec_.mutable_model()->set_layers(1);
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 0);
  ASSERT_FALSE(point.warnings.empty());
  EXPECT_THAT(point.warnings[0], HasSubstr("model.layers was 2 and is 1"));
  EXPECT_THAT(point.passed_over, ElementsAre("3-1"));
}

TEST_F(StartingPointTest, RefusesACheckpointOfItsOwnUnderAnotherRecipe) {
  *spec_.add_resume() = source_;
  spec_.mutable_training()->set_learning_rate(0.25);
  spec_.mutable_data()->set_seed(5);
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 0);
  ASSERT_FALSE(point.warnings.empty());
  EXPECT_THAT(point.warnings[0],
              AllOf(HasSubstr("training.learning_rate was 0.003 and is 0.25"),
                    HasSubstr("data.seed")));
}

TEST_F(StartingPointTest, MayBeOfAnotherRecipeInANewRun) {
  *spec_.mutable_start() = source_;
  spec_.mutable_training()->set_steps(50);
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 3);
  EXPECT_EQ(point.state_digest, digest_);
}

TEST_F(StartingPointTest, IsNotStepZeroUnlessTheRunMayStartOver) {
  source_.set_manifest_sha256(std::string(64, '0'));
  *spec_.add_resume() = source_;
  context_.may_start_over = false;
  const auto run = MakeRun();
  const auto point = LoadStartingPoint(context_, here_, run.get());
  EXPECT_EQ(ExitCodeOf(point.status()), ordo::training::v1::CHECKPOINT_DAMAGED);
  EXPECT_THAT(std::string(point.status().message()),
              HasSubstr("MANIFEST.json is damaged"));
}

// Memory that runs out while weights are read.
class ThrowingFilesystem : public base::testing::FaultyFilesystem {
 public:
  using FaultyFilesystem::FaultyFilesystem;

  absl::StatusOr<std::unique_ptr<base::ReadableFile>> OpenForRead(
      const std::string& path) override {
    if (base::NameOf(path) == "optimizer.safetensors") throw std::bad_alloc();
    return FaultyFilesystem::OpenForRead(path);
  }
};

TEST_F(StartingPointTest, PassesOverACheckpointWhoseLoadingThrows) {
  ThrowingFilesystem files(files_);
  TrainerContext context(files, clock_);
  context.storage_root = folder_.path();
  *spec_.add_resume() = source_;
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 0);
  ASSERT_FALSE(point.warnings.empty());
  EXPECT_THAT(point.warnings[0], HasSubstr("load the checkpoint"));
}

TEST_F(StartingPointTest, SaysWhatMakesAResumeInexact) {
  *spec_.add_resume() = source_;
  Environment elsewhere = here_;
  elsewhere.threads = 4;
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, elsewhere, run.get()));
  EXPECT_FALSE(point.exact);
  ASSERT_FALSE(point.warnings.empty());
  EXPECT_THAT(point.warnings[0],
              HasSubstr("the number of threads was 2 and is 4"));
}

TEST_F(StartingPointTest, WhatItStartsFromMakesItsOwnStepsNoLessExact) {
  Environment elsewhere = here_;
  elsewhere.threads = 4;
  auto own = spec_;
  *own.add_resume() = source_;
  *spec_.mutable_start() = source_;
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint started,
                            LoadStartingPoint(context_, elsewhere, run.get()));
  EXPECT_FALSE(started.exact);
  EXPECT_TRUE(started.own_exact);
  spec_ = own;
  const auto resumed_run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(
      const StartingPoint resumed,
      LoadStartingPoint(context_, elsewhere, resumed_run.get()));
  EXPECT_FALSE(resumed.own_exact);
}

TEST_F(StartingPointTest, ABaseGivesItsWeightsAtStepZero) {
  const auto trained = MakeRun();
  for (int step = 0; step < 3; ++step) ORDO_ASSERT_OK(trained->Step());
  *spec_.mutable_base() = source_;
  spec_.mutable_encoding()->set_name("rope");
  const auto run = MakeRun();
  ORDO_ASSERT_OK_AND_ASSIGN(const StartingPoint point,
                            LoadStartingPoint(context_, here_, run.get()));
  EXPECT_EQ(run->cursors().step, 0);
  EXPECT_EQ(point.resumed_from, "");
  EXPECT_EQ(point.state_digest, model::training::StateDigest(run->State()));
  const auto now = run->State(), then = trained->State();
  for (const auto& [name, tensor] : then.parameters) {
    EXPECT_TRUE(tensor.equal(now.parameters.at(name))) << name;
  }
}

TEST_F(StartingPointTest, ABaseThatDoesNotFitOrIsDamagedIsAnError) {
  *spec_.mutable_base() = source_;
  spec_.mutable_model()->set_layers(3);
  const auto status =
      LoadStartingPoint(context_, here_, MakeRun().get()).status();
  EXPECT_EQ(ExitCodeOf(status), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("jobs/a/checkpoints/3-1"),
                    HasSubstr("model.layers was 2 and is 3")));
  ORDO_ASSERT_OK(files_.Truncate(
      folder_.Path("jobs/a/checkpoints/3-1/model.safetensors"), 100));
  EXPECT_EQ(
      ExitCodeOf(LoadStartingPoint(context_, here_, MakeRun().get()).status()),
      ordo::training::v1::CHECKPOINT_DAMAGED);
}

}  // namespace
}  // namespace ordo::worker::trainer

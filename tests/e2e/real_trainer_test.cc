// The real trainer, where other tests have the fake one: what it says to people
// is its own, and it has to leave when it is told to. It is held at a moment by
// tests/fake/gate.cc.
#include <signal.h>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::ordo::base::testing::IsOkAndHolds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RealTrainerTest : public Scenario {
 protected:
  void StartHolding(const std::string& held_at) { Start(RealOptions(held_at)); }

  // So long that only a cancel ends it.
  static JobSpec EndlessSpec() {
    JobSpec spec = Spec("job");
    spec.mutable_training()->set_steps(100'000'000);
    return spec;
  }
};

TEST_F(RealTrainerTest, FolderThatVanishesInMidRunIsNamed) {
  StartHolding("checkpoints/20-1");
  Submit(Spec("job"));
  WaitUntilHeld();
  ORDO_ASSERT_OK(files_.RemoveTree(JobFolder("job")));
  Go();
  const Job job = WaitForFailure("job");
  EXPECT_EQ(job.reason(), "DATA_MISSING");
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_THAT(job.message(), HasSubstr(JobFolder("job") +
                                       "/attempts/1 vanished while the trainer "
                                       "was writing to it"));
}

// The thread that trains writes reports itself.
TEST_F(RealTrainerTest, OneThatHangsSaysWhereAndIsTriedAgain) {
  StartHolding("results/addition_grid-40-1");
  JobSpec spec = Spec("job");
  auto* evaluation = spec.add_evaluations();
  evaluation->set_task("addition_grid");
  evaluation->set_every_steps(40);
  (*evaluation->mutable_params())["max_digits"].set_number_value(2);
  (*evaluation->mutable_params())["samples"].set_number_value(2);
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(10);
  Submit(spec);
  WaitUntilHeld();
  ASSERT_TRUE(WaitUntil("job", [](const Job& job) {
    return job.attempts(0).reason() == "HANG";
  }));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string log,
      base::ReadFile(files_, JobFolder("job") + "/attempts/1/rank-0.log",
                     1 << 20));
  EXPECT_THAT(log, AllOf(HasSubstr("stacks of process"),
                         HasSubstr("libgate.so"), HasSubstr("end of stacks")));
  Go();
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->attempts(1).start_step(), 40);
}

// By the number of ranks.
class RealTrainerStorageTest : public RealTrainerTest,
                               public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, RealTrainerStorageTest,
                         ::testing::Values(1, 2));

TEST_P(RealTrainerStorageTest, ASlowOneIsNoHang) {
  constexpr absl::Duration kStepTimeout = absl::Seconds(10);
  harness::DeploymentOptions options = RealOptions("checkpoints/20-1");
  options.worker.add_devices("cpu:0");
  options.worker.add_devices("cpu:1");
  Start(options);
  JobSpec spec = Spec("job");
  spec.mutable_training()->set_micro_batch_size(2);
  spec.mutable_resources()->set_ranks(GetParam());
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(
      absl::ToInt64Seconds(kStepTimeout));
  Submit(spec);
  WaitUntilHeld();
  // It trains on up to the next checkpoint, which waits for this one.
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 40; }));
  const absl::Time since = absl::Now();
  // By then a hang is found.
  ASSERT_TRUE(WaitUntil("job", [&](const Job&) {
    return absl::Now() - since > 1.5 * kStepTimeout;
  }));
  Go();
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts_size(), 1);
  EXPECT_THAT(Checkpoints("job"),
              IsOkAndHolds(ElementsAre("jobs/job/checkpoints/60-1",
                                       "jobs/job/checkpoints/40-1",
                                       "jobs/job/checkpoints/20-1")));
}

class RealTrainerDamageTest : public RealTrainerTest,
                              public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(TruncatedOrFlipped, RealTrainerDamageTest,
                         ::testing::Bool());

TEST_P(RealTrainerDamageTest, DamagedCheckpointIsPassedOverForTheOneBefore) {
  StartHolding("checkpoints/60-1");
  Submit(Spec("undisturbed"));
  Submit(Spec("job"));
  WaitUntilHeld();
  ASSERT_TRUE(WaitFor([this] {
    const auto checkpoint = LatestCheckpoint("job");
    return checkpoint.ok() && checkpoint->step() == 40;
  }));
  const std::string file =
      JobFolder("job") + "/checkpoints/40-1/model.safetensors";
  Damage(file, GetParam());
  const auto trainer = WaitForTrainer("job");
  ASSERT_TRUE(trainer.has_value());
  ORDO_ASSERT_OK(base::SignalProcess(*trainer, SIGKILL));
  Go();
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->attempts(1).start_step(), 20);
  EXPECT_TRUE(job->attempts(1).exact());
  EXPECT_THAT(job->attempts(1).warnings(),
              Contains(AllOf(HasSubstr("jobs/job/checkpoints/40-1 was passed "
                                       "over"),
                             HasSubstr(file + " is damaged"))));
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

TEST_F(RealTrainerTest, EvaluationOfADamagedCheckpointFailsAndNamesTheFile) {
  StartHolding("never");
  Submit(Spec("trained"));
  ASSERT_TRUE(WaitForState("trained", Job::SUCCEEDED).has_value());
  const std::string file =
      JobFolder("trained") + "/checkpoints/60-1/model.safetensors";
  Damage(file, false);
  JobSpec spec;
  spec.set_kind(JobSpec::EVALUATE);
  spec.set_name("evaluation");
  spec.add_checkpoints("jobs/trained");
  spec.add_evaluations()->set_task("addition_grid");
  Submit(spec);
  const Job job = WaitForFailure("evaluation");
  EXPECT_EQ(job.reason(), "CHECKPOINT_DAMAGED");
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_THAT(job.message(), HasSubstr(file + " is damaged"));
}

TEST_F(RealTrainerTest, CancelWhileItIsLoaded) {
  StartHolding("never");
  Submit(EndlessSpec());
  ASSERT_TRUE(WaitForTrainer("job").has_value());
  CancelAndExpectTheEnd("job");
}

TEST_F(RealTrainerTest, CancelWhileItSteps) {
  StartHolding("never");
  Submit(EndlessSpec());
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 2; }));
  CancelAndExpectTheEnd("job");
}

TEST_F(RealTrainerTest, CancelWhileItEvaluates) {
  StartHolding("never");
  JobSpec spec = EndlessSpec();
  auto* evaluation = spec.add_evaluations();
  evaluation->set_task("addition_grid");
  evaluation->set_every_steps(1);
  (*evaluation->mutable_params())["max_digits"].set_number_value(10);
  (*evaluation->mutable_params())["samples"].set_number_value(1000);
  Submit(spec);
  ASSERT_TRUE(WaitUntil("job", [](const Job& job) {
    return !job.progress().evaluation().empty();
  }));
  CancelAndExpectTheEnd("job");
}

TEST_F(RealTrainerTest, CancelWhileItWritesACheckpoint) {
  StartHolding("checkpoints/20-1");
  Submit(EndlessSpec());
  WaitUntilHeld();
  CancelAndExpectTheEnd("job");
}

}  // namespace
}  // namespace ordo::tests::e2e

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ContinueTest = testing::CliTest;

class ContinueJobTest : public testing::CliTest {
 protected:
  void AddJob(const std::string& id, int64_t step) {
    scheduler_.SetJob(id, Job::SUCCEEDED, [step](Job* job) {
      job->mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
      job->mutable_spec()->mutable_training()->set_steps(step);
    });
    checkpoints::v1::Checkpoint checkpoint;
    for (const int64_t each : {step / 2, step}) {
      checkpoint.set_name("jobs/" + id + "/checkpoints/" +
                          std::to_string(each) + "-1");
      checkpoint.set_step(each);
      scheduler_.AddCheckpoint(checkpoint);
    }
  }
};

TEST_F(ContinueJobTest, StartsFromTheNewestCheckpoint) {
  AddJob("a", 100);
  EXPECT_EQ(Run({"continue", "a", "--steps", "50"}), 0);
  EXPECT_EQ(out(), "a-continued-150\n");
  EXPECT_EQ(err(),
            "ordo: a-continued-150 goes on from jobs/a/checkpoints/100-1, step "
            "100, to step 150\n");
  const Job job = scheduler_.GetJob("a-continued-150");
  EXPECT_EQ(job.spec().start_from(), "jobs/a/checkpoints/100-1");
  EXPECT_EQ(job.spec().training().steps(), 150);
}

TEST_F(ContinueJobTest, ItsNoteSaysWhatSettingsMadeOfIt) {
  AddJob("a", 100);
  EXPECT_EQ(
      Run({"continue", "a", "--steps", "50", "--set", "training.steps=120",
           "--set", "start_from=jobs/a/checkpoints/50-1"}),
      0)
      << err();
  EXPECT_EQ(err(),
            "ordo: a-continued-120 goes on from jobs/a/checkpoints/50-1, to "
            "step 120\n");
}

TEST_F(ContinueJobTest, AHoldIsNotTakenOver) {
  AddJob("a", 100);
  scheduler_.SetJob("a", Job::SUCCEEDED,
                    [](Job* job) { job->mutable_spec()->set_hold(true); });
  EXPECT_EQ(Run({"continue", "a", "--steps", "50"}), 0) << err();
  EXPECT_FALSE(scheduler_.GetJob("a-continued-150").spec().hold());
}

TEST_F(ContinueJobTest, NamesDoNotGrow) {
  AddJob("a-continued-150", 150);
  EXPECT_EQ(Run({"continue", "a-continued-150", "--steps", "50"}), 0);
  EXPECT_EQ(out(), "a-continued-200\n");
  EXPECT_EQ(Run({"continue", "a-continued-150", "--steps", "50"}), 0);
  EXPECT_EQ(out(), "a-continued-200-2\n");
}

TEST_F(ContinueJobTest, NeedsStepsAndACheckpoint) {
  scheduler_.SetJob("a", Job::FAILED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
  });
  EXPECT_EQ(Run({"continue", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("--steps is missing"));
  EXPECT_EQ(Run({"continue", "a", "--steps", "5"}), 2);
  EXPECT_THAT(err(), HasSubstr("there is no jobs/a/checkpoints/latest"));
}

TEST_F(ContinueTest, EvaluationCannotBeContinued) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::EVALUATE);
  });
  EXPECT_EQ(Run({"continue", "a", "--steps", "5"}), 2);
  EXPECT_THAT(err(), HasSubstr("not a training job"));
}

}  // namespace
}  // namespace ordo::services::cli

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using EvaluateTest = testing::CliTest;

class EvaluateJobTest : public testing::CliTest {
 protected:
  EvaluateJobTest() {
    scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
      auto* evaluation = job->mutable_spec()->add_evaluations();
      evaluation->set_task("addition_grid");
      evaluation->set_at("end");
      job->mutable_spec()->mutable_resources()->set_threads(3);
      job->mutable_spec()->mutable_resources()->set_ranks(2);
      job->mutable_spec()->mutable_resources()->set_cpus(4);
    });
  }
};

TEST_F(EvaluateJobTest, TakesTheEvaluationsOfTheCheckpointsJob) {
  EXPECT_EQ(Run({"evaluate", "jobs/a/checkpoints/20-1", "a"}), 0);
  EXPECT_EQ(out(), "a-evaluate\n");
  const jobs::v1::JobSpec spec = scheduler_.GetJob("a-evaluate").spec();
  EXPECT_EQ(spec.kind(), jobs::v1::JobSpec::EVALUATE);
  EXPECT_THAT(spec.checkpoints(),
              ::testing::ElementsAre("jobs/a/checkpoints/20-1", "jobs/a"));
  ASSERT_EQ(spec.evaluations_size(), 1);
  EXPECT_EQ(spec.evaluations(0).task(), "addition_grid");
  EXPECT_EQ(spec.evaluations(0).at(), "");
  EXPECT_EQ(spec.resources().threads(), 3);
  EXPECT_EQ(spec.resources().cpus(), 4);
  EXPECT_FALSE(spec.resources().has_ranks());
}

TEST_F(EvaluateJobTest, TaskAndParametersCanBeNamed) {
  EXPECT_EQ(Run({"evaluate", "a", "--task", "other", "--param", "samples=7",
                 "--set", "name=b"}),
            0);
  EXPECT_EQ(out(), "b\n");
  const auto evaluation = scheduler_.GetJob("b").spec().evaluations(0);
  EXPECT_EQ(evaluation.task(), "other");
  EXPECT_EQ(evaluation.params().at("samples").number_value(), 7);
}

TEST_F(EvaluateJobTest, WhatWasAnsweredIsEvaluatedAgainOnlyIfThatIsSaid) {
  EXPECT_EQ(Run({"evaluate", "a", "--set", "name=b"}), 0);
  EXPECT_FALSE(scheduler_.GetJob("b").spec().again());
  EXPECT_EQ(Run({"evaluate", "a", "--again", "--set", "name=c"}), 0);
  EXPECT_TRUE(scheduler_.GetJob("c").spec().again());
}

TEST_F(EvaluateJobTest, AGivenNameThatIsTakenIsNotAnother) {
  EXPECT_EQ(Run({"evaluate", "a", "--set", "name=b"}), 0);
  EXPECT_EQ(Run({"evaluate", "a", "--set", "name=b"}), 2);
  EXPECT_THAT(err(), HasSubstr("jobs/b"));
  EXPECT_EQ(out(), "");
}

TEST_F(EvaluateJobTest, AnEncodingTakesThePlaceOfTheCheckpoints) {
  EXPECT_EQ(Run({"evaluate", "a", "--encoding", "yarn"}), 0);
  EXPECT_EQ(scheduler_.GetJob("a-evaluate").spec().encoding().name(), "yarn");
  EXPECT_EQ(
      Run({"evaluate", "a", "--encoding", "{name: yarn, params: {factor: 4}}"}),
      0);
  const auto spec = scheduler_.GetJob("a-evaluate-2").spec();
  EXPECT_EQ(spec.encoding().name(), "yarn");
  EXPECT_EQ(spec.encoding().params().at("factor").number_value(), 4);
  EXPECT_EQ(Run({"evaluate", "a", "--encoding", "{nam: yarn}"}), 2);
  EXPECT_THAT(err(), HasSubstr("--encoding: nam: is no field"));
}

TEST_F(EvaluateJobTest, WhatIsWrongIsToldInTheWordsOfTheOptions) {
  scheduler_.RefuseCreate(base::InvalidFields(
      {{"job.spec.evaluations[0].params.lengths[1]", "must be a number"},
       {"job.spec.evaluations[0].params.samples", "is too many"},
       {"job.spec.evaluations[0].task", "there is no such task"},
       {"job.spec.encoding.params.factor", "must be 1..64"},
       {"job.spec.checkpoints[0]", "there is no such checkpoint"}}));
  EXPECT_EQ(Run({"evaluate", "a", "--task", "nop", "--param", "lengths=[1x, y]",
                 "--encoding", "yarn"}),
            2);
  EXPECT_THAT(err(), HasSubstr("\n  --param lengths[1]: must be a number\n"));
  // It was not given by --param.
  EXPECT_THAT(err(),
              HasSubstr("\n  evaluations[0].params.samples: is too many\n"));
  EXPECT_THAT(err(), HasSubstr("\n  --task: there is no such task\n"));
  EXPECT_THAT(err(), HasSubstr("\n  --encoding: params.factor: must be 1"));
  EXPECT_THAT(err(), HasSubstr("\n  checkpoints[0]: there is no such"));
}

TEST_F(EvaluateJobTest, WhatAParameterHasWrongInAllEvaluationsIsToldOnce) {
  scheduler_.RefuseCreate(base::InvalidFields(
      {{"job.spec.evaluations[0].params.samples", "must be 1..9"},
       {"job.spec.evaluations[1].params.samples", "must be 1..9"}}));
  EXPECT_EQ(Run({"evaluate", "a", "--param", "samples=0"}), 2);
  EXPECT_THAT(err(), HasSubstr("one thing is wrong:\n  --param samples: must"));
}

TEST_F(EvaluateTest, JobWithoutEvaluationsNeedsATask) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  EXPECT_EQ(Run({"evaluate", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("--task"));
}

TEST_F(EvaluateTest, OnlyCheckpointsAndJobsCanBeEvaluated) {
  EXPECT_EQ(Run({"evaluate", "workers/w"}), 2);
  EXPECT_THAT(err(), HasSubstr("neither a checkpoint nor a job"));
}

class EvaluateNamedTest : public testing::LoopbackCliTest {};

TEST_F(EvaluateNamedTest, AnAliasIsBoundByTheScheduler) {
  Job job;
  job.set_name("jobs/a");
  job.set_state(Job::SUCCEEDED);
  job.mutable_spec()->add_evaluations()->set_task("addition_grid");
  loopback_.scheduler().PutJob(job);
  PutCheckpoint("jobs/a/checkpoints/20-1");
  EXPECT_EQ(Run({"alias", "set", "main", "a"}), 0) << err();
  EXPECT_EQ(Run({"evaluate", "aliases/main"}), 0) << err();
  const jobs::v1::JobSpec spec = GetJob("a-evaluate").spec();
  EXPECT_THAT(spec.checkpoints(),
              ::testing::ElementsAre("jobs/a/checkpoints/20-1"));
  ASSERT_EQ(spec.bound_size(), 1);
  EXPECT_EQ(spec.bound(0).alias(), "aliases/main");
}

}  // namespace
}  // namespace ordo::services::cli

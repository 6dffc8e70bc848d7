#include "scheduler/core/task.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::ElementsAre;
using testing::JobBuilder;

class TaskTest : public CoreTest {
 protected:
  void SetUp() override { StartWorker(); }
  const JobEntry& Entry(const std::string& job) {
    return shell_.state().jobs.at(job);
  }
  training::v1::TrainSpec TrainTaskOf(const std::string& job) {
    training::v1::TrainSpec task;
    ORDO_EXPECT_OK(SetTrainTask(shell_.state(), Entry(job), &task));
    return task;
  }
};

TEST_F(TaskTest, ATrainingTaskIsTheJobsSpec) {
  NewJob job = JobBuilder("a");
  job.OwnSpec().mutable_model()->set_layers(4);
  job.OwnSpec().mutable_encoding()->set_name("tape");
  job.OwnSpec().mutable_data()->set_task("addition");
  job.OwnSpec().add_evaluations()->set_task("addition_grid");
  job.OwnSpec().mutable_resources()->set_threads(2);
  Submit(job);
  const training::v1::TrainSpec task = TrainTaskOf("a");
  EXPECT_EQ(task.job(), "a");
  EXPECT_EQ(task.attempt(), 1);
  EXPECT_EQ(task.model().layers(), 4);
  EXPECT_EQ(task.encoding().name(), "tape");
  EXPECT_EQ(task.data().task(), "addition");
  EXPECT_EQ(task.training().steps(), 100);
  EXPECT_EQ(task.checkpoint().keep(), 3);
  EXPECT_EQ(task.evaluations(0).task(), "addition_grid");
  EXPECT_EQ(task.resources().threads(), 2);
  EXPECT_EQ(task.resume_size(), 0);
  EXPECT_FALSE(task.has_start());
  EXPECT_EQ(task.own_attempts_size(), 0);
}

TEST_F(TaskTest, OnlyAttemptsThatAreKnownToHaveRunAreItsOwn) {
  Submit(JobBuilder("a"));
  shell_.Observe(
      "w",
      {AttemptBuilder("a", 1).Ended(agent::v1::ObservedAttempt::FOLDER_TAKEN)});
  shell_.Ignore();
  // Nothing says yet that any ran.
  EXPECT_THAT(TrainTaskOf("a").own_attempts(), ElementsAre(2));
  shell_.Observe("w", {AttemptBuilder("a", 2).Running().Step(5).Exited(10)});
  shell_.Ignore();
  EXPECT_THAT(TrainTaskOf("a").own_attempts(), ElementsAre(2, 3));
}

TEST_F(TaskTest, OnlyWholeCheckpointsAreGoneOnFrom) {
  Submit(JobBuilder("a").KeepOptimizer(1));
  shell_.Observe(
      "w",
      {AttemptBuilder("a", 1).Running().Checkpoint(1, 5).Checkpoint(2, 10)});
  shell_.Ignore();
  const training::v1::TrainSpec task = TrainTaskOf("a");
  ASSERT_EQ(task.resume_size(), 1);
  EXPECT_EQ(task.resume(0).step(), 10);
  // The trainer has no part in it.
  EXPECT_FALSE(task.checkpoint().has_keep_optimizer());
}

TEST_F(TaskTest, WhatIsForPlacementIsNoneOfTheTrainers) {
  NewJob job = JobBuilder("a").Ranks(1, 1);
  training::v1::Resources& asked = *job.OwnSpec().mutable_resources();
  asked.set_threads(2);
  asked.set_device_memory_bytes(0);
  asked.set_cpus(0);
  asked.set_memory_bytes(0);
  asked.set_exclusive(true);
  Submit(job);
  const training::v1::Resources task = TrainTaskOf("a").resources();
  EXPECT_EQ(task.ranks(), 1);
  EXPECT_EQ(task.device(), "cpu");
  EXPECT_EQ(task.threads(), 2);
  EXPECT_FALSE(task.has_devices());
  EXPECT_FALSE(task.has_device_memory_bytes());
  EXPECT_FALSE(task.has_cpus());
  EXPECT_FALSE(task.has_memory_bytes());
  EXPECT_FALSE(task.has_exclusive());
}

TEST_F(TaskTest, ALaterAttemptResumesFromWhatIsRegisteredNewestFirst) {
  Submit(JobBuilder("a").Keep(kMaxResume + 5));
  AttemptBuilder attempt("a", 1);
  attempt.Running();
  for (int i = 1; i <= kMaxResume + 2; ++i) attempt.Checkpoint(i, 10 * i);
  attempt.Report(kMaxResume + 3, "grid-10");
  shell_.Observe("w", {attempt.Exited(10)});
  const auto desired = shell_.TakeDesired("w");
  shell_.Ignore();
  ASSERT_EQ(desired.attempts_size(), 1);
  const training::v1::TrainSpec& task = desired.attempts(0).train();
  EXPECT_EQ(task.attempt(), 2);
  ASSERT_EQ(task.resume_size(), kMaxResume);
  EXPECT_EQ(task.resume(0).step(), 100);
  EXPECT_EQ(task.resume(0).name(), "jobs/a/checkpoints/100-1");
  EXPECT_EQ(task.resume(0).path(), "jobs/a/checkpoints/100-1");
  EXPECT_EQ(task.resume(0).manifest_sha256(), "sha-100-1");
  EXPECT_EQ(task.resume(1).step(), 90);
  EXPECT_THAT(task.finished_reports(), ElementsAre("grid-10"));
}

TEST_F(TaskTest, RemovedCheckpointsAreNotOffered) {
  Submit(JobBuilder("a").Keep(1));
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(1, 10)
                           .Checkpoint(2, 20)
                           .Exited(10)});
  shell_.Ignore();
  const training::v1::TrainSpec task = TrainTaskOf("a");
  ASSERT_EQ(task.resume_size(), 1);
  EXPECT_EQ(task.resume(0).step(), 20);
}

TEST_F(TaskTest, AContinuedJobStartsFromTheOthersCheckpoint) {
  Submit(JobBuilder("a"));
  shell_.Observe("w",
                 {AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(0)});
  shell_.Ignore();
  Submit(JobBuilder("b").StartFrom("jobs/a"));
  const training::v1::TrainSpec task = TrainTaskOf("b");
  EXPECT_EQ(task.start().name(), "jobs/a/checkpoints/9-1");
  EXPECT_EQ(task.start().step(), 9);
  EXPECT_EQ(task.start().manifest_sha256(), "sha-9-1");
}

TEST_F(TaskTest, AModelFromACheckpointHasItAsBase) {
  Submit(JobBuilder("a"));
  shell_.Observe("w",
                 {AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(0)});
  shell_.Ignore();
  NewJob job = JobBuilder("b");
  job.OwnSpec().mutable_model()->set_layers(4);
  job.OwnSpec().mutable_model()->set_from("jobs/a/checkpoints/9-1");
  job.OwnSpec().mutable_model()->set_from_sha256("sha-9-1");
  Submit(job);
  const training::v1::TrainSpec task = TrainTaskOf("b");
  EXPECT_EQ(task.base().name(), "jobs/a/checkpoints/9-1");
  EXPECT_EQ(task.base().manifest_sha256(), "sha-9-1");
  EXPECT_FALSE(task.has_start());
  EXPECT_EQ(task.model().layers(), 4);
  EXPECT_EQ(task.model().from(), "");
  EXPECT_EQ(task.model().from_sha256(), "");
}

TEST_F(TaskTest, AnEvaluationTaskNamesItsCheckpoints) {
  Submit(JobBuilder("a"));
  shell_.Observe("w",
                 {AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(0)});
  shell_.Ignore();
  NewJob job = JobBuilder("b").Evaluates({"jobs/a"});
  job.OwnSpec().add_evaluations()->set_task("addition_grid");
  job.OwnSpec().mutable_encoding()->set_name("yarn");
  Submit(job);
  training::v1::EvaluateSpec task;
  ORDO_EXPECT_OK(SetEvaluateTask(shell_.state(), Entry("b"), &task));
  EXPECT_EQ(task.job(), "b");
  EXPECT_EQ(task.attempt(), 1);
  ASSERT_EQ(task.checkpoints_size(), 1);
  EXPECT_EQ(task.checkpoints(0).path(), "jobs/a/checkpoints/9-1");
  EXPECT_EQ(task.evaluations(0).task(), "addition_grid");
  EXPECT_EQ(task.encoding().name(), "yarn");
}

TEST_F(TaskTest, AGateTaskSaysWhatIsComparedAndWhatIsThereAlready) {
  Submit(JobBuilder("a"));
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(1, 9)
                           .Report(2, "grid-9")
                           .Exited(0)});
  shell_.Ignore();
  NewJob job = JobBuilder("g").Gates("jobs/a", "jobs/a/reports/grid-9");
  job.OwnSpec().mutable_gate()->set_margin(0.01);
  job.OwnSpec().add_evaluations()->set_task("addition_grid");
  Submit(job);
  Observe(AttemptBuilder("g", 1)
              .Running()
              .Report(1, "addition_grid-candidate")
              .Exited(10));
  training::v1::GateSpec task;
  ORDO_EXPECT_OK(SetGateTask(shell_.state(), Entry("g"), &task));
  EXPECT_EQ(task.job(), "g");
  EXPECT_EQ(task.attempt(), 2);
  ASSERT_EQ(task.subjects_size(), 2);
  EXPECT_EQ(task.subjects(0).role(), "candidate");
  EXPECT_EQ(task.subjects(0).checkpoint().path(), "jobs/a/checkpoints/9-1");
  EXPECT_EQ(task.subjects(0).report(), "");
  EXPECT_EQ(task.subjects(1).role(), "baseline");
  EXPECT_FALSE(task.subjects(1).has_checkpoint());
  EXPECT_EQ(task.subjects(1).report(), "jobs/a/results/grid-9-1");
  EXPECT_EQ(task.evaluations(0).task(), "addition_grid");
  EXPECT_EQ(task.gate().margin(), 0.01);
  ASSERT_EQ(task.finished_reports_size(), 1);
  EXPECT_EQ(task.finished_reports().at("addition_grid-candidate"),
            "jobs/g/results/addition_grid-candidate-1");
}

TEST_F(TaskTest, AGateIsToldAsOneWithItsAnchor) {
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(0));
  NewJob job = JobBuilder("g").Gates("jobs/a", "jobs/a");
  job.OwnSpec().mutable_gate()->set_anchor("jobs/a/checkpoints/9-1");
  ORDO_ASSERT_OK(shell_.Submit(job));
  const agent::v1::SetDesiredRequest desired = shell_.TakeDesired("w");
  ASSERT_TRUE(desired.attempts(0).has_gate());
  const training::v1::GateSpec& task = desired.attempts(0).gate();
  ASSERT_EQ(task.subjects_size(), 3);
  EXPECT_EQ(task.subjects(2).role(), "anchor");
  EXPECT_EQ(task.subjects(2).checkpoint().manifest_sha256(), "sha-9-1");
  shell_.Ignore();
}

TEST_F(TaskTest, ABenchmarkTaskIsTheJobsSpec) {
  NewJob job = JobBuilder("a");
  job.OwnSpec().set_kind(jobs::v1::JobSpec::BENCHMARK);
  job.OwnSpec().mutable_benchmark()->add_classes("t5");
  ORDO_ASSERT_OK(shell_.Submit(job));
  const agent::v1::SetDesiredRequest desired = shell_.TakeDesired("w");
  ASSERT_TRUE(desired.attempts(0).has_benchmark());
  const training::v1::BenchmarkSpec& task = desired.attempts(0).benchmark();
  EXPECT_EQ(task.job(), "a");
  EXPECT_EQ(task.attempt(), 1);
  EXPECT_EQ(task.benchmark().classes(0), "t5");
  shell_.Ignore();
}

TEST_F(TaskTest, ALateReferenceIsTheNewestThatItsJobLeftAtEachAttempt) {
  ORDO_ASSERT_OK(shell_.Submit(
      {JobBuilder("a").Keep(1),
       JobBuilder("b").Needs("a").Evaluates({"jobs/a"}).StartFrom("jobs/a")}));
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(1, 9)
                           .Checkpoint(2, 20)
                           .Exited(0)});
  shell_.Ignore();
  const auto source = [this] {
    training::v1::EvaluateSpec task;
    ORDO_EXPECT_OK(SetEvaluateTask(shell_.state(), Entry("b"), &task));
    return task.checkpoints(0);
  };
  EXPECT_EQ(source().name(), "jobs/a/checkpoints/20-1");
  EXPECT_EQ(source().manifest_sha256(), "sha-20-1");
  EXPECT_EQ(TrainTaskOf("b").start().name(), "jobs/a/checkpoints/20-1");
  Observe(AttemptBuilder("b", 1).Exited(10));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(testing::WorkerBuilder("w").Sequence(9)));
  shell_.Advance(absl::Seconds(2));
  shell_.Ignore();
  ASSERT_EQ(Entry("b").job->attempt_number(), 2);
  EXPECT_EQ(source().name(), "jobs/a/checkpoints/20-1");
}

}  // namespace
}  // namespace ordo::scheduler::core

#include "scheduler/core/artifacts.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobBuilder;
using testing::WorkerBuilder;

class ArtifactsTest : public CoreTest {
 protected:
  ArtifactsTest() {
    EXPECT_TRUE(
        shell_.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"})).ok());
    shell_.Ignore();
  }
  // Ids of the job's checkpoints that are there.
  std::vector<std::string> Available(const std::string& job) {
    std::vector<std::string> ids;
    for (const auto& [key, checkpoint] :
         shell_.state().jobs.at(job).checkpoints) {
      if (checkpoint->state() == checkpoints::v1::Checkpoint::AVAILABLE) {
        ids.push_back(CheckpointId(key));
      }
    }
    return ids;
  }
};

TEST_F(ArtifactsTest, ACheckpointOfAnotherAttemptIsRefusedWithAWarning) {
  Submit(JobBuilder("a"));
  ObservedAttempt observed = AttemptBuilder("a", 1).Running().Checkpoint(1, 5);
  observed.mutable_records(0)->mutable_checkpoint()->set_id("5-2");
  shell_.Observe("w", {observed});
  shell_.Ignore();
  EXPECT_THAT(Available("a"), IsEmpty());
  EXPECT_EQ(shell_.Counted(Count::What::kCheckpoint, "refused"), 1);
  EXPECT_THAT(shell_.job("a").attempts(0).warnings(0), HasSubstr("5-2"));
}

TEST_F(ArtifactsTest, OnlyTheNewestStay) {
  Submit(JobBuilder("a").Keep(2));
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(1, 5)
                           .Checkpoint(2, 100)
                           .Checkpoint(3, 20)});
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/5-1"));
  shell_.Ignore();
  EXPECT_THAT(Available("a"), ElementsAre("20-1", "100-1"));
}

// An attempt that passed over a damaged checkpoint and went back behind it must
// not lose what it writes to the damaged one's larger step.
TEST_F(ArtifactsTest, ALaterAttemptAtASmallerStepIsNewer) {
  Submit(JobBuilder("a").Keep(1));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 40)});
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 1).Checkpoint(1, 40).Exited(1)});
  shell_.Ignore();
  shell_.Advance(absl::Seconds(5));
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 2).Running().Checkpoint(1, 20)});
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/40-1"));
  shell_.Ignore();
  EXPECT_THAT(Available("a"), ElementsAre("20-2"));
  EXPECT_EQ(NewestCheckpoint(shell_.state().jobs.at("a"))->step(), 20);
}

TEST_F(ArtifactsTest, WhatALiveJobNamesStaysUntilThatJobEnds) {
  Submit(JobBuilder("a").Keep(1));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5)});
  shell_.Ignore();
  Submit(JobBuilder("b").Device("cuda").StartFrom("jobs/a"));
  Submit(JobBuilder("c").Device("cuda").Evaluates({"jobs/a/checkpoints/5-1"}));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(2, 10)});
  shell_.Ignore();
  EXPECT_THAT(Available("a"), ElementsAre("5-1", "10-1"));
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  EXPECT_THAT(shell_.TakeRemoved(), IsEmpty());
  ORDO_ASSERT_OK(shell_.CancelJob("c"));
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/5-1"));
}

TEST_F(ArtifactsTest, OnlyTheNewestKeepTheOptimizersState) {
  Submit(JobBuilder("a").Keep(3).KeepOptimizer(1));
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(1, 5)
                           .Checkpoint(2, 10)
                           .Checkpoint(3, 20)});
  EXPECT_THAT(shell_.TakeRemoved(),
              ElementsAre("a/5-1/optimizer.safetensors",
                          "a/10-1/optimizer.safetensors"));
  shell_.Ignore();
  EXPECT_THAT(Available("a"), ElementsAre("5-1", "10-1", "20-1"));
  EXPECT_EQ(shell_.Counted(Count::What::kCheckpoint, "thinned"), 2);
  for (const auto& [key, checkpoint] :
       shell_.state().jobs.at("a").checkpoints) {
    EXPECT_EQ(checkpoint->has_thin_time(), key.second < 20);
    EXPECT_EQ(HasOptimizer(*checkpoint), key.second == 20);
  }
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(4, 30)});
  EXPECT_THAT(shell_.TakeRemoved(),
              ElementsAre("a/20-1/optimizer.safetensors", "a/5-1"));
  shell_.Ignore();
}

TEST_F(ArtifactsTest, WhatALiveJobNamesStaysWholeUntilThatJobEnds) {
  Submit(JobBuilder("a").KeepOptimizer(1));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5)});
  shell_.Ignore();
  Submit(JobBuilder("b").Device("cuda").StartFrom("jobs/a"));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(2, 10)});
  EXPECT_THAT(shell_.TakeRemoved(), IsEmpty());
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/5-1/optimizer.safetensors"));
}

TEST_F(ArtifactsTest, TheBestStaysBesideTheNewest) {
  Submit(JobBuilder("a").Keep(1).EvaluatesItself("held"));
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(1, 5)
                           .Score(2, "held", 5, 0.75)
                           .Checkpoint(3, 10)
                           .Score(4, "held", 10, 0.5)
                           .Checkpoint(5, 20)});
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/10-1"));
  shell_.Ignore();
  EXPECT_THAT(Available("a"), ElementsAre("5-1", "20-1"));
  // Until another is the best.
  shell_.Observe("w",
                 {AttemptBuilder("a", 1).Running().Score(6, "held", 20, 1)});
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/5-1"));
  shell_.Ignore();
  EXPECT_THAT(Available("a"), ElementsAre("20-1"));
}

TEST_F(ArtifactsTest, TheBestIsThinnedUnlessAJobNeedsItAsThat) {
  Submit(JobBuilder("a").Keep(1).KeepOptimizer(1).EvaluatesItself("held"));
  Submit(JobBuilder("b").Needs("a").StartFrom("jobs/a/checkpoints/best"));
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(1, 5)
                           .Score(2, "held", 5, 0.75)
                           .Checkpoint(3, 10)});
  EXPECT_THAT(shell_.TakeRemoved(), IsEmpty());
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/5-1/optimizer.safetensors"));
  shell_.Ignore();
  EXPECT_THAT(Available("a"), ElementsAre("5-1", "10-1"));
}

TEST_F(ArtifactsTest, AReportIsRegisteredOnceByTheFirstAttemptThatWroteIt) {
  Submit(JobBuilder("a"));
  ObservedAttempt observed =
      AttemptBuilder("a", 1).Running().Report(1, "grid-5");
  observed.mutable_records(0)->mutable_report()->set_checkpoint("5-1");
  observed.mutable_records(0)->mutable_report()->set_task_version(2);
  shell_.Observe("w", {observed});
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Exited(10)});
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 2).Running().Report(1, "grid-5")});
  shell_.Ignore();
  const auto& reports = shell_.state().jobs.at("a").reports;
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports.at("grid-5")->attempt(), 1);
  EXPECT_EQ(reports.at("grid-5")->checkpoint(), "jobs/a/checkpoints/5-1");
  EXPECT_EQ(reports.at("grid-5")->task_version(), 2);
}

TEST_F(ArtifactsTest, AReportOutsideItsFolderIsRefused) {
  Submit(JobBuilder("a"));
  for (const char* id : {"../../b", "x", ""}) {
    ObservedAttempt observed = AttemptBuilder("a", 1).Running().Report(1, id);
    observed.mutable_records(0)->mutable_report()->set_folder("../elsewhere");
    observed.mutable_records(0)->set_number(
        shell_.state().jobs.at("a").job->version + 10);
    shell_.Observe("w", {observed});
    shell_.Ignore();
  }
  EXPECT_TRUE(shell_.state().jobs.at("a").reports.empty());
  EXPECT_EQ(shell_.Counted(Count::What::kReport, "refused"), 3);
}

TEST_F(ArtifactsTest, WarningsAreKeptUpToALimit) {
  Submit(JobBuilder("a"));
  AttemptBuilder attempt("a", 1);
  attempt.Running();
  for (int i = 1; i <= kMaxWarnings + 5; ++i) attempt.Warning(i, "careful");
  shell_.Observe("w", {attempt});
  shell_.Ignore();
  EXPECT_EQ(shell_.job("a").attempts(0).warnings_size(), kMaxWarnings);
}

TEST_F(ArtifactsTest, ACheckpointThatCouldNotBeWrittenIsAWarning) {
  Submit(JobBuilder("a"));
  ObservedAttempt observed = AttemptBuilder("a", 1).Running().Warning(1, "");
  observed.mutable_records(0)->mutable_checkpoint_failed()->set_step(7);
  observed.mutable_records(0)->mutable_checkpoint_failed()->set_message(
      "disk full");
  shell_.Observe("w", {observed});
  shell_.Ignore();
  EXPECT_EQ(shell_.job("a").attempts(0).warnings(0),
            "the checkpoint at step 7 could not be written: disk full; the run "
            "goes on and tries again; if the disk is full, free space under "
            "the storage root");
  EXPECT_EQ(shell_.Counted(Count::What::kCheckpoint, "failed"), 1);
}

TEST_F(ArtifactsTest, ACheckpointKnowsTheDataUpToIt) {
  Submit(JobBuilder("a"));
  ObservedAttempt observed = AttemptBuilder("a", 1).Running().Checkpoint(1, 5);
  auto& written = *observed.mutable_records(0)->mutable_checkpoint();
  written.set_data_digest("data");
  written.set_tokens(640);
  Observe(observed);
  shell_.Restart();
  const CheckpointPtr newest = NewestCheckpoint(shell_.state().jobs.at("a"));
  EXPECT_EQ(newest->data_digest(), "data");
  EXPECT_EQ(newest->tokens(), 640);
}

TEST_F(ArtifactsTest, WhatIsFoundOfACheckpointIsCountedWithItsTime) {
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Checkpoint(1, 5));
  shell_.Advance(absl::Seconds(4));
  Observe(AttemptBuilder("a", 1)
              .Running()
              .Checkpoint(1, 5)
              .Score(2, "held", 5, 0.5)
              .Score(3, "wide", 5, 0.5));
  EXPECT_EQ(shell_.Counted(Count::What::kEvaluation, "computed"), 2);
  EXPECT_EQ(shell_.Counted(Count::What::kToVerdict, "evaluation"), 8);
  ObservedAttempt taken =
      AttemptBuilder("a", 1).Running().Checkpoint(1, 5).Score(4, "long", 5,
                                                              0.5);
  taken.mutable_records(1)->mutable_report()->set_taken_from(
      "jobs/b/reports/c");
  Observe(taken);
  EXPECT_EQ(shell_.Counted(Count::What::kEvaluation, "taken"), 1);
}

TEST_F(ArtifactsTest, WhoAsksAboutAnOldCheckpointWaitsSinceThen) {
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Checkpoint(1, 5));
  shell_.JumpWallClock(absl::Hours(48));
  Submit(JobBuilder("b").Evaluates({"jobs/a/checkpoints/5-1"}));
  shell_.Advance(absl::Seconds(4));
  ObservedAttempt evaluated =
      AttemptBuilder("b", 1).Running().Score(1, "held", 5, 0.5);
  evaluated.mutable_records(0)->mutable_report()->set_checkpoint(
      "jobs/a/checkpoints/5-1");
  shell_.Observe(
      "w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5), evaluated});
  shell_.Ignore();
  EXPECT_EQ(shell_.Counted(Count::What::kToVerdict, "evaluation"), 4);
}

TEST_F(ArtifactsTest, AGateIsCountedByItsVerdict) {
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Checkpoint(1, 5));
  shell_.Advance(absl::Seconds(3));
  AttemptBuilder attempt("a", 1);
  attempt.Running().Checkpoint(1, 5);
  for (int i = 0; i < 4; ++i) attempt.Report(2 + i, absl::StrCat("gate", i));
  ObservedAttempt observed = attempt;
  const std::pair<double, double> passed_and_failed[] = {
      {1, 0}, {0, 1}, {0, 0}, {0, 0}};
  for (int i = 0; i < 4; ++i) {
    auto& report = *observed.mutable_records(1 + i)->mutable_report();
    report.set_kind("gate");
    report.set_checkpoint("5-1");
    (*report.mutable_metrics())["passed"] = passed_and_failed[i].first;
    (*report.mutable_metrics())["failed"] = passed_and_failed[i].second;
  }
  Observe(observed);
  EXPECT_EQ(shell_.Counted(Count::What::kVerdict, "pass"), 1);
  EXPECT_EQ(shell_.Counted(Count::What::kVerdict, "fail"), 1);
  EXPECT_EQ(shell_.Counted(Count::What::kVerdict, "inconclusive"), 2);
  EXPECT_EQ(shell_.Counted(Count::What::kToVerdict, "gate"), 12);
  EXPECT_EQ(shell_.Counted(Count::What::kEvaluation, "computed"), 0);
}

TEST_F(ArtifactsTest, TheBytesOfACheckpointAreCounted) {
  Submit(JobBuilder("a"));
  ObservedAttempt observed = AttemptBuilder("a", 1).Running().Checkpoint(1, 5);
  auto& written = *observed.mutable_records(0)->mutable_checkpoint();
  written.mutable_files(0)->set_size_bytes(1000);
  written.mutable_files(1)->set_size_bytes(24);
  Observe(observed);
  EXPECT_EQ(shell_.Counted(Count::What::kCheckpointBytes), 1024);
}

TEST_F(ArtifactsTest, AReportIsOfTheKindThatItSays) {
  Submit(JobBuilder("a"));
  ObservedAttempt observed = AttemptBuilder("a", 1)
                                 .Running()
                                 .Report(1, "a")
                                 .Report(2, "b")
                                 .Report(3, "c")
                                 .Report(4, "d")
                                 .Report(5, "e");
  const char* kinds[] = {"sweep", "comparison", "pipeline", "evaluation",
                         "gate"};
  for (int i = 0; i < 5; ++i) {
    observed.mutable_records(i)->mutable_report()->set_kind(kinds[i]);
  }
  Observe(observed);
  const auto& reports = shell_.state().jobs.at("a").reports;
  EXPECT_EQ(reports.at("a")->kind(), reports::v1::Report::SWEEP);
  EXPECT_EQ(reports.at("b")->kind(), reports::v1::Report::COMPARISON);
  EXPECT_EQ(reports.at("c")->kind(), reports::v1::Report::PIPELINE);
  EXPECT_EQ(reports.at("d")->kind(), reports::v1::Report::EVALUATION);
  EXPECT_EQ(reports.at("e")->kind(), reports::v1::Report::GATE);
}

}  // namespace
}  // namespace ordo::scheduler::core

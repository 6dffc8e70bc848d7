#include "scheduler/core/summarize.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"
#include "scheduler/core/testing/fragile_source.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using base::testing::StatusIs;
using jobs::v1::Job;
using ::testing::AllOf;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using testing::JobBuilder;
using ::testing::Not;
using ::testing::StartsWith;
using testing::StoreSpecOf;
using training::v1::PartResult;
using training::v1::SummarizeSpec;

// Sweep s of two runs, s-0 and s-1, of which the first runs.
class SummarizeTest : public CoreTest {
 protected:
  void SetUp() override {
    StartWorker();
    NewJob part = JobBuilder("s-0").PartOf("s", "x=1");
    part.OwnSpec().mutable_training()->set_seed(7);
    part.OwnSpec().add_evaluations()->set_task("addition_grid");
    ORDO_ASSERT_OK(shell_.Submit({part, JobBuilder("s-1").PartOf("s", "x=2"),
                                  JobBuilder("s").Sweeps({"s-0", "s-1"})}));
    shell_.Ignore();
  }

  ObservedAttempt FirstPart() {
    ObservedAttempt part = AttemptBuilder("s-0", 1)
                               .Running()
                               .Checkpoint(1, 10)
                               .Report(2, "addition_grid-10")
                               .Exited(0);
    part.mutable_started()->set_build_digest("build");
    part.mutable_started()->mutable_control()->set_initial_digest("initial");
    auto& checkpoint = *part.mutable_records(0)->mutable_checkpoint();
    checkpoint.set_data_digest("data");
    checkpoint.set_tokens(640);
    auto& report = *part.mutable_records(1)->mutable_report();
    report.set_task("addition_grid");
    report.set_step(10);
    (*report.mutable_metrics())["accuracy"] = 0.5;
    report.set_checkpoint("10-1");
    return part;
  }

  // It has the device while the first waits to be tried again.
  void FinishSecondPart() {
    shell_.Advance(absl::Seconds(2));
    shell_.Ignore();
    Observe(AttemptBuilder("s-1", 1).Running().Exited(0));
  }

  SummarizeSpec TaskOf(const std::string& job) {
    SummarizeSpec task;
    ORDO_EXPECT_OK(
        SetSummarizeTask(shell_.state(), shell_.state().jobs.at(job), &task));
    return task;
  }
};

TEST_F(SummarizeTest, TheTaskIsWhatIsKnownOfEachPart) {
  Observe(FirstPart());
  shell_.Observe("w", {AttemptBuilder("s-1", 1).Exited(2)});
  const agent::v1::SetDesiredRequest desired = shell_.TakeDesired("w");
  shell_.Ignore();
  ASSERT_TRUE(desired.attempts(0).has_summarize());
  const SummarizeSpec& task = desired.attempts(0).summarize();
  EXPECT_EQ(task.job(), "s");
  EXPECT_EQ(task.attempt(), 1);
  EXPECT_EQ(task.kind(), "sweep");
  EXPECT_FALSE(task.has_comparison());
  ASSERT_EQ(task.parts_size(), 2);
  const PartResult& part = task.parts(0);
  EXPECT_EQ(part.job(), "s-0");
  EXPECT_EQ(part.part(), "x=1");
  EXPECT_EQ(part.seed(), 7u);
  EXPECT_EQ(part.state(), "SUCCEEDED");
  EXPECT_EQ(part.build_digest(), "build");
  EXPECT_EQ(part.control().initial_digest(), "initial");
  EXPECT_TRUE(part.exact());
  EXPECT_EQ(part.attempts(), 1);
  EXPECT_EQ(part.checkpoint().name(), "jobs/s-0/checkpoints/10-1");
  EXPECT_EQ(part.checkpoint().manifest_sha256(), "sha-10-1");
  EXPECT_EQ(part.data_digest(), "data");
  EXPECT_EQ(part.tokens(), 640);
  ASSERT_EQ(part.reports_size(), 1);
  const PartResult::Report& report = part.reports(0);
  EXPECT_EQ(report.evaluation(), "addition_grid");
  EXPECT_EQ(report.task(), "addition_grid");
  EXPECT_EQ(report.step(), 10);
  EXPECT_EQ(report.path(), "jobs/s-0/results/addition_grid-10-1");
  EXPECT_EQ(report.metrics().at("accuracy"), 0.5);
  EXPECT_EQ(report.checkpoint(), "jobs/s-0/checkpoints/10-1");
  EXPECT_EQ(report.checkpoint_sha256(), "sha-10-1");
  EXPECT_EQ(task.parts(1).state(), "FAILED");
  EXPECT_EQ(task.parts(1).reason(), reason::kBadSpec);
  EXPECT_FALSE(task.parts(1).has_control());
  EXPECT_FALSE(task.parts(1).exact());
}

TEST_F(SummarizeTest, APartIsAsBeforeAfterARestart) {
  Observe(FirstPart());
  ORDO_ASSERT_OK(shell_.CancelJob("s-1"));
  shell_.Ignore();
  const SummarizeSpec before = TaskOf("s");
  shell_.Restart();
  const SummarizeSpec after = TaskOf("s");
  ASSERT_EQ(after.parts_size(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(after.parts(i).ShortDebugString(),
              before.parts(i).ShortDebugString());
  }
}

TEST_F(SummarizeTest, DeviceTimeIsOfAllAttemptsAndExactnessOfTheLast) {
  Observe(AttemptBuilder("s-0", 1).Running());
  shell_.Advance(absl::Seconds(3));
  Observe(AttemptBuilder("s-0", 1).Running().Exited(1));
  FinishSecondPart();
  ObservedAttempt second = AttemptBuilder("s-0", 2).Running(10).Exited(0);
  second.mutable_started()->set_exact(false);
  Observe(second);
  ASSERT_EQ(shell_.StateOf("s"), Job::STARTING);
  const SummarizeSpec task = TaskOf("s");
  EXPECT_EQ(task.parts(0).attempts(), 2);
  EXPECT_DOUBLE_EQ(task.parts(0).device_seconds(), 3);
  EXPECT_FALSE(task.parts(0).exact());
  EXPECT_TRUE(task.parts(1).exact());
}

TEST_F(SummarizeTest, AnAttemptThatLeftNothingInTheResultIsNoMatter) {
  Observe(AttemptBuilder("s-0", 1).Running().Checkpoint(1, 5).Exited(1));
  FinishSecondPart();
  ObservedAttempt second = AttemptBuilder("s-0", 2).Running(5).Exited(1);
  second.mutable_started()->set_exact(false);
  second.mutable_started()->set_resumed_from("jobs/s-0/checkpoints/5-1");
  Observe(second);
  shell_.Advance(absl::Seconds(4));
  shell_.Ignore();
  Observe(AttemptBuilder("s-0", 3)
              .Running(5)
              .Checkpoint(1, 10)
              .Report(2, "addition_grid-10")
              .Exited(0));
  EXPECT_EQ(TaskOf("s").parts(0).attempts(), 3);
  EXPECT_TRUE(TaskOf("s").parts(0).exact());
}

TEST_F(SummarizeTest, AReportOfAnInexactAttemptIsOfTheResult) {
  ObservedAttempt first = AttemptBuilder("s-0", 1)
                              .Running()
                              .Report(1, "addition_grid-10")
                              .Exited(1);
  first.mutable_started()->set_exact(false);
  Observe(first);
  FinishSecondPart();
  Observe(AttemptBuilder("s-0", 2).Running().Checkpoint(1, 10).Exited(0));
  EXPECT_FALSE(TaskOf("s").parts(0).exact());
}

TEST_F(SummarizeTest, WhatARunStartedFromIsGivenToIt) {
  ObservedAttempt first = FirstPart();
  first.mutable_started()->set_exact(false);
  first.mutable_started()->set_resumed_from("jobs/other/checkpoints/5-1");
  Observe(first);
  EXPECT_TRUE(TaskOf("s").parts(0).exact());
}

TEST_F(SummarizeTest, AnInexactResumeOfItsOwnIsOfTheResult) {
  ObservedAttempt first = FirstPart();
  first.mutable_started()->set_exact(false);
  first.mutable_started()->set_resumed_from("jobs/s-0/checkpoints/5-0");
  Observe(first);
  EXPECT_FALSE(TaskOf("s").parts(0).exact());
}

TEST_F(SummarizeTest, AFailedPartIsNoReasonToTryAgain) {
  Observe(FirstPart());
  Observe(AttemptBuilder("s-1", 1).Exited(2));
  Observe(AttemptBuilder("s", 1)
              .Running()
              .Report(1, "sweep")
              .Exited(training::v1::PART_FAILED));
  EXPECT_EQ(shell_.StateOf("s"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("s"), reason::kPartFailed);
  EXPECT_EQ(shell_.state().jobs.at("s").reports.count("sweep"), 1u);
}

TEST_F(SummarizeTest, AComparisonSaysWhatItAsksFor) {
  NewJob compare = JobBuilder("c").Sweeps({"c-0"});
  compare.OwnSpec().set_kind(jobs::v1::JobSpec::COMPARE);
  compare.OwnSpec().clear_sweep();
  jobs::v1::Compare& asked = *compare.OwnSpec().mutable_compare();
  asked.set_baseline("rope");
  asked.set_confidence(0.9);
  asked.add_differs("encoding");
  ORDO_ASSERT_OK(
      shell_.Submit({JobBuilder("c-0").PartOf("c", "rope"), compare}));
  shell_.Ignore();
  const SummarizeSpec task = TaskOf("c");
  EXPECT_EQ(task.kind(), "comparison");
  EXPECT_EQ(task.comparison().baseline(), "rope");
  EXPECT_EQ(task.comparison().confidence(), 0.9);
  EXPECT_EQ(task.comparison().differs(0), "encoding");
}

TEST_F(SummarizeTest, TrialsNameTheirArmAndRunsTheTrialThatTheyFollow) {
  Observe(AttemptBuilder("s-0", 1).Running().Exited(0));
  Observe(AttemptBuilder("s-1", 1).Running().Exited(0));
  Observe(AttemptBuilder("s", 1).Running().Exited(0));
  NewJob compare = JobBuilder("c").Sweeps({"c-t0", "c-t1", "c-s1"});
  compare.OwnSpec().set_kind(jobs::v1::JobSpec::COMPARE);
  compare.OwnSpec().clear_sweep();
  jobs::v1::Tune& tune = *compare.OwnSpec().mutable_compare()->mutable_tune();
  tune.mutable_evaluation()->set_name("held");
  tune.set_metric("score");
  tune.set_goal("max");
  ORDO_ASSERT_OK(shell_.Submit(
      {JobBuilder("c-t0").PartOf("c", "rope, first"),
       JobBuilder("c-t1").PartOf("c", "rope, second"),
       JobBuilder("c-s1").PartOf("c", "rope").TunedBy({"c-t0", "c-t1"}),
       compare}));
  shell_.Ignore();
  Observe(AttemptBuilder("c-t0", 1)
              .Running()
              .Score(1, "held", 100, 0.25)
              .Exited(0));
  Observe(
      AttemptBuilder("c-t1", 1).Running().Score(1, "held", 100, 0.5).Exited(0));
  const SummarizeSpec task = TaskOf("c");
  EXPECT_EQ(task.comparison().tuning().evaluation(), "held");
  EXPECT_EQ(task.comparison().tuning().metric(), "score");
  EXPECT_EQ(task.comparison().tuning().goal(), "max");
  EXPECT_EQ(task.parts(0).trial_of(), "rope");
  EXPECT_EQ(task.parts(1).trial_of(), "rope");
  EXPECT_EQ(task.parts(1).tuned_from(), "");
  EXPECT_EQ(task.parts(2).trial_of(), "");
  EXPECT_EQ(task.parts(2).tuned_from(), "c-t1");
}

TEST_F(SummarizeTest, RunsOfOneSeedSayUpToWhereTheirDataCanBeCompared) {
  Observe(AttemptBuilder("s-0", 1).Running().Exited(0));
  Observe(AttemptBuilder("s-1", 1).Running().Exited(0));
  Observe(AttemptBuilder("s", 1).Running().Exited(0));
  NewJob compare = JobBuilder("c").Sweeps({"c-a", "c-b"});
  compare.OwnSpec().set_kind(jobs::v1::JobSpec::COMPARE);
  compare.OwnSpec().clear_sweep();
  compare.OwnSpec().mutable_compare()->set_budget("flops");
  ORDO_ASSERT_OK(shell_.Submit({JobBuilder("c-a").PartOf("c", "a").Keep(1),
                                JobBuilder("c-b").PartOf("c", "b"), compare}));
  shell_.Ignore();
  const auto run = [this](const std::string& job,
                          const std::vector<int64_t>& steps) {
    AttemptBuilder builder(job, 1);
    builder.Running();
    int64_t number = 0;
    for (const int64_t step : steps) builder.Checkpoint(++number, step);
    if (job == "c-a") builder.ExitedAfter(0.5);
    ObservedAttempt observed = builder.Exited(0);
    for (auto& record : *observed.mutable_records()) {
      record.mutable_checkpoint()->set_data_digest(
          absl::StrCat("data-", record.checkpoint().step()));
    }
    Observe(observed);
  };
  run("c-a", {10, 20, 30, 32});
  run("c-b", {10, 20, 25});
  const SummarizeSpec task = TaskOf("c");
  EXPECT_EQ(task.comparison().budget(), "flops");
  EXPECT_EQ(task.parts(0).step_device_seconds(), 0.5);
  EXPECT_EQ(task.parts(1).step_device_seconds(), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(task.parts(i).common_step(), 20);
    EXPECT_EQ(task.parts(i).common_data_digest(), "data-20");
  }
}

TEST_F(SummarizeTest, WithABudgetOfSecondsPartsSayHowLongAStepTook) {
  Observe(AttemptBuilder("s-0", 1).Running().Exited(0));
  Observe(AttemptBuilder("s-1", 1).Running().Exited(0));
  Observe(AttemptBuilder("s", 1).Running().Exited(0));
  NewJob compare = JobBuilder("c").Sweeps({"c-a-p", "c-b-p", "c-a", "c-b"});
  compare.OwnSpec().set_kind(jobs::v1::JobSpec::COMPARE);
  compare.OwnSpec().clear_sweep();
  compare.OwnSpec().mutable_compare()->set_baseline("a");
  compare.OwnSpec().mutable_compare()->set_budget("device_seconds");
  ORDO_ASSERT_OK(shell_.Submit(
      {JobBuilder("c-a-p").PartOf("c", "a, pace"),
       JobBuilder("c-b-p").PartOf("c", "b, pace"),
       JobBuilder("c-a").PartOf("c", "a"),
       JobBuilder("c-b").PartOf("c", "b").PacedBy("c-b-p", "c-a-p"), compare}));
  shell_.Ignore();
  double seconds = 0;
  for (const char* job : {"c-a-p", "c-b-p", "c-a", "c-b"}) {
    seconds += 0.25;
    Observe(AttemptBuilder(job, 1).Running().ExitedAfter(seconds));
  }
  const SummarizeSpec task = TaskOf("c");
  EXPECT_EQ(task.comparison().budget(), "device_seconds");
  EXPECT_EQ(task.parts(0).pace_of(), "a");
  EXPECT_EQ(task.parts(1).pace_of(), "b");
  EXPECT_EQ(task.parts(2).pace_of(), "");
  EXPECT_EQ(task.parts(3).pace_of(), "");
  EXPECT_EQ(task.parts(3).step_device_seconds(), 1);
}

TEST_F(SummarizeTest, OfTooManyReportsTheOldestAreLeftOutAndCounted) {
  AttemptBuilder builder("s-0", 1);
  builder.Running();
  constexpr int kReports = 40;
  for (int i = 0; i < kReports; ++i) {
    builder.Report(i + 1, absl::StrCat("addition_grid-", i));
  }
  ObservedAttempt observed = builder;
  for (int i = 0; i < kReports; ++i) {
    auto& report = *observed.mutable_records(i)->mutable_report();
    report.set_step(i);
    (*report.mutable_metrics())[std::string(100'000, 'x')] = 1;
  }
  Observe(observed);
  const SummarizeSpec task = TaskOf("s");
  const PartResult& part = task.parts(0);
  ASSERT_GT(part.reports_size(), 15);
  ASSERT_LT(part.reports_size(), 25);
  EXPECT_LT(task.ByteSizeLong(), kMaxSummaryReportBytes + 100'000);
  EXPECT_EQ(part.reports(part.reports_size() - 1).step(), kReports - 1);
  EXPECT_EQ(part.reports(0).step(), kReports - part.reports_size());
  EXPECT_THAT(part.message(),
              HasSubstr(absl::StrCat("its ", kReports - part.reports_size(),
                                     " oldest reports are left out")));
}

TEST_F(SummarizeTest, LongLabelsAndMessagesAreCut) {
  const std::string long_text(10'000, 'x');
  ORDO_ASSERT_OK(shell_.Submit({JobBuilder("t-0").PartOf("t", long_text),
                                JobBuilder("t").Sweeps({"t-0"})}));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.CancelJob("t-0", long_text));
  shell_.Ignore();
  const PartResult part = TaskOf("t").parts(0);
  EXPECT_EQ(part.part().size(), kMaxSummaryLabelBytes);
  EXPECT_EQ(part.message().size(), kMaxSummaryMessageBytes);
}

TEST_F(SummarizeTest, APartWhoseSpecIsDamagedIsSummedUpWithoutItsSeed) {
  Observe(FirstPart());
  const PartResult whole = TaskOf("s").parts(0);
  ORDO_ASSERT_OK(StoreSpecOf("s-0", shell_.state()));
  const SummarizeSpec task = TaskOf("s");
  ASSERT_EQ(task.parts_size(), 2);
  PartResult part = task.parts(0);
  EXPECT_EQ(part.seed(), 0u);
  EXPECT_THAT(part.message(),
              AllOf(StartsWith(whole.message()), HasSubstr("seed is not known"),
                    HasSubstr("table specs, id 7")));
  part.set_seed(whole.seed());
  part.set_message(whole.message());
  EXPECT_EQ(part.ShortDebugString(), whole.ShortDebugString());
}

TEST_F(SummarizeTest, ASpecThatCannotBeReadNowIsNotTakenForDamaged) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto source,
                            StoreSpecOf("s-0", shell_.state()));
  source->error = absl::UnavailableError("the store is closed");
  SummarizeSpec task;
  EXPECT_THAT(
      SetSummarizeTask(shell_.state(), shell_.state().jobs.at("s"), &task),
      StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(SummarizeTest, ARunOfAComparisonHasTheSeedOfItsName) {
  NewJob compare = JobBuilder("c").Sweeps({"c-rope-s12"});
  compare.OwnSpec().set_kind(jobs::v1::JobSpec::COMPARE);
  compare.OwnSpec().clear_sweep();
  NewJob run = JobBuilder("c-rope-s12").PartOf("c", "rope");
  run.OwnSpec().mutable_training()->set_seed(12);
  ORDO_ASSERT_OK(shell_.Submit({run, compare}));
  shell_.Ignore();
  ORDO_ASSERT_OK(StoreSpecOf("c-rope-s12", shell_.state()));
  const PartResult part = TaskOf("c").parts(0);
  EXPECT_EQ(part.seed(), 12u);
  EXPECT_THAT(part.message(), Not(HasSubstr("damaged")));
}

// As many as services/spec makes.
TEST_F(SummarizeTest, ATaskOfManyPartsFitsASet) {
  constexpr int kParts = 1000;
  const std::string long_text(10'000, 'x');
  std::vector<std::string> parts;
  std::vector<NewJob> jobs;
  for (int i = 0; i < kParts; ++i) {
    parts.push_back(absl::StrCat(std::string(50, 'm'), "-", i));
    jobs.push_back(JobBuilder(parts.back()).PartOf("m", long_text));
  }
  jobs.push_back(JobBuilder("m").Sweeps(parts));
  ORDO_ASSERT_OK(shell_.Submit(jobs));
  shell_.Ignore();
  EXPECT_LT(TaskOf("m").ByteSizeLong() + kParts * kMaxSummaryMessageBytes,
            base::kMaxTasksBytes - kMaxSummaryReportBytes);
}

}  // namespace
}  // namespace ordo::scheduler::core

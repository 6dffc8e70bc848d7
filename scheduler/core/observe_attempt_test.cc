#include "scheduler/core/observe_attempt.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using jobs::v1::Job;
using testing::AttemptBuilder;
using ::testing::ElementsAre;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

class ObserveAttemptTest : public ::testing::Test {
 protected:
  ObserveAttemptTest() {
    EXPECT_TRUE(shell_.Announce(WorkerBuilder("w")).ok());
    shell_.Ignore();
    EXPECT_TRUE(shell_.Submit(JobBuilder("a")).ok());
    shell_.Ignore();
  }

  TestShell shell_;
};

TEST_F(ObserveAttemptTest, TheFirstReportOfTheTrainerIsRecorded) {
  ObservedAttempt observed = AttemptBuilder("a", 1).Running(40);
  observed.mutable_started()->set_build_digest("build");
  observed.mutable_started()->set_resumed_from("jobs/a/checkpoints/40-1");
  observed.mutable_started()->set_state_digest("digest");
  observed.mutable_started()->add_warnings("other threads");
  observed.mutable_started()->mutable_control()->set_initial_digest("initial");
  shell_.Observe("w", {observed});
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.start_step(), 40);
  EXPECT_EQ(attempt.build_digest(), "build");
  EXPECT_EQ(attempt.resumed_from(), "jobs/a/checkpoints/40-1");
  EXPECT_EQ(attempt.start_digest(), "digest");
  EXPECT_TRUE(attempt.exact());
  EXPECT_THAT(attempt.warnings(), ElementsAre("other threads"));
  EXPECT_EQ(attempt.control().initial_digest(), "initial");
}

TEST_F(ObserveAttemptTest, HowItBeginsIsRecordedThoughItReadItsDataBefore) {
  ObservedAttempt observed = AttemptBuilder("a", 1).Running(0);
  observed.clear_started();
  observed.mutable_run_time()->set_seconds(1'700'000'001);
  observed.mutable_evaluation()->set_name("data");
  shell_.Observe("w", {observed});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), jobs::v1::Job::RUNNING);
  observed.mutable_started()->set_start_step(40);
  observed.mutable_started()->set_state_digest("digest");
  observed.mutable_started()->set_exact(true);
  observed.mutable_started()->mutable_control()->set_initial_digest("initial");
  shell_.Observe("w", {observed});
  shell_.Ignore();
  const jobs::v1::Attempt attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.run_time().seconds(), 1'700'000'001);
  EXPECT_EQ(attempt.start_step(), 40);
  EXPECT_EQ(attempt.start_digest(), "digest");
  EXPECT_TRUE(attempt.exact());
  EXPECT_EQ(attempt.control().initial_digest(), "initial");
  // Once.
  observed.mutable_started()->set_start_step(41);
  shell_.Observe("w", {observed});
  EXPECT_EQ(shell_.job("a").attempts(0).start_step(), 40);
}

TEST_F(ObserveAttemptTest, AResumeThatIsNotExactIsRecordedAsSuch) {
  ObservedAttempt observed = AttemptBuilder("a", 1).Running(40);
  observed.mutable_started()->set_exact(false);
  shell_.Observe("w", {observed});
  ASSERT_EQ(shell_.job("a").attempts_size(), 1);
  EXPECT_EQ(shell_.job("a").attempts(0).start_step(), 40);
  EXPECT_FALSE(shell_.job("a").attempts(0).exact());
}

TEST_F(ObserveAttemptTest, TheSameObservationTwiceIsRecordedOnce) {
  const ObservedAttempt observed =
      AttemptBuilder("a", 1).Running().Step(5).Checkpoint(1, 5).Warning(2, "x");
  shell_.Observe("w", {observed});
  shell_.Ignore();
  const int64_t version = shell_.job("a").version();
  shell_.Observe("w", {observed});
  EXPECT_EQ(shell_.job("a").version(), version);
  EXPECT_EQ(shell_.job("a").attempts(0).warnings_size(), 1);
}

TEST_F(ObserveAttemptTest, ProgressIsPublishedAndNotRecorded) {
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Step(5)});
  const int64_t version = shell_.job("a").version();
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Step(6)});
  EXPECT_EQ(shell_.published_progress("a")->step(), 6);
  EXPECT_EQ(shell_.job("a").version(), version);
}

TEST_F(ObserveAttemptTest, ProgressTellsWhenTheNextJobStarts) {
  EXPECT_TRUE(shell_.Submit(JobBuilder("b")).ok());
  shell_.Ignore();
  const auto start = [this] {
    return PlacingOf(shell_.state(), "b", shell_.now())->start;
  };
  const auto observe = [this](int64_t step, double step_seconds) {
    ObservedAttempt observed = AttemptBuilder("a", 1).Running().Step(step);
    observed.mutable_step()->set_step_seconds(step_seconds);
    shell_.Observe("w", {observed});
    shell_.Ignore();
  };
  EXPECT_FALSE(start().has_value());
  observe(10, 2);
  EXPECT_EQ(start(), shell_.now().wall + absl::Seconds(180));
  shell_.Advance(absl::Seconds(3));
  shell_.Ignore();
  EXPECT_EQ(start(), shell_.now().wall + absl::Seconds(177));
  observe(20, 5);
  EXPECT_EQ(start(), shell_.now().wall + absl::Seconds(400));
  // A record that does not know how fast it is says nothing new.
  observe(21, 0);
  EXPECT_EQ(start(), shell_.now().wall + absl::Seconds(400));

  // Not durable: the next record says it again.
  shell_.Restart();
  EXPECT_TRUE(
      shell_.Announce(WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running()))
          .ok());
  shell_.Ignore();
  EXPECT_FALSE(start().has_value());
  observe(30, 1);
  EXPECT_EQ(start(), shell_.now().wall + absl::Seconds(70));
}

TEST_F(ObserveAttemptTest, WhileItEvaluatesTheSameStepsAreLeft) {
  EXPECT_TRUE(shell_.Submit(JobBuilder("b")).ok());
  shell_.Ignore();
  ObservedAttempt observed =
      AttemptBuilder("a", 1).Running().Step(10).Evaluating("e");
  observed.mutable_step()->set_step_seconds(2);
  for (const int64_t done : {1, 2}) {
    shell_.Advance(absl::Seconds(2));
    shell_.Ignore();
    observed.mutable_evaluation()->set_done(done);
    shell_.Observe("w", {observed});
    shell_.Ignore();
    EXPECT_EQ(PlacingOf(shell_.state(), "b", shell_.now())->start,
              shell_.now().wall + absl::Seconds(180));
  }
}

TEST_F(ObserveAttemptTest, DurableRecordsAreAcknowledged) {
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5)});
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).acknowledged_records(), 1);
}

TEST_F(ObserveAttemptTest, AnObservedAttemptIsDesiredWithoutItsTask) {
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5)});
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).task_case(),
            agent::v1::DesiredAttempt::TASK_NOT_SET);
}

TEST_F(ObserveAttemptTest, TheEndIsTakenOnlyWithAllDurableRecords) {
  AttemptBuilder full("a", 1);
  full.Running();
  for (int i = 1; i <= kMaxRecordsObserved; ++i) full.Warning(i, "w");
  shell_.Observe("w", {full.Exited(0)});
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).acknowledged_records(),
            kMaxRecordsObserved);
  shell_.Observe("w", {AttemptBuilder("a", 1)
                           .Running()
                           .Checkpoint(kMaxRecordsObserved + 1, 100)
                           .Exited(0)});
  EXPECT_EQ(shell_.StateOf("a"), Job::SUCCEEDED);
  EXPECT_EQ(shell_.state().jobs.at("a").checkpoints.size(), 1u);
  shell_.Ignore();
}

TEST_F(ObserveAttemptTest, TheFirstStepOfAJobIsMeasuredOnce) {
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Step(1)});
  EXPECT_EQ(shell_.Counted(Count::What::kFirstStep), 2);
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Step(1).Exited(10)});
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 2).Running().Step(2)});
  EXPECT_EQ(shell_.Counted(Count::What::kFirstStep), 2);
}

TEST_F(ObserveAttemptTest, TheEndSaysHowFarItCame) {
  ObservedAttempt observed =
      AttemptBuilder("a", 1).Running().Step(7).Exited(10);
  observed.mutable_finished()->set_step(8);
  observed.mutable_finished()->set_state_digest("end");
  shell_.Observe("w", {observed});
  shell_.Ignore();
  EXPECT_EQ(shell_.job("a").attempts(0).end_step(), 8);
  EXPECT_EQ(shell_.job("a").attempts(0).end_digest(), "end");
}

}  // namespace
}  // namespace ordo::scheduler::core

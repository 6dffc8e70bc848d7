#include "scheduler/core/follow.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/task.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::WorkerBuilder;

// A job "t" trains, and "f" evaluates each of its checkpoints; the worker has a
// device for each.
class FollowTest : public CoreTest {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK(shell_.Announce(Worker()));
    shell_.Ignore();
    Submit(JobBuilder("t").Keep(1));
    Submit(Follower());
  }

  static WorkerBuilder Worker() {
    return WorkerBuilder("w").Devices({"cpu:0", "cpu:1"});
  }

  static NewJob Follower() {
    NewJob job = JobBuilder("f").Evaluates({"jobs/t/checkpoints/every"});
    job.OwnSpec().add_evaluations()->set_task("addition_grid");
    return job;
  }

  // The worker says what it runs; of "t" all records so far, since the first
  // are passed over.
  void Report(const std::vector<ObservedAttempt>& attempts) {
    shell_.Observe("w", attempts);
    shell_.Ignore();
  }

  AttemptBuilder Training(int num_checkpoints) {
    AttemptBuilder training("t", 1);
    training.Running();
    for (int i = 1; i <= num_checkpoints; ++i) training.Checkpoint(i, 10 * i);
    return training;
  }

  // An attempt of "f" that has made reports of these steps.
  static ObservedAttempt Evaluated(int attempt, const std::vector<int>& steps) {
    AttemptBuilder built("f", attempt);
    built.Running();
    int number = 0;
    for (const int step : steps) {
      built.Report(++number, "addition_grid-" + std::to_string(step));
    }
    ObservedAttempt observed = built.Exited(0);
    for (size_t i = 0; i < steps.size(); ++i) {
      observed.mutable_records(static_cast<int>(i))
          ->mutable_report()
          ->set_step(steps[i]);
    }
    return observed;
  }

  const JobEntry& Entry(const std::string& job) {
    return shell_.state().jobs.at(job);
  }
  // Of the newest attempt of "f".
  std::vector<std::string> TaskOfFollower() {
    training::v1::EvaluateSpec task;
    ORDO_EXPECT_OK(SetEvaluateTask(shell_.state(), Entry("f"), &task));
    std::vector<std::string> names;
    for (const auto& source : task.checkpoints())
      names.push_back(source.name());
    return names;
  }
  absl::Status Delete(const std::string& checkpoint) {
    return shell_
        .Change(ChangeCheckpoint{
            0, CheckpointVerb::kDelete, "jobs/t/checkpoints/" + checkpoint, {}})
        .status();
  }
  std::vector<std::string> Available() {
    std::vector<std::string> ids;
    for (const auto& [key, checkpoint] : Entry("t").checkpoints) {
      if (checkpoint->state() == checkpoints::v1::Checkpoint::AVAILABLE) {
        ids.push_back(CheckpointId(key));
      }
    }
    return ids;
  }
};

TEST_F(FollowTest, ItWaitsForTheFirstCheckpoint) {
  EXPECT_EQ(shell_.StateOf("f"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("f"), reason::kWaitingForCheckpoint);
  const auto placing = PlacingOf(shell_.state(), "f", shell_.now());
  ASSERT_TRUE(placing.has_value());
  EXPECT_EQ(placing->follows, "t");
  const std::vector<workers::v1::Worker> workers;
  const jobs::v1::ExplainResponse explained =
      Explain({shell_.job("f"), workers, shell_.now().wall, {}, placing});
  EXPECT_EQ(explained.blockers(0).reason(), reason::kWaitingForCheckpoint);
  EXPECT_THAT(explained.summary(),
              HasSubstr("every checkpoint that job t has"));
  Report({Training(1)});
  EXPECT_EQ(shell_.StateOf("f"), Job::STARTING);
  EXPECT_THAT(TaskOfFollower(), ElementsAre("jobs/t/checkpoints/10-1"));
}

TEST_F(FollowTest, ItEvaluatesEachOnceAndEndsWithTheOther) {
  Report({Training(1)});
  Report({Training(1), Evaluated(1, {10})});
  EXPECT_EQ(shell_.StateOf("f"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("f"), reason::kWaitingForCheckpoint);
  Report({Training(3)});
  EXPECT_EQ(shell_.StateOf("f"), Job::STARTING);
  EXPECT_THAT(TaskOfFollower(), ElementsAre("jobs/t/checkpoints/20-1",
                                            "jobs/t/checkpoints/30-1"));
  Report({Training(3).Exited(0), Evaluated(2, {20, 30})});
  EXPECT_EQ(shell_.StateOf("t"), Job::SUCCEEDED);
  EXPECT_EQ(shell_.StateOf("f"), Job::SUCCEEDED);
  EXPECT_EQ(Entry("f").reports.size(), 3u);
}

TEST_F(FollowTest, WhereAllIsEvaluatedItEndsByAnAttemptThatFindsNothing) {
  Report({Training(1)});
  Report({Training(1), Evaluated(1, {10})});
  Report({Training(1).Exited(0)});
  ASSERT_EQ(shell_.StateOf("f"), Job::STARTING);
  EXPECT_THAT(TaskOfFollower(), ElementsAre("jobs/t/checkpoints/10-1"));
  Report({Evaluated(2, {})});
  EXPECT_EQ(shell_.StateOf("f"), Job::SUCCEEDED);
}

TEST_F(FollowTest, WhatItHasYetToEvaluateStays) {
  Report({Training(1)});
  Report({Training(3)});
  EXPECT_THAT(Available(), ElementsAre("10-1", "20-1", "30-1"));
  Report({Training(3), Evaluated(1, {10})});
  EXPECT_THAT(Available(), ElementsAre("20-1", "30-1"));
  // The rest of what it alone kept.
  ORDO_ASSERT_OK(shell_.CancelJob("f"));
  shell_.Ignore();
  Report({Training(3),
          AttemptBuilder("f", 2).Running().Ended(ObservedAttempt::KILLED, 9)});
  EXPECT_EQ(shell_.StateOf("f"), Job::CANCELLED);
  EXPECT_THAT(Available(), ElementsAre("30-1"));
}

TEST_F(FollowTest, WhatItHasYetToEvaluateIsNotDeleted) {
  const auto held =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("job f has not ended and needs every one of t"));
  Report({Training(1)});
  Report({Training(2)});
  EXPECT_THAT(Delete("10-1"), held);
  Report({Training(2), Evaluated(1, {10})});
  Report({Training(2), Evaluated(2, {20})});
  // It ends by an attempt that is given the newest once more.
  Report({Training(2).Exited(0)});
  ASSERT_THAT(TaskOfFollower(), ElementsAre("jobs/t/checkpoints/20-1"));
  EXPECT_THAT(Delete("20-1"), held);
  Report({Evaluated(3, {})});
  ASSERT_EQ(shell_.StateOf("f"), Job::SUCCEEDED);
  ORDO_EXPECT_OK(Delete("20-1"));
  shell_.Ignore();
}

TEST_F(FollowTest, WithoutAnyCheckpointItFailsWithTheOther) {
  Report({AttemptBuilder("t", 1).Running().Exited(training::v1::BAD_SPEC)});
  EXPECT_EQ(shell_.StateOf("t"), Job::FAILED);
  EXPECT_EQ(shell_.StateOf("f"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("f"), reason::kNeedFailed);
}

TEST_F(FollowTest, AJobThatFailsIsEvaluatedAsFarAsItCame) {
  Report({Training(1)});
  Report({Training(2).Exited(training::v1::BAD_SPEC), Evaluated(1, {10})});
  EXPECT_EQ(shell_.StateOf("t"), Job::FAILED);
  ASSERT_EQ(shell_.StateOf("f"), Job::STARTING);
  EXPECT_THAT(TaskOfFollower(), ElementsAre("jobs/t/checkpoints/20-1"));
  Report({Evaluated(2, {20})});
  EXPECT_EQ(shell_.StateOf("f"), Job::SUCCEEDED);
}

TEST_F(FollowTest, ARestartChangesNothing) {
  Report({Training(1)});
  Report({Training(1), Evaluated(1, {10})});
  shell_.Restart();
  EXPECT_EQ(shell_.ReasonOf("f"), reason::kWaitingForCheckpoint);
  ORDO_ASSERT_OK(shell_.Announce(Worker().Runs(Training(1))));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("f"), Job::QUEUED);
  Report({Training(2)});
  EXPECT_EQ(shell_.StateOf("f"), Job::STARTING);
  EXPECT_THAT(TaskOfFollower(), ElementsAre("jobs/t/checkpoints/20-1"));
}

TEST_F(FollowTest, AnAttemptThatIsDoneAndLeftNothingCountsAsFailed) {
  Report({Training(1)});
  Report({Training(1), Evaluated(1, {})});
  EXPECT_EQ(shell_.StateOf("f"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("f"), reason::kBackoff);
  EXPECT_EQ(shell_.job("f").failed_attempts(), 1);
}

TEST_F(FollowTest, TheOtherStaysInTheStateAsLongAsItIsFollowed) {
  Report({Training(1)});
  Report({Training(1).Exited(0), AttemptBuilder("f", 1).Running()});
  shell_.Forget({"t"});
  EXPECT_EQ(shell_.state().jobs.count("t"), 1u);
  Report({Evaluated(1, {10})});
  EXPECT_EQ(shell_.StateOf("f"), Job::SUCCEEDED);
  shell_.Forget({"t"});
  EXPECT_EQ(shell_.state().jobs.count("t"), 0u);
}

TEST_F(FollowTest, WhatComesWhileItEvaluatesIsItsToAnswerToo) {
  Report({Training(1)});
  EXPECT_EQ(shell_.state().answering.size(), 1u);
  Report({Training(2), AttemptBuilder("f", 1).Running()});
  EXPECT_EQ(shell_.state().answering.size(), 2u);
  Report({Training(2), Evaluated(1, {10})});
  // Its next attempt is that of the second.
  EXPECT_EQ(shell_.StateOf("f"), Job::STARTING);
  EXPECT_EQ(shell_.state().answering.size(), 1u);
}

TEST_F(FollowTest, AJobThatHasEndedIsEvaluatedAtOnce) {
  Report({Training(2).Exited(0)});
  Report({AttemptBuilder("f", 1).Running()});
  NewJob late = Follower();
  late.name = "g";
  Submit(late);
  shell_.Advance(absl::Milliseconds(1));
  shell_.Ignore();
  // It asks what "f" asks.
  EXPECT_EQ(shell_.ReasonOf("g"), reason::kWaitingForResult);
  NewJob unknown = Follower();
  unknown.name = "h";
  unknown.OwnSpec().set_checkpoints(0, "jobs/u/checkpoints/every");
  EXPECT_THAT(shell_.Submit(unknown),
              StatusIs(absl::StatusCode::kNotFound, ::testing::_));
}

}  // namespace
}  // namespace ordo::scheduler::core

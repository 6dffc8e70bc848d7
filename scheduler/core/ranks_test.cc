#include "scheduler/core/ranks.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::DesiredAttempt;
using agent::v1::ObservedAttempt;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::ElementsAre;
using testing::JobBuilder;
using testing::WorkerBuilder;

// A job "a" of three ranks: 0 and 1 on v, 2 on w.
class RanksTest : public CoreTest {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK(
        shell_.Announce(WorkerBuilder("v").Devices({"cpu:0", "cpu:1"})));
    shell_.Ignore();
    ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
    shell_.Ignore();
  }
  void SubmitGang() { Submit(JobBuilder("a").Ranks(3)); }
  void Observe(const std::string& worker,
               const std::vector<ObservedAttempt>& attempts) {
    shell_.Observe(worker, attempts);
  }
  // What the worker is to do with each rank that is on it.
  std::vector<DesiredAttempt::Action> Actions(const std::string& worker) {
    std::vector<DesiredAttempt::Action> actions;
    const agent::v1::SetDesiredRequest desired = shell_.TakeDesired(worker);
    for (const auto& attempt : desired.attempts()) {
      actions.push_back(attempt.action());
    }
    return actions;
  }
  static AttemptBuilder Rank(int rank) { return {"a", 1, rank}; }
};

TEST_F(RanksTest, EachWorkerIsToldItsRanks) {
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a").Ranks(3)));
  const auto first = shell_.TakeDesired("v");
  ASSERT_EQ(first.attempts_size(), 2);
  EXPECT_EQ(first.attempts(0).rank(), 0);
  EXPECT_EQ(first.attempts(1).rank(), 1);
  EXPECT_THAT(first.attempts(1).devices(), ElementsAre("cpu:1"));
  EXPECT_EQ(first.attempts(1).train().resources().ranks(), 3);
  const auto second = shell_.TakeDesired("w");
  ASSERT_EQ(second.attempts_size(), 1);
  EXPECT_EQ(second.attempts(0).rank(), 2);
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.worker(), "v");
  ASSERT_EQ(attempt.ranks_size(), 3);
  EXPECT_EQ(attempt.ranks(2).worker(), "w");
  EXPECT_EQ(attempt.ranks(2).incarnation(), "w-first");
}

TEST_F(RanksTest, AGangWaitsUntilThereIsRoomForAllOfIt) {
  Submit(JobBuilder("one"));
  SubmitGang();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  shell_.Observe(shell_.job("one").attempts(0).worker(),
                 {AttemptBuilder("one", 1).Running().Exited(0)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(RanksTest, AJobSucceedsWithItsLastRank) {
  SubmitGang();
  Observe("v", {Rank(0).Running().Exited(0), Rank(1).Running()});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  Observe("w", {Rank(2).Running().Exited(0)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  Observe("v", {Rank(1).Running().Exited(0)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::SUCCEEDED);
}

TEST_F(RanksTest, ARankThatIsOverFreesItsDevices) {
  SubmitGang();
  Submit(JobBuilder("b"));
  Observe("w", {Rank(2).Running().Exited(0)});
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).job(), "b");
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(RanksTest, TheFirstRankThatFailsEndsTheAttempt) {
  SubmitGang();
  Observe("w", {Rank(2).Running().Ended(ObservedAttempt::SIGNAL, 11)});
  EXPECT_THAT(Actions("v"),
              ElementsAre(DesiredAttempt::KILL, DesiredAttempt::KILL));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  Observe("v", {Rank(0).Ended(ObservedAttempt::KILLED, 9),
                Rank(1).Ended(ObservedAttempt::KILLED, 9)});
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kBackoff);
  EXPECT_EQ(shell_.job("a").failed_attempts(), 1);
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.reason(), reason::kTrainerKilled);
  EXPECT_EQ(attempt.signal(), 11);
  EXPECT_EQ(attempt.ranks(0).reason(), reason::kPeerLost);
}

TEST_F(RanksTest, TheOthersAreKilledAfterTwoSeconds) {
  SubmitGang();
  Observe("w", {Rank(2).Exited(1)});
  EXPECT_EQ(shell_.TakeDesired("v").attempts(0).grace().seconds(), 2);
  shell_.Ignore();
}

TEST_F(RanksTest, ARankThatMissedAnotherIsNotTheOneToBlame) {
  SubmitGang();
  Observe("w", {Rank(2).Ended(ObservedAttempt::SUPERVISOR_LOST)});
  shell_.Ignore();
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), reason::kWorkerLost);
  Observe("v", {Rank(0).Ended(ObservedAttempt::KILLED), Rank(1).Exited(1)});
  shell_.Ignore();
  // The first that ended badly is.
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), reason::kWorkerLost);
  EXPECT_EQ(shell_.job("a").failed_attempts(), 0);
  EXPECT_EQ(shell_.job("a").interruptions(), 1);
}

TEST_F(RanksTest, ALostWorkerLosesItsRankAndEndsTheAttempt) {
  SubmitGang();
  shell_.Advance(absl::Seconds(9));
  shell_.Ignore();
  Observe("v", {Rank(0).Running(), Rank(1).Running()});
  shell_.Ignore();
  shell_.Advance(absl::Seconds(1));
  EXPECT_THAT(Actions("v"),
              ElementsAre(DesiredAttempt::KILL, DesiredAttempt::KILL));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  Observe("v", {Rank(0).Ended(ObservedAttempt::KILLED),
                Rank(1).Ended(ObservedAttempt::KILLED)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kWorkerLost);
}

TEST_F(RanksTest, ADrainedWorkerStopsAllRanksAndNoneIsKilled) {
  SubmitGang();
  ORDO_ASSERT_OK(
      shell_.Announce(WorkerBuilder("w").Draining().Runs(Rank(2).Running())));
  EXPECT_THAT(Actions("w"), ElementsAre(DesiredAttempt::STOP));
  EXPECT_THAT(Actions("v"),
              ElementsAre(DesiredAttempt::STOP, DesiredAttempt::STOP));
  shell_.Ignore();
  Observe("w", {Rank(2).Running().Exited(10)});
  EXPECT_THAT(Actions("v"),
              ElementsAre(DesiredAttempt::STOP, DesiredAttempt::STOP));
  shell_.Ignore();
  Observe("v", {Rank(0).Running().Checkpoint(1, 5).Exited(10),
                Rank(1).Running().Exited(10)});
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kStopped);
}

TEST_F(RanksTest, ACancelKillsAllRanks) {
  SubmitGang();
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  EXPECT_THAT(Actions("v"),
              ElementsAre(DesiredAttempt::KILL, DesiredAttempt::KILL));
  EXPECT_THAT(Actions("w"), ElementsAre(DesiredAttempt::KILL));
  Observe("v", {Rank(0).Ended(ObservedAttempt::KILLED),
                Rank(1).Ended(ObservedAttempt::KILLED)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::CANCELLING);
  Observe("w", {Rank(2).Ended(ObservedAttempt::KILLED)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::CANCELLED);
}

TEST_F(RanksTest, RankZeroSpeaksForTheAttempt) {
  SubmitGang();
  Observe("w", {Rank(2).Running().Step(9).Checkpoint(1, 9).Warning(2, "hot")});
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).acknowledged_records(), 2);
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_TRUE(shell_.state().jobs.at("a").checkpoints.empty());
  EXPECT_EQ(shell_.Counted(Count::What::kCheckpoint, "refused"), 1);
  EXPECT_THAT(shell_.job("a").attempts(0).warnings(),
              ElementsAre(::testing::HasSubstr("rank 2"), "hot"));
  Observe("v", {Rank(0).Running().Step(9).Checkpoint(1, 9)});
  EXPECT_EQ(shell_.TakeDesired("v").attempts(0).acknowledged_records(), 1);
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  EXPECT_EQ(shell_.state().jobs.at("a").checkpoints.size(), 1u);
}

TEST_F(RanksTest, WhatHasBecomeOfRanksOutlivesARestart) {
  SubmitGang();
  Observe("w", {Rank(2).Running().Exited(1)});
  shell_.Ignore();
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("v")
                                     .Devices({"cpu:0", "cpu:1"})
                                     .Runs(Rank(0).Running())
                                     .Runs(Rank(1).Running())));
  EXPECT_THAT(Actions("v"),
              ElementsAre(DesiredAttempt::KILL, DesiredAttempt::KILL));
  Observe("v", {Rank(0).Ended(ObservedAttempt::KILLED),
                Rank(1).Ended(ObservedAttempt::KILLED)});
  shell_.Ignore();
  EXPECT_EQ(shell_.job("a").failed_attempts(), 1);
}

TEST_F(RanksTest, AWorkerThatWasRestartedKeepsTheRanksItAdopted) {
  SubmitGang();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("v")
                                     .Devices({"cpu:0", "cpu:1"})
                                     .Incarnation("v-second")
                                     .Runs(Rank(0).Running())));
  EXPECT_THAT(Actions("v"), ElementsAre(DesiredAttempt::KILL));
  shell_.Ignore();
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.ranks(0).incarnation(), "v-second");
  EXPECT_EQ(attempt.ranks(1).reason(), reason::kWorkerLost);
}

TEST_F(RanksTest, TheLimitOfRunTimeStopsAllRanks) {
  Submit(JobBuilder("a").Ranks(3).RunTimeLimit(absl::Seconds(5)));
  shell_.Advance(absl::Seconds(5));
  EXPECT_THAT(Actions("v"),
              ElementsAre(DesiredAttempt::STOP, DesiredAttempt::STOP));
  EXPECT_THAT(Actions("w"), ElementsAre(DesiredAttempt::STOP));
  Observe("w", {Rank(2).Running().Exited(10)});
  shell_.Ignore();
  Observe("v", {Rank(0).Running().Exited(10), Rank(1).Running().Exited(10)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kRunTimeLimit);
}

}  // namespace
}  // namespace ordo::scheduler::core

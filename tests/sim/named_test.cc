// What each row of the failure table promises, by the scenario of its name.
// What a random seed found is here too, as a test with that scenario and seed.

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "tests/sim/simulation.h"

namespace ordo::tests::sim {
namespace {

using base::testing::IsOk;

constexpr uint64_t kNumSeeds = 5;

// Of all seeds of a scenario.
struct Totals {
  int num_jobs = 0;
  int num_attempts = 0;
  int num_quarantines = 0;
  int64_t num_lives = 0;
  double longest_gap_seconds = 0;
  double longest_straggle_seconds = 0;
  double longest_first_seconds = 0;
  int num_queues_deleted = 0;
  int num_stopped_early = 0;
  int num_taken = 0;
  int num_began_late = 0;
};

// Runs the scenario of this name; each of its outcomes must be well.
Totals RunScenario(const std::string& name, uint64_t num_seeds = kNumSeeds) {
  Totals totals;
  const auto scenario =
      ReadScenario(absl::StrCat("tests/sim/scenarios/", name, ".textproto"));
  EXPECT_THAT(scenario, IsOk());
  if (!scenario.ok()) return totals;
  EXPECT_EQ(scenario->name(), name);
  for (uint64_t seed = 1; seed <= num_seeds; ++seed) {
    const Outcome outcome = Simulate(seed, *scenario);
    EXPECT_THAT(outcome.status, IsOk()) << Describe(outcome, *scenario);
    EXPECT_GT(outcome.num_jobs, 10);
    totals.num_jobs += outcome.num_jobs;
    totals.num_attempts += outcome.num_attempts;
    totals.num_quarantines += outcome.num_quarantines;
    totals.num_lives += outcome.num_lives;
    totals.longest_gap_seconds =
        std::max(totals.longest_gap_seconds, outcome.longest_gap_seconds);
    totals.longest_straggle_seconds = std::max(
        totals.longest_straggle_seconds, outcome.longest_straggle_seconds);
    totals.longest_first_seconds =
        std::max(totals.longest_first_seconds, outcome.longest_first_seconds);
    totals.num_queues_deleted += outcome.num_queues_deleted;
    totals.num_stopped_early += outcome.num_stopped_early;
    totals.num_taken += outcome.num_taken;
    totals.num_began_late += outcome.num_began_late;
  }
  return totals;
}

TEST(NamedTest, WithoutTroubleEachJobStartsOnce) {
  const Totals totals = RunScenario("calm");
  EXPECT_EQ(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, JobsEndHoweverTheirTrainersFail) {
  const Totals totals = RunScenario("trainer_fails");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

// Lease 10 s, and a second to start elsewhere.
TEST(NamedTest, TasksOfALostWorkerStartElsewhereWithinLeaseAndASecond) {
  const Totals totals = RunScenario("worker_lost");
  EXPECT_GT(totals.longest_gap_seconds, 5);
  EXPECT_LE(totals.longest_gap_seconds, 11);
}

TEST(NamedTest, RunsGoOnWhenAWorkerIsRestarted) {
  const Totals totals = RunScenario("worker_restarted");
  EXPECT_EQ(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, JobsGoOnWithoutTheirSupervisors) {
  const Totals totals = RunScenario("supervisor_killed");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, NothingStartsTwiceWhenTheSchedulerRestarts) {
  const Totals totals = RunScenario("scheduler_restarted");
  EXPECT_GT(totals.num_lives, 10);
  // Some are cancelled while they wait.
  EXPECT_LE(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, AZombieOfAnOlderAttemptChangesNothing) {
  const Totals totals = RunScenario("zombie");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, WordsOfALostWorkerFromBeforeFreeNoDevice) {
  const Totals totals = RunScenario("late_words");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, NorDoTheyWhenTheSchedulerHasRestarted) {
  const Totals totals = RunScenario("late_words_restart");
  EXPECT_GT(totals.num_lives, 10);
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, ADrainedWorkersJobsGoOnElsewhere) {
  const Totals totals = RunScenario("drained");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, ADeviceThatFailsWhatRunsOnItGetsNoMore) {
  const Totals totals = RunScenario("device_fails");
  EXPECT_GT(totals.num_quarantines, 3);
  // It would have failed many more.
  EXPECT_LT(totals.num_attempts, 2 * totals.num_jobs);
}

TEST(NamedTest, NothingAcknowledgedIsLostWhenTheStoreFails) {
  const Totals totals = RunScenario("store_fails");
  EXPECT_GT(totals.num_lives, 5);
  EXPECT_LE(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, JobsGoOnAndLeaveWhenTheStoreIsFull) {
  const Totals totals = RunScenario("store_full");
  EXPECT_EQ(totals.num_lives, static_cast<int64_t>(kNumSeeds));
  EXPECT_LE(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, TrainingGoesOnWhenTheStorageIsFull) {
  const Totals totals = RunScenario("storage_full");
  EXPECT_GE(totals.num_attempts, totals.num_jobs);
  // How these began is known (Oracle).
  EXPECT_GT(totals.num_began_late, 10);
}

// Of an attempt of which a rank failed.
TEST(NamedTest, TheOtherRanksEndWithinFiveSeconds) {
  const Totals totals = RunScenario("gang_rank_fails");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
  EXPECT_GT(totals.longest_straggle_seconds, 1);
  EXPECT_LE(totals.longest_straggle_seconds, 5);
}

TEST(NamedTest, NeedsHoldsAndLimitsOutliveTheScheduler) {
  const Totals totals = RunScenario("needs_and_limits");
  EXPECT_GT(totals.num_lives, 10);
}

TEST(NamedTest, WhatIsAskedIsEvaluatedOnceWhateverDies) {
  const Totals totals = RunScenario("questions");
  EXPECT_GT(totals.num_lives, 10);
  EXPECT_GT(totals.num_taken, 10);
}

TEST(NamedTest, EveryJobEndsHoweverOftenItIsPreempted) {
  const Totals totals = RunScenario("preemption_storm");
  EXPECT_GT(totals.num_attempts, totals.num_jobs + 20);
}

TEST(NamedTest, QueuesTakeBackWhatTheyAreGuaranteed) {
  const Totals totals = RunScenario("quotas");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

// Seed 35 is one in which both happen in one round.
TEST(NamedTest, AQueueTakesBackWhatAnotherTakesFromItsOwnJobs) {
  const Totals totals = RunScenario("reclaimed_and_overtaken", 35);
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, WhatQueuesMayHaveCountsFromTheNextStartOn) {
  const Totals totals = RunScenario("queues_changed");
  EXPECT_GT(totals.num_attempts, totals.num_jobs);
}

TEST(NamedTest, QueuesComeAndGoWhileJobsRun) {
  const Totals totals = RunScenario("queues_made");
  EXPECT_GT(totals.num_lives, 10);
  EXPECT_GT(totals.num_queues_deleted, 10);
}

TEST(NamedTest, WhatIsNamedStaysThroughKillsOfTheScheduler) {
  const Totals totals = RunScenario("names");
  EXPECT_GT(totals.num_lives, 10);
  EXPECT_GT(totals.num_attempts, totals.num_jobs / 2);
}

// The scenario has the bound; some must come near enough to have room kept.
TEST(NamedTest, ALargeJobIsNotStarvedBySmallOnesOfAHigherPriority) {
  const Totals totals = RunScenario("starvation");
  EXPECT_EQ(totals.num_attempts, totals.num_jobs);
  EXPECT_GT(totals.longest_first_seconds, 4);
  EXPECT_LE(totals.longest_first_seconds, 27);
}

TEST(NamedTest, NorWhileItsWorkersAreToBeDrainedMuchLater) {
  const Totals totals = RunScenario("starvation_before_drain");
  EXPECT_EQ(totals.num_attempts, totals.num_jobs);
  EXPECT_GT(totals.longest_first_seconds, 4);
  EXPECT_LE(totals.longest_first_seconds, 27);
}

// As above, of each of several queues.
TEST(NamedTest, NoQueueIsStarvedByOthersThatWantAllThereIs) {
  const Totals totals = RunScenario("fair_shares");
  // Most are cancelled while they wait.
  EXPECT_LE(totals.num_attempts, totals.num_jobs);
  EXPECT_GT(totals.longest_first_seconds, 4);
  EXPECT_LE(totals.longest_first_seconds, 45);
}

TEST(NamedTest, PartsThatAreBehindAreStoppedEarlyHoweverOftenAllRestarts) {
  const Totals totals = RunScenario("stopped_early");
  EXPECT_GT(totals.num_lives, 10);
  EXPECT_GT(totals.num_stopped_early, 10);
}

TEST(NamedTest, ClocksThatJumpBreakNothing) {
  const Totals totals = RunScenario("clock_jumps");
  EXPECT_EQ(totals.num_attempts, totals.num_jobs);
}

}  // namespace
}  // namespace ordo::tests::sim

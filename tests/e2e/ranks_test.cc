// Jobs of several ranks with the real trainer, on a worker of two devices and
// on two workers of one.
#include <optional>
#include <signal.h>
#include <string>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Attempt;
using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// When one rank fails, the others are gone after this.
constexpr absl::Duration kEndOfOthers = absl::Seconds(5);

class RanksTest : public Scenario {
 protected:
  void StartHolding(const std::string& held_at) {
    harness::DeploymentOptions options = RealOptions(held_at);
    options.worker.add_devices("cpu:0");
    options.worker.add_devices("cpu:1");
    Start(options);
  }
  void StartTwoHolding(const std::string& held_at) {
    harness::DeploymentOptions options = RealOptions(held_at);
    options.num_workers = 2;
    options.worker.add_devices("cpu:0");
    Start(options);
  }

  static JobSpec SpecOf(const std::string& name, int ranks) {
    JobSpec spec = Spec(name);
    // One recipe for one rank and for two.
    spec.mutable_training()->set_micro_batch_size(2);
    spec.mutable_resources()->set_ranks(ranks);
    return spec;
  }
  static JobSpec EndlessSpec() {
    JobSpec spec = SpecOf("job", 2);
    spec.mutable_training()->set_steps(100'000'000);
    return spec;
  }

  // The trainer of a rank of the job named "job", if it runs.
  std::optional<base::ProcessId> TrainerOf(int attempt, int rank) const {
    const std::string task =
        absl::StrCat(JobFolder("job"), "/attempts/", attempt, "/task",
                     rank == 0 ? "" : absl::StrCat("-", rank), ".json");
    for (const base::RunningProcess& process : ProcessesOf("job")) {
      if (absl::StartsWith(process.command_line, trainer_) &&
          absl::StrContains(process.command_line, task)) {
        return process.id;
      }
    }
    return std::nullopt;
  }
};

TEST_F(RanksTest, TwoTrainWhatOneTrains) {
  StartHolding("never");
  Submit(SpecOf("one", 1));
  Submit(SpecOf("job", 2));
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_TRUE(WaitForState("one", Job::SUCCEEDED).has_value());
  ASSERT_EQ(job->attempts_size(), 1);
  ASSERT_EQ(job->attempts(0).ranks_size(), 2);
  for (int rank = 0; rank < 2; ++rank) {
    const Attempt::Rank& seen = job->attempts(0).ranks(rank);
    EXPECT_EQ(seen.worker(), "worker-1");
    EXPECT_THAT(seen.devices(), ElementsAre(absl::StrCat("cpu:", rank)));
    EXPECT_EQ(seen.reason(), "FINISHED");
    EXPECT_TRUE(base::Exists(
        files_,
        absl::StrCat(JobFolder("job"), "/attempts/1/rank-", rank, ".log")));
  }
  // Two passes have the same sum in either order.
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("one"));
}

TEST_F(RanksTest, TwoWorkersTrainWhatOneTrains) {
  StartTwoHolding("never");
  Submit(SpecOf("one", 1));
  Submit(SpecOf("job", 2));
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_TRUE(WaitForState("one", Job::SUCCEEDED).has_value());
  ASSERT_EQ(job->attempts_size(), 1);
  ASSERT_EQ(job->attempts(0).ranks_size(), 2);
  const Attempt::Rank& first = job->attempts(0).ranks(0);
  const Attempt::Rank& second = job->attempts(0).ranks(1);
  EXPECT_NE(first.worker(), second.worker());
  for (const Attempt::Rank& rank : {first, second}) {
    EXPECT_THAT(rank.devices(), ElementsAre("cpu:0"));
    EXPECT_EQ(rank.reason(), "FINISHED");
  }
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("one"));
}

TEST_F(RanksTest, AllWaitUntilThereIsADeviceForEach) {
  StartHolding("never");
  JobSpec other = EndlessSpec();
  other.set_name("other");
  other.mutable_resources()->set_ranks(1);
  Submit(other);
  ASSERT_TRUE(WaitForState("other", Job::RUNNING).has_value());
  Submit(SpecOf("job", 2));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto waits, Explain("job"));
  EXPECT_THAT(waits.summary(), HasSubstr("other"));
  CancelAndExpectTheEnd("other");
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
}

TEST_F(RanksTest, AWorkerThatStartsAgainFindsAll) {
  StartHolding("checkpoints/40-1");
  Submit(SpecOf("job", 2));
  WaitUntilHeld();
  KillWorker();
  Go();
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts_size(), 1);
}

TEST_F(RanksTest, CancelEndsAll) {
  StartHolding("never");
  Submit(EndlessSpec());
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 2; }));
  ASSERT_TRUE(TrainerOf(1, 0).has_value() && TrainerOf(1, 1).has_value());
  CancelAndExpectTheEnd("job");
}

// The rank that is killed, and how many workers there are.
class RanksKillTest
    : public RanksTest,
      public ::testing::WithParamInterface<std::tuple<int, int>> {};
INSTANTIATE_TEST_SUITE_P(RankAndWorkers, RanksKillTest,
                         ::testing::Combine(::testing::Values(0, 1),
                                            ::testing::Values(1, 2)));

// Rank 0 is held in a checkpoint, so it does not leave by itself when the other
// does.
TEST_P(RanksKillTest, EndsTheOtherInTimeAndTheJobGoesOnExactly) {
  const auto [killed, workers] = GetParam();
  if (workers == 1) {
    StartHolding("checkpoints/40-1");
  } else {
    StartTwoHolding("checkpoints/40-1");
  }
  Submit(SpecOf("undisturbed", 2));
  ASSERT_TRUE(WaitForState("undisturbed", Job::SUCCEEDED).has_value());
  Submit(SpecOf("job", 2));
  WaitUntilHeld();
  const auto victim = TrainerOf(1, killed);
  const auto other = TrainerOf(1, 1 - killed);
  ASSERT_TRUE(victim.has_value() && other.has_value());
  // Elsewhere only what its worker is told can end it.
  if (workers == 2) {
    ORDO_ASSERT_OK(base::SignalProcess(*other, SIGSTOP));
  }

  const absl::Time start = absl::Now();
  ORDO_ASSERT_OK(base::SignalProcess(*victim, SIGKILL));
  ASSERT_TRUE(WaitFor([this] { return !TrainerOf(1, 0) && !TrainerOf(1, 1); }));
  EXPECT_LT(absl::Now() - start, kEndOfOthers);

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->failed_attempts(), 1);
  ASSERT_EQ(job->attempts_size(), 2);
  const Attempt& first = job->attempts(0);
  EXPECT_EQ(first.reason(), "TRAINER_KILLED");
  ASSERT_EQ(first.ranks_size(), 2);
  EXPECT_EQ(first.ranks(killed).reason(), "TRAINER_KILLED");
  EXPECT_EQ(first.ranks(1 - killed).reason(), "PEER_LOST");
  EXPECT_EQ(job->attempts(1).start_step(), 20);
  EXPECT_TRUE(job->attempts(1).exact());
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

}  // namespace
}  // namespace ordo::tests::e2e

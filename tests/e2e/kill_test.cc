// kill -9 of the trainer, of the worker, of the scheduler, each at three
// moments: the job ends with the parameters of an undisturbed run.
#include <signal.h>
#include <string>
#include <tuple>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;

enum class Victim { kTrainer, kWorker, kScheduler };
enum class Moment { kStarting, kBeforeFirstCheckpoint, kWritingCheckpoint };
using Case = std::tuple<Victim, Moment>;

class KillTest : public Scenario, public ::testing::WithParamInterface<Case> {
 protected:
  // Holds the job still, or slow, at the moment.
  static std::string Behaviour(Moment moment) {
    switch (moment) {
      case Moment::kStarting:
        return "job:start_ms=300";
      case Moment::kBeforeFirstCheckpoint:
        return "job:step_ms=15";
      case Moment::kWritingCheckpoint:
        return "job:checkpoint_ms=300";
    }
    return "";
  }
  void WaitForMoment(Moment moment) {
    switch (moment) {
      case Moment::kStarting:
        WaitForState("job", Job::STARTING);
        break;
      case Moment::kBeforeFirstCheckpoint:
        WaitUntil("job", [](const Job& job) {
          return job.state() == Job::RUNNING && job.progress().step() >= 2;
        });
        break;
      case Moment::kWritingCheckpoint:
        // The second one: there is a first to go on from.
        ASSERT_TRUE(WaitFor([this] { return IsWritingCheckpoint("job", 40); }));
        break;
    }
  }
};

TEST_P(KillTest, JobEndsAsIfNothingHadHappened) {
  const auto [victim, moment] = GetParam();
  Start(Behaviour(moment));
  Submit(Spec("undisturbed"));
  ASSERT_TRUE(WaitForState("undisturbed", Job::SUCCEEDED).has_value());
  Submit(Spec("job"));
  const auto trainer = WaitForTrainer("job");
  ASSERT_TRUE(trainer.has_value());
  WaitForMoment(moment);

  switch (victim) {
    case Victim::kTrainer:
      ORDO_ASSERT_OK(base::SignalProcess(*trainer, SIGKILL));
      break;
    case Victim::kWorker:
      KillWorker();
      break;
    case Victim::kScheduler:
      KillScheduler();
      break;
  }

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
  // A trainer outlives its worker and its scheduler.
  const int failures = victim == Victim::kTrainer ? 1 : 0;
  EXPECT_EQ(job->failed_attempts(), failures);
  EXPECT_EQ(job->attempts_size(), 1 + failures);
  const int64_t resumed =
      failures == 1 && moment == Moment::kWritingCheckpoint ? 20 : 0;
  EXPECT_EQ(job->attempts(failures).start_step(), resumed);
  EXPECT_TRUE(WaitFor([this] { return ProcessesOf("job").empty(); }));
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  const char* victims[] = {"Trainer", "Worker", "Scheduler"};
  const char* moments[] = {"WhileStarting", "BeforeTheFirstCheckpoint",
                           "WhileACheckpointIsWritten"};
  return std::string(victims[static_cast<int>(std::get<0>(info.param))]) +
         moments[static_cast<int>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(
    Fake, KillTest,
    ::testing::Combine(::testing::Values(Victim::kTrainer, Victim::kWorker,
                                         Victim::kScheduler),
                       ::testing::Values(Moment::kStarting,
                                         Moment::kBeforeFirstCheckpoint,
                                         Moment::kWritingCheckpoint)),
    NameOf);

}  // namespace
}  // namespace ordo::tests::e2e

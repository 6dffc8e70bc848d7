// kill -9 of the trainer, of the worker, of the scheduler, each at three
// moments: the job ends with the parameters of an undisturbed run. Once with
// the fake trainer, which can be held at a moment, once with the real one.
#include <map>
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
enum class Trainer { kFake, kReal };
using Case = std::tuple<Trainer, Victim, Moment>;

using ::testing::AnyOf;

class KillTest : public Scenario, public ::testing::WithParamInterface<Case> {
 protected:
  // Holds the job at the moment until it is released.
  static std::string Behaviour(Moment moment) {
    switch (moment) {
      case Moment::kStarting:
        return "job:hold_start=1";
      case Moment::kBeforeFirstCheckpoint:
        return "job:hold_at=5";
      case Moment::kWritingCheckpoint:
        return "job:hold_checkpoint=40";
    }
    return "";
  }
  void StartWith(Trainer trainer, Moment moment) {
    harness::DeploymentOptions options = Options(Behaviour(moment));
    if (trainer == Trainer::kReal) {
      // Long enough for each moment to be met.
      every_steps_ = 40;
      options.worker.set_trainer(ProgramPath("ordo-trainer"));
    }
    Start(options);
  }
  jobs::v1::JobSpec SpecOf(const std::string& name) const {
    jobs::v1::JobSpec spec = Spec(name);
    spec.mutable_training()->set_steps(3 * every_steps_);
    spec.mutable_checkpoint()->set_every_steps(every_steps_);
    return spec;
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
        ASSERT_TRUE(WaitFor(
            [this] { return HasBegunCheckpoint("job", 2 * every_steps_); }));
        break;
    }
  }

  // Of a run that nothing disturbs; made once for each trainer.
  std::string UndisturbedDigest(Trainer trainer) {
    static std::map<Trainer, std::string> digests;
    std::string& digest = digests[trainer];
    if (digest.empty()) {
      Submit(SpecOf("undisturbed"));
      WaitForState("undisturbed", Job::SUCCEEDED);
      digest = ParametersDigest("undisturbed");
    }
    return digest;
  }

  int64_t every_steps_ = 20;
};

TEST_P(KillTest, JobEndsAsIfNothingHadHappened) {
  const auto [kind, victim, moment] = GetParam();
  StartWith(kind, moment);
  const std::string undisturbed = UndisturbedDigest(kind);
  ASSERT_FALSE(undisturbed.empty());
  Submit(SpecOf("job"));
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

  if (kind == Trainer::kFake) Release("job");

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(ParametersDigest("job"), undisturbed);
  // A trainer outlives its worker and its scheduler.
  const int failures = victim == Victim::kTrainer ? 1 : 0;
  EXPECT_EQ(job->failed_attempts(), failures);
  EXPECT_EQ(job->attempts_size(), 1 + failures);
  if (failures == 1 && moment == Moment::kWritingCheckpoint) {
    // The real one may just have finished writing.
    EXPECT_THAT(job->attempts(1).start_step(),
                AnyOf(every_steps_, kind == Trainer::kReal ? 2 * every_steps_
                                                           : every_steps_));
  } else {
    EXPECT_EQ(job->attempts(failures).start_step(), 0);
  }
  EXPECT_TRUE(WaitFor([this] { return ProcessesOf("job").empty(); }));
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  const char* victims[] = {"Trainer", "Worker", "Scheduler"};
  const char* moments[] = {"WhileStarting", "BeforeTheFirstCheckpoint",
                           "WhileACheckpointIsWritten"};
  return std::string(victims[static_cast<int>(std::get<1>(info.param))]) +
         moments[static_cast<int>(std::get<2>(info.param))];
}

const auto kVictims =
    ::testing::Values(Victim::kTrainer, Victim::kWorker, Victim::kScheduler);
const auto kMoments =
    ::testing::Values(Moment::kStarting, Moment::kBeforeFirstCheckpoint,
                      Moment::kWritingCheckpoint);

INSTANTIATE_TEST_SUITE_P(Fake, KillTest,
                         ::testing::Combine(::testing::Values(Trainer::kFake),
                                            kVictims, kMoments),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Real, KillTest,
                         ::testing::Combine(::testing::Values(Trainer::kReal),
                                            kVictims, kMoments),
                         NameOf);

}  // namespace
}  // namespace ordo::tests::e2e

// kill -9 of the trainer, of the worker, of the scheduler, each at three
// moments: the job ends with the parameters of an undisturbed run. Once with
// the fake trainer, once with the real one; both are held at the moment, the
// real one by tests/fake/gate.cc.
#include <map>
#include <signal.h>
#include <string>
#include <tuple>

#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;

enum class Victim { kTrainer, kWorker, kScheduler };
enum class Moment { kStarting, kBeforeFirstCheckpoint, kWritingCheckpoint };
enum class Trainer { kFake, kReal };
using Case = std::tuple<Trainer, Victim, Moment>;

constexpr int64_t kEverySteps = 20;

class KillTest : public Scenario, public ::testing::WithParamInterface<Case> {
 protected:
  struct Hold {
    // As ORDO_FAKE says it.
    const char* fake;
    // The real trainer's first call that goes beyond the moment, below the
    // job's folder.
    const char* real;
  };
  // Holds the job at the moment until it is released.
  static Hold HoldAt(Moment moment) {
    switch (moment) {
      case Moment::kStarting:
        return {"job:hold_start=1", "attempts/1/progress.records"};
      case Moment::kBeforeFirstCheckpoint:
        return {"job:hold_at=5", "checkpoints/20-1"};
      case Moment::kWritingCheckpoint:
        return {"job:hold_checkpoint=40", "checkpoints/40-1"};
    }
    return {"", ""};
  }
  void StartWith(Trainer trainer, Moment moment) {
    harness::DeploymentOptions options = Options(HoldAt(moment).fake);
    if (trainer == Trainer::kReal) {
      options.worker.set_trainer(ProgramPath("ordo-trainer"));
      auto& environment = *options.worker.mutable_trainer_environment();
      environment["LD_PRELOAD"] = ProgramPath("tests/fake/libgate.so");
      environment["ORDO_GATE_PATH"] =
          std::string("/jobs/job/") + HoldAt(moment).real;
      environment["ORDO_GATE_KEY"] = folder_.Path("storage/jobs/job/go");
    }
    Start(options);
  }
  static jobs::v1::JobSpec SpecOf(const std::string& name) {
    jobs::v1::JobSpec spec = Spec(name);
    spec.mutable_training()->set_steps(3 * kEverySteps);
    spec.mutable_checkpoint()->set_every_steps(kEverySteps);
    return spec;
  }
  void WaitForMoment(Trainer trainer, Moment moment) {
    if (trainer == Trainer::kReal) {
      ASSERT_TRUE(WaitFor([this] {
        return base::Exists(files_, JobFolder("job") + "/go.held");
      }));
    }
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
            [this] { return HasBegunCheckpoint("job", 2 * kEverySteps); }));
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
};

TEST_P(KillTest, JobEndsAsIfNothingHadHappened) {
  const auto [kind, victim, moment] = GetParam();
  StartWith(kind, moment);
  const std::string undisturbed = UndisturbedDigest(kind);
  ASSERT_FALSE(undisturbed.empty());
  Submit(SpecOf("job"));
  const auto trainer = WaitForTrainer("job");
  ASSERT_TRUE(trainer.has_value());
  WaitForMoment(kind, moment);

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

  Release("job");

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(ParametersDigest("job"), undisturbed);
  // A trainer outlives its worker and its scheduler.
  const int failures = victim == Victim::kTrainer ? 1 : 0;
  EXPECT_EQ(job->failed_attempts(), failures);
  EXPECT_EQ(job->attempts_size(), 1 + failures);
  const bool has_checkpoint = moment == Moment::kWritingCheckpoint;
  EXPECT_EQ(job->attempts(failures).start_step(),
            failures == 1 && has_checkpoint ? kEverySteps : 0);
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

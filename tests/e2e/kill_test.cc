// kill -9 of the trainer, of the worker, of the scheduler, each at three
// moments: the job ends with the parameters of an undisturbed run. Once with
// the fake trainer, once with the real one; both are held at the moment, the
// real one by tests/fake/gate.cc. And while the real one writes the report of a
// comparison: it is there, whole.
#include <map>
#include <signal.h>
#include <string>
#include <tuple>

#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using ::testing::EndsWith;
using ::testing::HasSubstr;

enum class Victim { kTrainer, kWorker, kScheduler };
enum class Moment { kStarting, kBeforeFirstCheckpoint, kWritingCheckpoint };
enum class Trainer { kFake, kReal };
using Case = std::tuple<Trainer, Victim, Moment>;

constexpr int64_t kEverySteps = 20;

// What both have in common.
class Killer : public Scenario {
 protected:
  void Kill(Victim victim, const base::ProcessId& trainer) {
    switch (victim) {
      case Victim::kTrainer:
        ORDO_ASSERT_OK(base::SignalProcess(trainer, SIGKILL));
        break;
      case Victim::kWorker:
        KillWorker();
        break;
      case Victim::kScheduler:
        KillScheduler();
        break;
    }
  }
};

class KillTest : public Killer, public ::testing::WithParamInterface<Case> {
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

  Kill(victim, *trainer);
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

// Of a comparison, whose parts are done.
class KillReportTest : public Killer,
                       public ::testing::WithParamInterface<Victim> {
 protected:
  // A file of the report, as it was fetched.
  std::string Fetched(const std::string& name) {
    const auto text =
        base::ReadFile(files_, folder_.Path("fetched/" + name), 16 << 20);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }
};

TEST_P(KillReportTest, TheReportIsWholeAndTheJobSucceeds) {
  const Victim victim = GetParam();
  // The page is written before it, other tables after it.
  Start(RealOptions("results/.tmp-comparison-1/values.csv"));
  Submit(RopeAndAlibi("job"));
  for (const char* part : {"job-rope-s1", "job-alibi-s1"}) {
    ASSERT_TRUE(WaitForState(part, Job::SUCCEEDED).has_value());
  }
  WaitUntilHeld();
  const auto writer = WaitForTrainer("job");
  ASSERT_TRUE(writer.has_value());
  const std::string results = JobFolder("job") + "/results/";
  EXPECT_TRUE(base::Exists(files_, results + ".tmp-comparison-1/report.html"));
  EXPECT_FALSE(base::Exists(files_, results + "comparison-1"));

  Kill(victim, *writer);
  Go();

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  const int failures = victim == Victim::kTrainer ? 1 : 0;
  EXPECT_EQ(job->failed_attempts(), failures);
  EXPECT_EQ(job->attempts_size(), 1 + failures);
  // Each file is held against the size and the SHA-256 that were registered.
  const Said said = RunOrdo(
      {"get", "jobs/job/reports/comparison", "--out", folder_.Path("fetched")});
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_THAT(Fetched("report.html"), EndsWith("</html>\n"));
  EXPECT_THAT(Fetched("result.json"), HasSubstr("\"controlled\":true"));
  for (const char* part : {"job-rope-s1", "job-alibi-s1"}) {
    EXPECT_THAT(Fetched("values.csv"), HasSubstr(part));
  }
  EXPECT_THAT(Fetched("differences.csv"), HasSubstr("alibi"));
  EXPECT_TRUE(WaitFor([this] { return ProcessesOf("job").empty(); }));
}

constexpr const char* kVictimNames[] = {"Trainer", "Worker", "Scheduler"};

std::string NameOfVictim(const ::testing::TestParamInfo<Victim>& info) {
  return kVictimNames[static_cast<int>(info.param)];
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  const char* moments[] = {"WhileStarting", "BeforeTheFirstCheckpoint",
                           "WhileACheckpointIsWritten"};
  return std::string(kVictimNames[static_cast<int>(std::get<1>(info.param))]) +
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
INSTANTIATE_TEST_SUITE_P(Real, KillReportTest, kVictims, NameOfVictim);

}  // namespace
}  // namespace ordo::tests::e2e

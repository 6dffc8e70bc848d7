// Bad input and bad luck: a clear error that names what to mend, and nothing
// lost.
#include <fstream>
#include <signal.h>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = 1 << 20;

class BadInputTest : public Scenario {
 protected:
  struct Ended {
    base::ExitStatus status;
    std::string output;
  };
  // Runs a program to its end.
  Ended RunProgram(std::vector<std::string> argv) {
    base::SpawnOptions spawn;
    spawn.argv = std::move(argv);
    spawn.stdout_file = folder_.Path("output");
    spawn.stderr_file = spawn.stdout_file;
    Ended ended;
    const auto process = base::Spawn(spawn);
    EXPECT_THAT(process, IsOk());
    if (!process.ok()) return ended;
    const auto status = base::WaitForExit(process->pid, kDeadline);
    EXPECT_THAT(status, IsOk());
    if (status.ok()) ended.status = *status;
    ended.output = base::ReadFile(files_, spawn.stdout_file, kMiB).value_or("");
    return ended;
  }
};

TEST_F(BadInputTest, CrashUsesUpTheBudgetAndNamesTheSignal) {
  Start("job:crash_at=7");
  Submit(Spec("job"));
  const Job job = WaitForFailure("job");
  EXPECT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.failed_attempts(), 2);
  EXPECT_EQ(job.attempts(0).reason(), "TRAINER_KILLED");
  EXPECT_EQ(job.attempts(0).signal(), SIGABRT);
  EXPECT_THAT(job.message(), AllOf(HasSubstr("signal 6 ended the trainer"),
                                   HasSubstr("ordo logs job")));
}

TEST_F(BadInputTest, CrashOnceIsGoneOnFromTheCheckpoint) {
  Start("job:crash_at=30,once=1");
  Submit(Spec("undisturbed"));
  Submit(Spec("job"));
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->attempts(1).start_step(), 20);
  EXPECT_THAT(job->attempts(1).resumed_from(), HasSubstr("checkpoints/20-1"));
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

TEST_F(BadInputTest, ExitCodesDecideWhetherItIsTriedAgain) {
  Start("never:exit_at=2,exit_code=12;again:exit_at=2,exit_code=1");
  Submit(Spec("never"));
  Submit(Spec("again"));
  const Job never = WaitForFailure("never");
  EXPECT_EQ(never.attempts_size(), 1);
  EXPECT_EQ(never.reason(), "NON_FINITE");
  EXPECT_THAT(never.message(), HasSubstr("training.learning_rate"));
  EXPECT_EQ(WaitForFailure("again").attempts_size(), 2);
}

TEST_F(BadInputTest, HangIsKilledAndNamed) {
  Start("job:hang_at=5");
  JobSpec spec = Spec("job");
  spec.mutable_retry()->set_max_attempts(1);
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(1);
  Submit(spec);
  const Job job = WaitForFailure("job");
  EXPECT_EQ(job.attempts(0).reason(), "HANG");
  EXPECT_THAT(job.message(), HasSubstr("retry.step_timeout"));
}

TEST_F(BadInputTest, LostSupervisorIsNotTheJobsFault) {
  Start("job:hold_at=30,grandchildren=2");
  Submit(Spec("undisturbed"));
  Submit(Spec("job"));
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 2; }));
  for (const base::RunningProcess& process : ProcessesOf("job")) {
    if (absl::StartsWith(process.command_line,
                         ProgramPath("ordo-supervisor"))) {
      ORDO_EXPECT_OK(base::SignalProcess(process.id, SIGKILL));
    }
  }
  // The first trainer must be gone before it could go on.
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.attempts_size() == 2; }));
  Release("job");
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->failed_attempts(), 0);
  EXPECT_EQ(job->attempts(0).reason(), "WORKER_LOST");
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
  EXPECT_TRUE(WaitFor([this] { return ProcessesOf("job").empty(); }));
}

TEST_F(BadInputTest, TrainerThatCannotBeStartedIsNamedAndTheJobWaits) {
  harness::DeploymentOptions options = Options("");
  options.worker.set_trainer(folder_.Path("no-such-trainer"));
  Start(options);
  Submit(Spec("job"));
  // The device is not offered, as its kernels cannot be probed.
  std::string why;
  EXPECT_TRUE(WaitFor([&] {
    const auto explained = Explain("job");
    if (explained.ok()) why = explained->summary();
    return absl::StrContains(why, "no-such-trainer") &&
           absl::StrContains(why, "`trainer`");
  })) << why;
  ORDO_ASSERT_OK_AND_ASSIGN(const Job job, deployment_->Get("job"));
  EXPECT_EQ(job.state(), Job::QUEUED);
}

TEST_F(BadInputTest, HundredMegabytesOfLogAreKeptAndReadFromAnOffset) {
  Start("job:log_mb=100");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto info,
      files_.Stat(JobFolder("job") + "/attempts/1/rank-0.log"));
  EXPECT_GT(info.size_bytes, 100 * kMiB);
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string tail,
                            Log("job", info.size_bytes - 100));
  EXPECT_EQ(tail.size(), 100u);
  EXPECT_THAT(tail, HasSubstr("FINISHED at step 60"));
}

TEST_F(BadInputTest, FolderThatVanishesInMidRunIsNamed) {
  Start("job:hold_at=30");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 2; }));
  // In one step: a tree that is removed name by name may get new ones from
  // the running trainer.
  ORDO_ASSERT_OK(files_.Rename(JobFolder("job"), folder_.Path("gone")));
  const Job job = WaitForFailure("job");
  EXPECT_EQ(job.reason(), "DATA_MISSING");
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_THAT(job.message(), HasSubstr(JobFolder("job")));
}

TEST_F(BadInputTest, RunWithoutItsRecordsIsNotASuccess) {
  Start("job:hold_at=30");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 29; }));
  const std::string path = JobFolder("job") + "/attempts/1/progress.records";
  ORDO_ASSERT_OK_AND_ASSIGN(
      auto file, files_.OpenForWrite(path, base::WriteMode::kAppend));
  ORDO_ASSERT_OK(file->Append("neither a header nor a record"));
  Release("job");
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->attempts(0).reason(), "STORAGE_ERROR");
  EXPECT_THAT(job->attempts(0).message(), HasSubstr(path));
  EXPECT_EQ(job->attempts(1).start_step(), 20);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto newest, LatestCheckpoint("job"));
  EXPECT_THAT(newest.name(), EndsWith("60-2"));
}

TEST_F(BadInputTest, FullDiskSkipsACheckpointAndTheRunGoesOn) {
  // One checkpoint fits, the second does not, then there is room again.
  Start("job:disk_bytes=1000,heal_at=50");
  Submit(Spec("job"));
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts_size(), 1);
  EXPECT_THAT(
      job->attempts(0).warnings(),
      Contains(AllOf(HasSubstr(JobFolder("job") + "/checkpoints"),
                     HasSubstr("No space"), HasSubstr("the run goes on"),
                     HasSubstr("free space under the storage root"))));
  EXPECT_THAT(files_.List(JobFolder("job") + "/checkpoints").value(),
              ElementsAre("20-1", "60-1"));
}

TEST_F(BadInputTest, DiskThatStaysFullFailsTheJobWithTheFix) {
  Start("job:disk_bytes=100");
  Submit(Spec("job"));
  const Job job = WaitForFailure("job");
  EXPECT_EQ(job.attempts(0).reason(), "STORAGE_ERROR");
  EXPECT_THAT(job.message(), HasSubstr("free space"));
}

class DamagedCheckpointTest : public BadInputTest,
                              public ::testing::WithParamInterface<bool> {};

TEST_P(DamagedCheckpointTest, IsPassedOverForTheOneBefore) {
  Start("job:hold_at=59,crash_at=60,once=1");
  Submit(Spec("undisturbed"));
  Submit(Spec("job"));
  ASSERT_TRUE(WaitFor([this] {
    const auto checkpoint = LatestCheckpoint("job");
    return checkpoint.ok() && checkpoint->step() == 40;
  }));
  Damage(JobFolder("job") + "/checkpoints/40-1/model.safetensors", GetParam());
  Release("job");
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->attempts(1).start_step(), 20);
  EXPECT_THAT(
      job->attempts(1).warnings(),
      Contains(AllOf(HasSubstr("40-1"), HasSubstr("model.safetensors"))));
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

INSTANTIATE_TEST_SUITE_P(TruncatedOrFlipped, DamagedCheckpointTest,
                         ::testing::Bool());

TEST_F(BadInputTest, EvaluationOfADamagedCheckpointFailsAndNamesIt) {
  Start("");
  Submit(Spec("trained"));
  ASSERT_TRUE(WaitForState("trained", Job::SUCCEEDED).has_value());
  Damage(JobFolder("trained") + "/checkpoints/60-1/model.safetensors", false);
  JobSpec spec;
  spec.set_kind(JobSpec::EVALUATE);
  spec.set_name("evaluation");
  spec.add_checkpoints("jobs/trained");
  spec.add_evaluations()->set_task("addition_grid");
  Submit(spec);
  const Job job = WaitForFailure("evaluation");
  EXPECT_EQ(job.reason(), "CHECKPOINT_DAMAGED");
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_THAT(job.message(), HasSubstr("60-1"));
}

TEST_F(BadInputTest, RepeatedRequestGivesTheSameJobOrAnError) {
  Start("");
  JobSpec spec = Spec("job");
  ORDO_ASSERT_OK_AND_ASSIGN(const Job first, deployment_->Create(spec, "id-1"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Job again, deployment_->Create(spec, "id-1"));
  EXPECT_EQ(first.sequence(), again.sequence());
  EXPECT_THAT(deployment_->Create(spec),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("job")));
  spec.mutable_training()->set_steps(61);
  EXPECT_THAT(
      deployment_->Create(spec, "id-1"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("request_id")));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto jobs, List());
  EXPECT_EQ(jobs.jobs_size(), 1);
}

TEST_F(BadInputTest, AllThatIsWrongWithASpecIsSaidAtOnce) {
  Start("");
  JobSpec spec = Spec("job");
  spec.mutable_encoding()->set_name("rop");
  spec.mutable_training()->set_steps(0);
  const auto job = deployment_->Create(spec);
  EXPECT_THAT(job, StatusIs(absl::StatusCode::kInvalidArgument));
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(job.status())) {
    fields.push_back(violation.field);
    if (violation.field == "encoding.name") {
      EXPECT_THAT(violation.description, HasSubstr("rope"));
    }
  }
  EXPECT_THAT(fields, AllOf(Contains(HasSubstr("encoding")),
                            Contains(HasSubstr("training.steps"))));
}

TEST_F(BadInputTest, SecondSchedulerOnTheSameStoreIsRefused) {
  Start("");
  const std::string config = folder_.Path("config/second.textproto");
  ORDO_ASSERT_OK(base::AtomicWrite(
      files_, config,
      absl::StrCat("listen: \"127.0.0.1:0\" store: \"", folder_.path(),
                   "/scheduler/ordo.db\" storage_root: \"",
                   deployment_->storage_root(), "\"")));
  const Ended ended = RunProgram({ProgramPath("ordo-scheduler"), "--config",
                                  config, "--deployment", folder_.path()});
  EXPECT_FALSE(ended.status.ok());
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("another scheduler uses the store " +
                              folder_.path() + "/scheduler/ordo.db"),
                    HasSubstr("ordo down")));
  // The first is not disturbed.
  Submit(Spec("job"));
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
}

TEST_F(BadInputTest, SecondWorkerOnTheSameStateIsRefused) {
  Start("");
  const Ended ended = RunProgram({ProgramPath("ordo-worker"), "--config",
                                  folder_.Path("config/worker.textproto"),
                                  "--deployment", folder_.path()});
  EXPECT_EQ(ended.status.exit_code, 1);
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("state_folder"), HasSubstr("another worker")));
}

TEST_F(BadInputTest, PortInUseIsNamed) {
  Start("");
  const std::string config = folder_.Path("config/second.textproto");
  ORDO_ASSERT_OK(base::AtomicWrite(
      files_, config,
      absl::StrCat("listen: \"", deployment_->api_address(), "\" store: \"",
                   folder_.path(), "/second.db\" storage_root: \"",
                   deployment_->storage_root(), "\"")));
  const Ended ended = RunProgram({ProgramPath("ordo-scheduler"), "--config",
                                  config, "--deployment", folder_.path()});
  EXPECT_FALSE(ended.status.ok());
  EXPECT_THAT(ended.output, AllOf(HasSubstr(deployment_->api_address()),
                                  HasSubstr("in use")));
}

TEST_F(BadInputTest, DeviceThatDoesNotExistIsNamed) {
  harness::DeploymentOptions options = Options("");
  options.worker.add_devices("cpu:0");
  options.worker.add_devices("cuda:63");
  const auto deployment = harness::Deployment::Start(options);
  EXPECT_FALSE(deployment.ok());
  EXPECT_THAT(
      std::string(deployment.status().message()),
      AllOf(HasSubstr("devices[1]"), HasSubstr("cuda:63"), HasSubstr("cpu:0")));
}

}  // namespace
}  // namespace ordo::tests::e2e

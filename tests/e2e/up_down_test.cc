// A deployment as people run it: `ordo up`, `ordo down`, and what happens when
// its processes die.
#include <algorithm>
#include <signal.h>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kJob[] = R"(
kind: train
name: job
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 60, batch_size: 4, log_every_steps: 1}
checkpoint: {every_steps: 20}
)";

class UpDownTest : public ::testing::Test {
 protected:
  ~UpDownTest() override {
    Ordo({"down", "--dir", dir_});
    for (const auto& process : base::FindProcesses(folder_.path())) {
      ADD_FAILURE() << "left behind: " << process.command_line;
      base::SignalProcess(process.id, SIGKILL).IgnoreError();
    }
  }

  struct Output {
    int exit_code = -1;
    std::string text;
  };
  base::ProcessId Begin(std::vector<std::string> arguments,
                        const std::string& log) {
    if (!server_.empty() && arguments[0] != "up" && arguments[0] != "down") {
      arguments.insert(arguments.end(), {"--server", server_});
    }
    base::SpawnOptions spawn;
    spawn.argv = {ProgramPath("ordo")};
    spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
    spawn.stdout_file = log;
    spawn.stderr_file = log;
    const auto child = base::Spawn(spawn);
    EXPECT_THAT(child, base::testing::IsOk());
    return child.value_or(base::ProcessId());
  }
  Output End(const base::ProcessId& child, const std::string& log) {
    Output output;
    const auto status = base::WaitForExit(child.pid, kDeadline);
    EXPECT_THAT(status, base::testing::IsOk());
    if (status.ok()) output.exit_code = status->exit_code;
    output.text = base::ReadFile(files_, log, 1 << 20).value_or("");
    return output;
  }
  Output Ordo(const std::vector<std::string>& arguments) {
    const std::string log =
        folder_.Path(absl::StrCat("output-", ++num_outputs_));
    return End(Begin(arguments, log), log);
  }
  std::vector<std::string> UpArguments(const std::string& fake) const {
    return {"up",
            "--dir",
            dir_,
            "--listen",
            "127.0.0.1:0",
            "--trainer",
            ProgramPath("tests/fake/fake_trainer"),
            "--trainer-env",
            "ORDO_FAKE=" + fake};
  }
  void Up(const std::string& fake) {
    std::vector<std::string> arguments = UpArguments(fake);
    arguments.push_back("--detach");
    const Output up = Ordo(arguments);
    ASSERT_EQ(up.exit_code, 0) << up.text;
    server_ = Endpoints().fields().at("api").string_value();
  }
  // As in a terminal; gives the keeper once everything answers.
  base::ProcessId UpInForeground(const std::string& fake) {
    const base::ProcessId keeper = Begin(UpArguments(fake), UpLog());
    EXPECT_TRUE(WaitFor([this] {
      return base::Exists(files_, dir_ + "/endpoints.json") &&
             Endpoints().fields().at("ready").bool_value();
    }));
    server_ = Endpoints().fields().at("api").string_value();
    return keeper;
  }
  std::string UpLog() const { return folder_.Path("up"); }
  google::protobuf::Struct Endpoints() {
    return Read(dir_ + "/endpoints.json");
  }
  pid_t PidOf(const std::string& process) {
    const google::protobuf::Struct endpoints = Endpoints();
    const auto& pids = endpoints.fields().at("pids").struct_value().fields();
    return static_cast<pid_t>(pids.at(process).number_value());
  }
  google::protobuf::Struct Read(const std::string& path) {
    google::protobuf::Struct read;
    const auto text = base::ReadFile(files_, path, 1 << 20);
    EXPECT_THAT(text, base::testing::IsOk());
    ORDO_EXPECT_OK(
        base::ReadMessage(text.value_or("{}"), base::TextForm::kJson, &read));
    return read;
  }
  void Submit() {
    ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("job.yaml"), kJob));
    const Output submitted = Ordo({"submit", folder_.Path("job.yaml")});
    ASSERT_EQ(submitted.exit_code, 0) << submitted.text;
  }
  // Waits until the job's trainer has written its first checkpoint.
  void WaitForCheckpoint() {
    ASSERT_TRUE(WaitFor([this] {
      return base::Exists(files_, dir_ + "/storage/jobs/job/checkpoints/20-1");
    }));
  }
  void Release() {
    ORDO_ASSERT_OK(
        base::AtomicWrite(files_, dir_ + "/storage/jobs/job/go", ""));
  }
  // Waits for a keeper that was asked to end; nothing of it may be left.
  void ExpectUpEndsEverything(const base::ProcessId& keeper) {
    const Output up = End(keeper, UpLog());
    EXPECT_EQ(up.exit_code, 0) << up.text;
    for (const auto& process : base::FindProcesses(folder_.path())) {
      ADD_FAILURE() << "left behind: " << process.command_line << "\n"
                    << up.text;
    }
  }
  void Kill(const std::string& program) {
    const auto found = base::FindProcesses(program + " --config");
    bool killed = false;
    for (const auto& process : found) {
      if (process.command_line.find(dir_) == std::string::npos) continue;
      ORDO_EXPECT_OK(base::SignalProcess(process.id, SIGKILL));
      ORDO_EXPECT_OK(base::WaitUntilGone(process.id, kDeadline));
      killed = true;
    }
    EXPECT_TRUE(killed) << program;
  }

  void KillKeeper() {
    const auto keeper = base::IdentifyProcess(PidOf("keeper"));
    ORDO_ASSERT_OK(keeper);
    ORDO_ASSERT_OK(base::SignalProcess(*keeper, SIGKILL));
    ORDO_ASSERT_OK(base::WaitUntilGone(*keeper, kDeadline));
  }

  base::testing::TemporaryFolder folder_;
  const std::string dir_ = folder_.Path("deployment");
  base::PosixFilesystem files_;
  std::string server_;
  int num_outputs_ = 0;
};

TEST_F(UpDownTest, DownSavesAndUpGoesOn) {
  Up("*:hold_at=40");
  Submit();
  WaitForCheckpoint();
  const Output down = Ordo({"down", "--dir", dir_});
  EXPECT_EQ(down.exit_code, 0) << down.text;
  EXPECT_TRUE(base::FindProcesses(folder_.path()).empty());

  Up("*:step_ms=1");

  const Output waited = Ordo({"wait", "job"});
  EXPECT_EQ(waited.exit_code, 0) << waited.text;
  const Output shown = Ordo({"show", "job"});
  EXPECT_THAT(shown.text, HasSubstr("STOPPED"));
  EXPECT_THAT(shown.text, HasSubstr("FINISHED"));
}

TEST_F(UpDownTest, WhatDiesIsStartedAgainAndClientsRideItOut) {
  Up("*:hold_at=40");
  Submit();
  const std::string log = folder_.Path("wait");
  const base::ProcessId wait = Begin({"wait", "job"}, log);
  WaitForCheckpoint();
  const pid_t scheduler = PidOf("scheduler");
  Kill("ordo-worker");
  Kill("ordo-scheduler");
  ASSERT_TRUE(WaitFor([&] { return PidOf("scheduler") != scheduler; }));
  Release();
  const Output waited = End(wait, log);
  EXPECT_EQ(waited.exit_code, 0) << waited.text;
  // The trainer went on all the while.
  const Output listed = Ordo({"list", "checkpoints"});
  EXPECT_THAT(listed.text, HasSubstr("60-1"));
}

TEST_F(UpDownTest, DeadSchedulerServesAgainSoon) {
  Up("");
  Kill("ordo-scheduler");
  // A client that calls in between does not notice.
  const Output listed = Ordo({"list", "jobs"});
  EXPECT_EQ(listed.exit_code, 0) << listed.text;
}

TEST_F(UpDownTest, DeadWorkerIsReplacedSoon) {
  Up("");
  const pid_t worker = PidOf("worker");
  const base::RealClock clock;
  const absl::Duration killed_at = clock.Monotonic();
  Kill("ordo-worker");
  ASSERT_TRUE(WaitFor([&] { return PidOf("worker") != worker; }));
  // The delay itself is a second at most (kRestartWithin); the rest is for a
  // busy machine.
  EXPECT_LT(clock.Monotonic() - killed_at, absl::Seconds(15));
}

TEST_F(UpDownTest, CtrlCEndsEverythingAndSaves) {
  const base::ProcessId keeper = UpInForeground("*:hold_at=40");
  Submit();
  WaitForCheckpoint();
  ORDO_ASSERT_OK(base::SignalProcess(keeper, SIGINT));
  ExpectUpEndsEverything(keeper);

  Up("");
  const Output waited = Ordo({"wait", "job"});
  EXPECT_EQ(waited.exit_code, 0) << waited.text;
  EXPECT_THAT(Ordo({"show", "job"}).text, HasSubstr("STOPPED"));
}

TEST_F(UpDownTest, CtrlCEndsTrainersWhoseWorkerIsDead) {
  const base::ProcessId keeper = UpInForeground("*:hold_at=40");
  Submit();
  WaitForCheckpoint();
  // The keeper must not start another before it hears of the interrupt.
  ORDO_ASSERT_OK(base::SignalProcess(keeper, SIGSTOP));
  Kill("ordo-worker");
  ORDO_ASSERT_OK(base::SignalProcess(keeper, SIGINT));
  ORDO_ASSERT_OK(base::SignalProcess(keeper, SIGCONT));
  ExpectUpEndsEverything(keeper);

  Up("");
  const Output waited = Ordo({"wait", "job"});
  EXPECT_EQ(waited.exit_code, 0) << waited.text;
}

TEST_F(UpDownTest, UpAfterTheKeeperWasKilledTakesOver) {
  Up("*:hold_at=40");
  Submit();
  WaitForCheckpoint();
  KillKeeper();
  // The scheduler, the worker, its launcher, the supervisor and the trainer
  // live on.
  const auto left = base::FindProcesses(dir_);
  EXPECT_THAT(left, SizeIs(5));

  Up("");

  for (const auto& process : left) {
    EXPECT_FALSE(base::IsRunning(process.id)) << process.command_line;
  }
  const Output waited = Ordo({"wait", "job"});
  EXPECT_EQ(waited.exit_code, 0) << waited.text;
  // It went on where it was.
  const Output shown = Ordo({"show", "job"});
  EXPECT_THAT(shown.text, HasSubstr("STOPPED"));
  EXPECT_THAT(shown.text, HasSubstr("FINISHED"));
  const Output down = Ordo({"down", "--dir", dir_});
  EXPECT_EQ(down.exit_code, 0) << down.text;
  EXPECT_THAT(base::FindProcesses(folder_.path()), IsEmpty());
}

TEST_F(UpDownTest, DownAfterTheKeeperWasKilledLeavesNothing) {
  Up("*:hold_at=40");
  Submit();
  WaitForCheckpoint();
  KillKeeper();
  const Output down = Ordo({"down", "--dir", dir_});
  EXPECT_EQ(down.exit_code, 0) << down.text;
  EXPECT_THAT(base::FindProcesses(folder_.path()), IsEmpty());
}

TEST_F(UpDownTest, SecondUpInTheSameFolderIsRefused) {
  Up("");
  const Output up =
      Ordo({"up", "--dir", dir_, "--listen", "127.0.0.1:0", "--detach"});
  EXPECT_NE(up.exit_code, 0);
  EXPECT_THAT(up.text, HasSubstr(dir_));
}

TEST_F(UpDownTest, APlainUpGoesOnAsItWasTold) {
  std::vector<std::string> arguments = UpArguments("");
  arguments.insert(arguments.end(), {"--set", "worker.worker=w1", "--data-root",
                                     folder_.path(), "--detach"});
  const Output first = Ordo(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.text;
  ASSERT_EQ(Ordo({"down", "--dir", dir_}).exit_code, 0);
  const Output up = Ordo({"up", "--dir", dir_, "--detach"});
  ASSERT_EQ(up.exit_code, 0) << up.text;
  EXPECT_THAT(up.text, HasSubstr("--set 'worker.worker=w1' --data-root /"));
  EXPECT_THAT(base::ReadFile(files_, dir_ + "/config/worker.textproto", 1 << 20)
                  .value_or(""),
              ::testing::AllOf(HasSubstr("worker: \"w1\""),
                               HasSubstr("data_roots: \"/"),
                               HasSubstr("tests/fake/fake_trainer")));
  ASSERT_EQ(Ordo({"down", "--dir", dir_}).exit_code, 0);
  const Output fresh = Ordo({"up", "--dir", dir_, "--fresh-settings",
                             "--listen", "127.0.0.1:0", "--detach"});
  ASSERT_EQ(fresh.exit_code, 0) << fresh.text;
  EXPECT_THAT(base::ReadFile(files_, dir_ + "/config/worker.textproto", 1 << 20)
                  .value_or(""),
              ::testing::AllOf(HasSubstr("worker: \"local\""),
                               ::testing::Not(HasSubstr("data_roots"))));
}

TEST_F(UpDownTest, ARememberedDataRootThatIsGoneIsAWarning) {
  const std::string text = folder_.Path("text");
  ORDO_ASSERT_OK(files_.MakeFolders(text));
  std::vector<std::string> arguments = UpArguments("");
  arguments.insert(arguments.end(), {"--data-root", text, "--detach"});
  const Output first = Ordo(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.text;
  ASSERT_EQ(Ordo({"down", "--dir", dir_}).exit_code, 0);
  ORDO_ASSERT_OK(files_.RemoveTree(text));
  const Output up = Ordo({"up", "--dir", dir_, "--detach"});
  EXPECT_EQ(up.exit_code, 0) << up.text;
  EXPECT_THAT(up.text, HasSubstr("warning: --data-root "));
  EXPECT_THAT(up.text,
              HasSubstr("/config/settings.yaml, or give --fresh-settings"));
}

TEST_F(UpDownTest, UpThatOthersReachWarnsAlsoWhenDetached) {
  std::vector<std::string> arguments = UpArguments("*:step_ms=1");
  std::replace(arguments.begin(), arguments.end(), std::string("127.0.0.1:0"),
               std::string("0.0.0.0:0"));
  arguments.insert(arguments.end(), {"--detach", "--insecure"});
  const Output up = Ordo(arguments);
  ASSERT_EQ(up.exit_code, 0) << up.text;
  EXPECT_THAT(up.text, HasSubstr("0.0.0.0:0 has neither TLS nor passwords"));
  EXPECT_THAT(
      base::ReadFile(files_, dir_ + "/log/scheduler.log", 1 << 20).value_or(""),
      HasSubstr("field=listen address=0.0.0.0:0"));
}

TEST_F(UpDownTest, UpOnAPortInUseNamesIt) {
  Up("");
  const Output up = Ordo(
      {"up", "--dir", folder_.Path("other"), "--listen", server_, "--detach"});
  EXPECT_EQ(up.exit_code, 2) << up.text;
  EXPECT_THAT(up.text, HasSubstr(server_.substr(server_.rfind(':') + 1)));
}

}  // namespace
}  // namespace ordo::tests::e2e

#include "worker/agent/launcher.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/testing/programs.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kLimit = absl::Seconds(20);
// Of a launcher that is not waited for long.
constexpr absl::Duration kPatience = absl::Seconds(2);

class LauncherTest : public ::testing::Test {
 protected:
  // A supervisor of a shell script, in a folder of its own.
  SupervisorCommand Command(const std::string& name,
                            const std::string& script) {
    SupervisorCommand command;
    const std::string folder = folder_.Path(name);
    ORDO_EXPECT_OK(files_.MakeFolders(folder));
    command.argv = {testing::BinFolder() + "/ordo-supervisor",
                    "--task-dir",
                    folder,
                    "--attempt-dir",
                    folder,
                    "--grace-ms",
                    "1000",
                    "--",
                    "/bin/sh",
                    "-c",
                    script};
    command.environment = {"GREETING=hello " + name, "ORDO_TASK=" + folder};
    command.deployment = folder_.path();
    return command;
  }
  // Of a program that says its greeting into <name>/said, and in place of a
  // launcher does what a shell script says.
  SupervisorCommand FakeCommand(const std::string& name,
                                const std::string& script) {
    const std::string path = folder_.Path("program");
    ORDO_EXPECT_OK(base::AtomicWrite(
        files_, path,
        "#!/bin/sh\n"
        "[ \"$1\" = --launcher ] || { echo \"$GREETING\" >> $2/said; exit; }\n"
        "echo $$ >> ${0%/*}/launchers\n" +
            script));
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    SupervisorCommand command = Command(name, "");
    command.argv[0] = path;
    return command;
  }
  // How many of its launchers there were; none may be left.
  int NumFakeLaunchers() {
    const std::string pids = Text("launchers");
    const char* next = pids.c_str();
    int count = 0;
    for (; *next >= '0' && *next <= '9'; ++count) {
      char* end = nullptr;
      const auto pid = static_cast<pid_t>(std::strtol(next, &end, 10));
      EXPECT_EQ(kill(pid, 0), -1) << pid;
      EXPECT_EQ(errno, ESRCH) << pid;
      next = end + std::strspn(end, "\n");
    }
    return count;
  }
  std::string Text(const std::string& path) {
    return base::ReadFile(files_, folder_.Path(path), 1 << 20)
        .value_or("not there");
  }
  void ExpectEndsWell(const base::ProcessId& id) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto exit,
                              base::WaitForExit(id.pid, kLimit));
    EXPECT_TRUE(exit.ok()) << exit.ToString();
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  Launcher launcher_;
  Launcher hasty_{clock_, kPatience};
};

TEST_F(LauncherTest, SupervisorsAreChildrenThatShowThemselves) {
  const SupervisorCommand command = Command("a", "sleep 300");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto a, launcher_.Start(command));
  EXPECT_THAT(base::ReadProcFile(a.pid, "stat").value_or(""),
              HasSubstr(absl::StrCat(" ", getpid(), " ")));
  EXPECT_EQ(base::ReadProcFile(a.pid, "cmdline").value_or(""),
            absl::StrJoin(command.argv, std::string(1, '\0')) + '\0');
  EXPECT_EQ(base::ReadProcFile(a.pid, "environ").value_or(""),
            absl::StrJoin(command.environment, std::string(1, '\0')) + '\0');
  EXPECT_TRUE(base::IsRunning(a));
  const pid_t launcher = launcher_.pid();
  EXPECT_NE(launcher, 0);
  EXPECT_EQ(
      base::FindProcesses("--launcher --deployment " + folder_.path()).size(),
      1u);

  ORDO_ASSERT_OK_AND_ASSIGN(const auto b,
                            launcher_.Start(Command("b", "exit 3")));
  ExpectEndsWell(b);
  EXPECT_EQ(launcher_.pid(), launcher);
  EXPECT_TRUE(base::IsRunning(a));
  ORDO_ASSERT_OK(base::SignalProcess(a, SIGTERM));
  ExpectEndsWell(a);
}

TEST_F(LauncherTest, TrainersGetTheEnvironmentAndNothingElse) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto id,
      launcher_.Start(Command("a", "env; ls -l /proc/self/fd /proc/$PPID/fd")));
  ExpectEndsWell(id);
  const std::string log = Text("a/rank-0.log");
  EXPECT_THAT(log, HasSubstr("GREETING=hello a\n"));
  EXPECT_THAT(log, Not(HasSubstr("HOME=")));
  EXPECT_THAT(log, Not(HasSubstr("socket:")));
}

TEST_F(LauncherTest, SupervisorsOutliveIt) {
  base::ProcessId id;
  {
    Launcher launcher;
    ORDO_ASSERT_OK_AND_ASSIGN(
        id, launcher.Start(Command(
                "a", "trap 'exit 0' TERM; while :; do sleep 0.01; done")));
  }
  EXPECT_TRUE(
      base::FindProcesses("--launcher --deployment " + folder_.path()).empty());
  EXPECT_TRUE(base::IsRunning(id));
  ORDO_ASSERT_OK(base::SignalProcess(id, SIGTERM));
  ExpectEndsWell(id);
}

TEST_F(LauncherTest, ASignalAtOnceIsARequest) {
  for (int i = 0; i < 50; ++i) {
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto id, launcher_.Start(Command(absl::StrCat("a", i),
                                               "while :; do sleep 1; done")));
    kill(id.pid, SIGTERM);
    // A trainer that the signal ended, told by a supervisor that it did not.
    ExpectEndsWell(id);
  }
}

TEST_F(LauncherTest, OneThatDiedIsReplaced) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto a,
                            launcher_.Start(Command("a", "exit 0")));
  ExpectEndsWell(a);
  const pid_t first = launcher_.pid();
  kill(first, SIGKILL);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto b,
                            launcher_.Start(Command("b", "exit 0")));
  ExpectEndsWell(b);
  EXPECT_NE(launcher_.pid(), first);

  // Reaped by who reaps all children.
  const pid_t second = launcher_.pid();
  kill(second, SIGKILL);
  ASSERT_EQ(waitpid(second, nullptr, 0), second);
  EXPECT_FALSE(launcher_.OnExit(first));
  EXPECT_TRUE(launcher_.OnExit(second));
  EXPECT_EQ(launcher_.pid(), 0);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto c,
                            launcher_.Start(Command("c", "exit 0")));
  ExpectEndsWell(c);
  EXPECT_NE(launcher_.pid(), 0);
}

TEST_F(LauncherTest, WhereThereCanBeNoneEachIsAProgramOfItsOwn) {
  const SupervisorCommand command =
      FakeCommand("a", "printf '\\377\\377\\377\\377' >&0\n");
  for (int i = 0; i < 2; ++i) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto id, launcher_.Start(command));
    ExpectEndsWell(id);
  }
  EXPECT_EQ(Text("a/said"), "hello a\nhello a\n");
  EXPECT_EQ(launcher_.pid(), 0);
  EXPECT_EQ(NumFakeLaunchers(), 1);
}

TEST_F(LauncherTest, OneThatEndsAtOnceIsTriedAgainAfterAMinute) {
  const SupervisorCommand command = FakeCommand("a", "exit 2\n");
  const auto start = [&] {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto id, hasty_.Start(command));
    ExpectEndsWell(id);
    EXPECT_EQ(hasty_.pid(), 0);
  };
  start();
  clock_.Advance(absl::Seconds(59));
  start();
  EXPECT_EQ(NumFakeLaunchers(), 1);
  clock_.Advance(absl::Seconds(1));
  start();
  EXPECT_EQ(NumFakeLaunchers(), 2);
  EXPECT_EQ(Text("a/said"), "hello a\nhello a\nhello a\n");

  // Another program may do better.
  ORDO_ASSERT_OK_AND_ASSIGN(const auto id,
                            hasty_.Start(Command("b", "exit 0")));
  ExpectEndsWell(id);
  EXPECT_NE(hasty_.pid(), 0);
}

TEST_F(LauncherTest, OneThatSaysNothingIsNotWaitedForEachTime) {
  const SupervisorCommand command = FakeCommand("a", "exec sleep 300\n");
  for (int i = 0; i < 2; ++i) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto id, hasty_.Start(command));
    ExpectEndsWell(id);
  }
  EXPECT_EQ(Text("a/said"), "hello a\nhello a\n");
  EXPECT_EQ(NumFakeLaunchers(), 1);
}

TEST_F(LauncherTest, WhatItCannotForkIsAProgramOfItsOwn) {
  // It can serve; and to the first request: EAGAIN.
  const SupervisorCommand command = FakeCommand(
      "a", "printf '\\0\\0\\0\\0\\365\\377\\377\\377' >&0\nexec sleep 300\n");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto id, launcher_.Start(command));
  ExpectEndsWell(id);
  EXPECT_EQ(Text("a/said"), "hello a\n");
  EXPECT_EQ(NumFakeLaunchers(), 1);
}

TEST_F(LauncherTest, WhatIsTooLongForItIsAProgramOfItsOwn) {
  // A text may be executed that is as long as a quarter of the stack may be.
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = rlim_t{32} << 20;
  if (setrlimit(RLIMIT_STACK, &limit) != 0) GTEST_SKIP() << "small stacks only";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto first,
                            launcher_.Start(Command("a", "exit 0")));
  ExpectEndsWell(first);
  const pid_t launcher = launcher_.pid();
  SupervisorCommand command = Command("b", "echo $LONG1 | wc -c");
  // Longer than a launcher takes, in texts that an execution takes.
  for (int i = 0; i < 45; ++i) {
    command.environment.push_back(
        absl::StrCat("LONG", i, "=", std::string(100'000, 'x')));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto id, launcher_.Start(command));
  ExpectEndsWell(id);
  setrlimit(RLIMIT_STACK, &before);
  EXPECT_EQ(Text("b/rank-0.log"), "100001\n");
  EXPECT_EQ(launcher_.pid(), launcher);
}

TEST_F(LauncherTest, MissingProgramIsNamed) {
  SupervisorCommand command = Command("a", "");
  command.argv[0] = folder_.Path("no-such-program");
  EXPECT_THAT(launcher_.Start(command), StatusIs(absl::StatusCode::kNotFound,
                                                 HasSubstr("no-such-program")));
}

TEST_F(LauncherTest, OneThatDoesNotAnswerIsEnded) {
  const SupervisorCommand command =
      FakeCommand("a", "printf '\\0\\0\\0\\0' >&0\nexec sleep 300\n");
  for (int i = 0; i < 2; ++i) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto id, hasty_.Start(command));
    ExpectEndsWell(id);
  }
  EXPECT_EQ(Text("a/said"), "hello a\nhello a\n");
  EXPECT_EQ(hasty_.pid(), 0);
  EXPECT_EQ(NumFakeLaunchers(), 1);
}

TEST_F(LauncherTest, OneThatDoesNotReadIsEnded) {
  SupervisorCommand command =
      FakeCommand("a", "printf '\\0\\0\\0\\0' >&0\nexec sleep 300\n");
  // More than a socket holds.
  for (int i = 0; i < 11; ++i) {
    command.environment.push_back(
        absl::StrCat("LONG", i, "=", std::string(100'000, 'x')));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto id, hasty_.Start(command));
  ExpectEndsWell(id);
  EXPECT_EQ(Text("a/said"), "hello a\n");
  EXPECT_EQ(hasty_.pid(), 0);
  EXPECT_EQ(NumFakeLaunchers(), 1);
}

TEST_F(LauncherTest, WhatAStoppedOneShouldHaveStartedIsStartedOnce) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto a,
                            launcher_.Start(Command("a", "exit 0")));
  ExpectEndsWell(a);
  ASSERT_GT(launcher_.pid(), 0);
  ASSERT_EQ(kill(launcher_.pid(), SIGSTOP), 0);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto b,
                            launcher_.Start(Command("b", "echo here")));
  ExpectEndsWell(b);
  EXPECT_EQ(Text("b/rank-0.log"), "here\n");
  EXPECT_EQ(launcher_.pid(), 0);
}

}  // namespace
}  // namespace ordo::worker::agent

#include "base/process/process.h"

#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::ordo::base::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kTimeout = absl::Seconds(20);

SpawnOptions Shell(const std::string& script) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script};
  return options;
}

class ProcessTest : public ::testing::Test {
 protected:
  // How a script ends.
  std::string Run(const SpawnOptions& options) {
    const auto child = Spawn(options);
    if (!child.ok()) return child.status().ToString();
    const auto status = WaitForExit(child->pid, kTimeout);
    return status.ok() ? status->ToString() : status.status().ToString();
  }

  std::string Content(const std::string& name) {
    PosixFilesystem files;
    return *ReadFile(files, folder_.Path(name), 1 << 20);
  }

  TemporaryFolder folder_;
};

TEST_F(ProcessTest, ExitCodesAndSignalsAreToldApart) {
  EXPECT_EQ(Run(Shell("exit 0")), "exit code 0");
  EXPECT_EQ(Run(Shell("exit 3")), "exit code 3");
  EXPECT_EQ(Run(Shell("kill -9 $$")), "killed by signal 9 (Killed)");
}

TEST_F(ProcessTest, OutputIsAppendedToFiles) {
  SpawnOptions options = Shell("echo out; echo err >&2");
  options.stdout_file = folder_.Path("out");
  options.stderr_file = folder_.Path("err");
  EXPECT_EQ(Run(options), "exit code 0");
  EXPECT_EQ(Run(options), "exit code 0");
  EXPECT_EQ(Content("out"), "out\nout\n");
  EXPECT_EQ(Content("err"), "err\nerr\n");
}

TEST_F(ProcessTest, InputIsEmptyUnlessNamed) {
  EXPECT_EQ(Run(Shell("test -z \"$(cat)\"")), "exit code 0");
  PosixFilesystem files;
  ORDO_ASSERT_OK(AtomicWrite(files, folder_.Path("in"), "text"));
  SpawnOptions options = Shell("test \"$(cat)\" = text");
  options.stdin_file = folder_.Path("in");
  EXPECT_EQ(Run(options), "exit code 0");
}

TEST_F(ProcessTest, InputMayBeADescriptorOfThisProcess) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  SpawnOptions options = Shell("test \"$(cat)\" = text");
  options.stdin_descriptor = ends[0];
  EXPECT_EQ(Run(options), "exit code 0");
  ::close(ends[0]);
}

TEST_F(ProcessTest, TheEnvironmentIsPassedOnOrReplaced) {
  ASSERT_EQ(::setenv("ORDO_TEST", "inherited", 1), 0);
  EXPECT_EQ(Run(Shell("test \"$ORDO_TEST\" = inherited")), "exit code 0");
  SpawnOptions options = Shell("test \"$ORDO_TEST\" = given");
  options.environment = {"ORDO_TEST=given"};
  EXPECT_EQ(Run(options), "exit code 0");
}

TEST_F(ProcessTest, AChildStartsWithDefaultSignals) {
  ASSERT_NE(::signal(SIGTERM, SIG_IGN), SIG_ERR);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &blocked, nullptr), 0);
  EXPECT_EQ(Run(Shell("kill $$")), "killed by signal 15 (Terminated)");
  ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  ::signal(SIGTERM, SIG_DFL);
}

TEST_F(ProcessTest, ANewSessionLeadsItsOwnGroup) {
  SpawnOptions options = Shell("sleep 600 & sleep 600; true");
  options.new_session = true;
  ORDO_ASSERT_OK_AND_ASSIGN(const ProcessId child, Spawn(options));
  EXPECT_EQ(::getsid(child.pid), child.pid);
  EXPECT_EQ(::getpgid(child.pid), child.pid);
  EXPECT_THAT(SignalGroup(child.pid, SIGKILL), IsOk());
  ORDO_ASSERT_OK_AND_ASSIGN(const ExitStatus status,
                            WaitForExit(child.pid, kTimeout));
  EXPECT_EQ(status.signal, SIGKILL);
}

TEST_F(ProcessTest, AProgramThatCannotStartIsNamed) {
  SpawnOptions options;
  EXPECT_THAT(Spawn(options), StatusIs(absl::StatusCode::kInvalidArgument));
  options.argv = {"/nowhere/program"};
  EXPECT_THAT(Spawn(options), StatusIs(absl::StatusCode::kNotFound,
                                       HasSubstr("/nowhere/program")));
  options.argv = {folder_.path()};
  EXPECT_THAT(Spawn(options), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(ProcessTest, AFileThatCannotBeOpenedIsNamed) {
  SpawnOptions options = Shell("true");
  options.stdout_file = folder_.Path("no/such/folder");
  EXPECT_THAT(Spawn(options), StatusIs(absl::StatusCode::kNotFound,
                                       HasSubstr("no/such/folder")));
}

TEST_F(ProcessTest, WaitingEndsAtItsDeadline) {
  ORDO_ASSERT_OK_AND_ASSIGN(const ProcessId child,
                            Spawn(Shell("exec sleep 600")));
  EXPECT_THAT(WaitForExit(child.pid, absl::ZeroDuration()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(WaitUntilGone(child, absl::ZeroDuration()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(SignalProcess(child, SIGTERM), IsOk());
  EXPECT_THAT(WaitUntilGone(child, kTimeout), IsOk());
  ORDO_ASSERT_OK_AND_ASSIGN(const ExitStatus status,
                            WaitForExit(child.pid, kTimeout));
  EXPECT_EQ(status.signal, SIGTERM);
  EXPECT_THAT(WaitForExit(child.pid, kTimeout),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ProcessTest, AZombieDoesNotRun) {
  ORDO_ASSERT_OK_AND_ASSIGN(const ProcessId child,
                            Spawn(Shell("exec sleep 600")));
  EXPECT_TRUE(IsRunning(child));
  ORDO_ASSERT_OK(SignalProcess(child, SIGKILL));
  ORDO_ASSERT_OK(WaitUntilGone(child, kTimeout));
  EXPECT_FALSE(IsRunning(child));
  EXPECT_THAT(IdentifyProcess(child.pid),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SignalProcess(child, SIGKILL),
              StatusIs(absl::StatusCode::kNotFound));
  ORDO_ASSERT_OK(WaitForExit(child.pid, kTimeout));
}

TEST_F(ProcessTest, ALaterProcessWithTheSamePidIsAnotherOne) {
  ORDO_ASSERT_OK_AND_ASSIGN(ProcessId self, IdentifyProcess(::getpid()));
  EXPECT_TRUE(IsRunning(self));
  self.start_ticks -= 1;
  EXPECT_FALSE(IsRunning(self));
  EXPECT_THAT(SignalProcess(self, SIGKILL),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(WaitUntilGone(self, absl::ZeroDuration()), IsOk());
}

TEST_F(ProcessTest, TheSamePidAndTimeOfAnotherBootIsAnotherOne) {
  ORDO_ASSERT_OK_AND_ASSIGN(ProcessId self, IdentifyProcess(::getpid()));
  EXPECT_EQ(self.boot_id, BootId());
  EXPECT_FALSE(BootId().empty());
  for (const std::string& boot :
       {std::string(), std::string("8d31e5a2-0000-4000-8000-000000000000")}) {
    self.boot_id = boot;
    EXPECT_FALSE(IsRunning(self));
    EXPECT_THAT(SignalProcess(self, SIGKILL),
                StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(WaitUntilGone(self, absl::ZeroDuration()), IsOk());
  }
}

TEST_F(ProcessTest, AGroupThatIsNotThereIsNotFound) {
  ORDO_ASSERT_OK_AND_ASSIGN(const ProcessId child, Spawn(Shell("exit 0")));
  ORDO_ASSERT_OK(WaitForExit(child.pid, kTimeout));
  EXPECT_THAT(SignalGroup(child.pid, SIGTERM),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SignalGroup(0, SIGTERM),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SignalGroup(1, SIGTERM),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ProcessTest, ProcessesAreFoundByTheirCommandLine) {
  const std::string mark = folder_.Path("mark");
  EXPECT_THAT(FindProcesses(mark), IsEmpty());
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "read line < \"$0\"", mark};
  ASSERT_EQ(::mkfifo(mark.c_str(), 0600), 0);
  ORDO_ASSERT_OK_AND_ASSIGN(const ProcessId child, Spawn(options));
  auto found = FindProcesses(mark);
  const RealClock clock;
  const absl::Duration deadline = clock.Monotonic() + kTimeout;
  while (found.empty() && clock.Monotonic() < deadline) {
    found = FindProcesses(mark);
  }
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, child);
  EXPECT_EQ(found[0].arguments, options.argv);
  EXPECT_THAT(found[0].command_line, HasSubstr("/bin/sh -c read line"));
  ORDO_ASSERT_OK(SignalProcess(child, SIGKILL));
  ORDO_ASSERT_OK(WaitForExit(child.pid, kTimeout));
  EXPECT_THAT(FindProcesses(mark), IsEmpty());
}

TEST_F(ProcessTest, OwnProgramAndSiblingsAreFound) {
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string path, ExecutablePath());
  EXPECT_THAT(SiblingBinary(NameOf(path)), IsOkAndHolds(path));
  EXPECT_THAT(
      SiblingBinary("no-such-program"),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no-such-program")));
}

}  // namespace
}  // namespace ordo::base

#include <cerrno>
#include <chrono>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <iterator>
#include <memory>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/supervisor/journal.h"
#include "worker/supervisor/landlock.h"
#include "worker/supervisor/proc.h"

namespace ordo::worker::supervisor {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::chrono::seconds kDeadline{20};
constexpr int kNobody = 65534;

// Whether this process may have another become `kNobody`: in a user namespace
// of its own root may not.
bool MayBecomeNobody() {
  const pid_t child = fork();
  if (child == 0) {
    _exit(setgroups(0, nullptr) == 0 &&
                  setresgid(kNobody, kNobody, kNobody) == 0 &&
                  setresuid(kNobody, kNobody, kNobody) == 0
              ? 0
              : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Waits for `done`; false when the deadline passes.
template <typename F>
bool WaitUntil(F done) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(nullptr, 0, 2);
  }
  return true;
}

// Runs the program over shell scripts as trainers.
class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() {
    // What a killed supervisor leaves behind comes here, to be seen ending.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::string pattern = ::testing::TempDir() + "supervisorXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~SupervisorTest() override {
    if (supervisor_ > 0) {
      kill(supervisor_, SIGKILL);
      waitpid(supervisor_, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  struct Limits {
    int step_timeout_ms = 0;
    int grace_ms = 10000;
    // Stops at its start and at its system calls (ptrace).
    bool traced = false;
    int rank = 0;
    // Others, with their values.
    std::vector<std::string> flags = {};
  };

  void Start(const std::vector<std::string>& trainer, Limits limits) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
    ASSERT_GT(length, 0);
    std::string path(self, length);
    for (int i = 0; i < 3; ++i) path.resize(path.rfind('/'));
    std::vector<std::string> arguments = {
        path + "/ordo-supervisor",
        "--task-dir",
        folder_,
        "--attempt-dir",
        attempt_.empty() ? folder_ : attempt_,
        "--step-timeout-ms",
        std::to_string(limits.step_timeout_ms),
        "--grace-ms",
        std::to_string(limits.grace_ms),
        "--deployment",
        folder_,
        "--rank",
        std::to_string(limits.rank)};
    arguments.insert(arguments.end(), limits.flags.begin(), limits.flags.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), trainer.begin(), trainer.end());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    supervisor_ = fork();
    if (supervisor_ == 0) {
      if (limits.traced) ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      execv(argv[0], argv.data());
      _exit(126);
    }
  }
  void StartScript(const std::string& script, Limits limits) {
    Start({"/bin/sh", "-c", script}, limits);
  }
  void StartScript(const std::string& script) { StartScript(script, {}); }
  void StartConfined(const std::string& script,
                     const std::vector<std::string>& flags) {
    Limits limits;
    limits.flags = flags;
    StartScript(script, limits);
  }
  // As nobody, in a folder that everybody reaches; only root can. $0 is the
  // attempt's folder.
  void StartAsNobody(const std::string& script) {
    std::filesystem::remove_all(folder_);
    std::string pattern = "/tmp/supervisorXXXXXX";
    folder_ = mkdtemp(pattern.data());
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    attempt_ = folder_ + "/attempt";
    std::filesystem::create_directory(attempt_);
    ASSERT_EQ(chown(attempt_.c_str(), kNobody, kNobody), 0);
    Limits limits;
    const std::string nobody = std::to_string(kNobody);
    limits.flags = {"--user", nobody + ":" + nobody};
    Start({"/bin/sh", "-c", script, attempt_}, limits);
  }

  std::vector<JournalRecord> Journal() const {
    const std::string bytes = ReadText(folder_ + "/journal");
    return ParseJournal(bytes.data(), bytes.size());
  }
  std::vector<Phase> Phases() const {
    std::vector<Phase> phases;
    for (const JournalRecord& record : Journal()) {
      phases.push_back(static_cast<Phase>(record.phase));
    }
    return phases;
  }
  std::optional<JournalRecord> Find(Phase phase) const {
    for (const JournalRecord& record : Journal()) {
      if (record.phase == static_cast<uint32_t>(phase)) return record;
    }
    return std::nullopt;
  }
  std::string Log() const {
    return ReadText((attempt_.empty() ? folder_ : attempt_) + "/rank-0.log");
  }
  bool WaitForLog(const std::string& text) {
    return WaitUntil([&] { return Log().find(text) != std::string::npos; });
  }

  // The exit code of the supervisor, which must leave in time.
  int Wait() {
    int status = 0;
    if (!WaitUntil([&] {
          return waitpid(supervisor_, &status, WNOHANG) == supervisor_;
        })) {
      return -1;
    }
    supervisor_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Follows a traced supervisor to its end: how many records the journal had at
  // each of its calls of this kind.
  std::vector<size_t> RecordsAt(uint64_t system_call) {
    std::vector<size_t> found;
    int status = 0;
    waitpid(supervisor_, &status, 0);
    ptrace(PTRACE_SETOPTIONS, supervisor_, nullptr,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    int signal = 0;
    while (ptrace(PTRACE_SYSCALL, supervisor_, nullptr, signal) == 0 &&
           waitpid(supervisor_, &status, 0) == supervisor_ &&
           WIFSTOPPED(status)) {
      signal = WSTOPSIG(status);
      if (signal != (SIGTRAP | 0x80)) continue;
      signal = 0;
      __ptrace_syscall_info call{};
      ptrace(PTRACE_GET_SYSCALL_INFO, supervisor_, sizeof(call), &call);
      if (call.op == PTRACE_SYSCALL_INFO_ENTRY &&
          call.entry.nr == system_call) {
        found.push_back(Journal().size());
      }
    }
    EXPECT_TRUE(WIFEXITED(status));
    supervisor_ = 0;
    return found;
  }

  void SendWithGrace(int signal, int grace_ms) {
    sigval value{};
    value.sival_int = grace_ms;
    ASSERT_EQ(sigqueue(supervisor_, signal, value), 0);
  }

  std::string folder_;
  // Empty: the same.
  std::string attempt_;
  pid_t supervisor_ = 0;
};

TEST_F(SupervisorTest, ATrainerGainsNoPrivilegesAndLeavesNoCore) {
  StartScript("grep NoNewPrivs /proc/self/status; ulimit -c");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Log(), "NoNewPrivs:\t1\n0\n");
}

TEST_F(SupervisorTest, AFileThatGrowsTooLongEndsNobodyElse) {
  StartConfined("head -c 20000 /dev/zero > " + folder_ + "/long; echo $?",
                {"--file-bytes", "8192"});
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/long"), 8192u);
  // It was told, and not killed.
  EXPECT_THAT(Log(), HasSubstr("File too large"));
  EXPECT_THAT(Log(), HasSubstr("\n1\n"));
}

TEST_F(SupervisorTest, LimitsOfTheCommandLineHold) {
  StartConfined("ulimit -n; ulimit -v",
                {"--open-files", "77", "--address-space-bytes", "1073741824"});
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Log(), "77\n1048576\n");
}

TEST_F(SupervisorTest, ATrainerOfAnotherUserReachesNothingOfItsSupervisors) {
  if (!MayBecomeNobody()) GTEST_SKIP() << "only root becomes another user";
  StartAsNobody(
      "id -u; id -G; kill -0 $PPID 2>&1; cat /proc/$PPID/environ 2>&1; "
      "echo x > $0/../journal; echo mine > $0/own; echo done");
  EXPECT_EQ(Wait(), 0);
  EXPECT_THAT(Log(), HasSubstr("65534\n65534\n"));
  EXPECT_THAT(Log(), HasSubstr("not permitted"));
  EXPECT_THAT(Log(), HasSubstr("/journal: Permission denied"));
  EXPECT_THAT(Log(), HasSubstr("/environ: Permission denied"));
  EXPECT_EQ(ReadText(attempt_ + "/own"), "mine\n");
  EXPECT_EQ(Find(Phase::kExited)->exit_code, 0);
}

TEST_F(SupervisorTest, ATrainerOfAnotherUserDiesWithItsSupervisorToo) {
  if (!MayBecomeNobody()) GTEST_SKIP() << "only root becomes another user";
  StartAsNobody("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_TRUE(WaitForLog("ready"));
  ASSERT_TRUE(
      WaitUntil([&] { return Find(Phase::kTrainerStarted).has_value(); }));
  const pid_t trainer = Find(Phase::kTrainerStarted)->pid;
  ASSERT_EQ(kill(supervisor_, SIGKILL), 0);
  EXPECT_EQ(Wait(), -SIGKILL);
  EXPECT_TRUE(WaitUntil([&] {
    ProcessStat stat;
    return !ReadProcessStat(trainer, &stat) || stat.state == 'Z';
  }));
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

TEST_F(SupervisorTest, ATrainerWritesWhereItMayAlone) {
  if (LandlockVersion() == 0) GTEST_SKIP() << "the kernel has no Landlock";
  attempt_ = folder_ + "/attempt";
  std::filesystem::create_directory(attempt_);
  std::filesystem::create_symlink(folder_, attempt_ + "/link");
  StartConfined("echo a > " + attempt_ + "/mine; echo b > " + attempt_ +
                    "/link/other; cat " + folder_ + "/journal | wc -c",
                {"--writable", attempt_});
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(ReadText(attempt_ + "/mine"), "a\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/other"));
  EXPECT_THAT(Log(), HasSubstr("Permission denied"));
  // What it reads is another matter.
  EXPECT_THAT(Log(), HasSubstr(std::to_string(kJournalBytes)));
}

TEST_F(SupervisorTest, WhatCannotBeConfinedDoesNotStart) {
  StartConfined("echo started", {"--cgroup", folder_ + "/none/a.1"});
  EXPECT_EQ(Wait(), 0);
  ASSERT_TRUE(Find(Phase::kStartFailed).has_value());
  EXPECT_EQ(Find(Phase::kStartFailed)->operation,
            static_cast<uint32_t>(Operation::kConfine));
  EXPECT_EQ(Find(Phase::kStartFailed)->error_number, ENOENT);
  EXPECT_EQ(Log(), "");
}

TEST_F(SupervisorTest, ALogThatIsALinkIsNotWritten) {
  std::ofstream(folder_ + "/precious") << "text";
  std::filesystem::create_symlink(folder_ + "/precious",
                                  folder_ + "/rank-0.log");
  StartScript("echo overwritten");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Find(Phase::kStartFailed)->operation,
            static_cast<uint32_t>(Operation::kOpenLog));
  EXPECT_EQ(ReadText(folder_ + "/precious"), "text");
}

TEST_F(SupervisorTest, ARankHasItsOwnLogAndProgressFile) {
  Limits limits;
  limits.rank = 3;
  limits.step_timeout_ms = 200;
  // Whatever rank 0 does: this one's own file never grows.
  StartScript("echo hello; while :; do echo x >> " + folder_ +
                  "/progress.records; sleep 0.01; done",
              limits);
  EXPECT_EQ(Wait(), 0);
  EXPECT_TRUE(Find(Phase::kHang).has_value());
  EXPECT_EQ(ReadText(folder_ + "/rank-3.log"), "hello\n");
  EXPECT_EQ(Log(), "");
}

TEST_F(SupervisorTest, JournalsAWholeLife) {
  StartScript("echo hello; exit 7");
  EXPECT_EQ(Wait(), 0);
  EXPECT_THAT(Phases(),
              ElementsAre(Phase::kSupervisorStarted, Phase::kTrainerStarted,
                          Phase::kExited, Phase::kGroupEmpty));
  EXPECT_EQ(Find(Phase::kExited)->exit_code, 7);
  EXPECT_EQ(Log(), "hello\n");
}

TEST_F(SupervisorTest, AnEndThatLeavesNothingWaitsForNoDisk) {
  StartScript("exit 0", {0, 10000, true});
  EXPECT_THAT(RecordsAt(SYS_fdatasync), IsEmpty());
}

TEST_F(SupervisorTest, AnExitIsDurableBeforeWhatItLeavesBehindIsWaitedFor) {
  StartScript("sleep 300 & exit 0", {0, 10000, true});
  EXPECT_THAT(RecordsAt(SYS_fdatasync), ElementsAre(3));
}

TEST_F(SupervisorTest, ATaskThatLeavesNothingIsJournalledInThreeWrites) {
  StartScript("exit 0", {0, 10000, true});
  EXPECT_THAT(RecordsAt(SYS_pwrite64), ElementsAre(0, 1, 2));
}

TEST_F(SupervisorTest, JournalsTheSignalThatEndedTheTrainer) {
  StartScript("kill -SEGV $$");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Find(Phase::kExited)->signal, SIGSEGV);
}

TEST_F(SupervisorTest, TrainerLeadsItsOwnGroup) {
  StartScript("echo ready; sleep 60");
  ASSERT_TRUE(WaitForLog("ready"));
  ASSERT_TRUE(
      WaitUntil([&] { return Find(Phase::kTrainerStarted).has_value(); }));
  const JournalRecord record = *Find(Phase::kTrainerStarted);
  ProcessStat stat;
  ASSERT_TRUE(ReadProcessStat(record.pid, &stat));
  EXPECT_EQ(stat.group, record.pid);
  EXPECT_EQ(stat.parent, supervisor_);
  EXPECT_EQ(getsid(record.pid), supervisor_);
}

TEST_F(SupervisorTest, MissingTrainerIsJournalled) {
  Start({folder_ + "/no-such-trainer"}, {});
  EXPECT_EQ(Wait(), 0);
  ASSERT_TRUE(Find(Phase::kStartFailed).has_value());
  const JournalRecord record = *Find(Phase::kStartFailed);
  EXPECT_EQ(record.error_number, ENOENT);
  EXPECT_EQ(record.operation, static_cast<uint32_t>(Operation::kExecute));
  EXPECT_EQ(Phases().back(), Phase::kGroupEmpty);
}

TEST_F(SupervisorTest, StopLetsTheTrainerLeaveByItself) {
  StartScript(
      "trap 'echo saving; exit 10' TERM; echo ready; "
      "while :; do sleep 0.01; done");
  ASSERT_TRUE(WaitForLog("ready"));
  SendWithGrace(SIGTERM, 15000);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Find(Phase::kStopRequested)->detail, 15000u);
  EXPECT_EQ(Find(Phase::kExited)->exit_code, 10);
  EXPECT_THAT(Log(), HasSubstr("saving"));
}

TEST_F(SupervisorTest, StopKillsAfterTheGrace) {
  StartScript("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_TRUE(WaitForLog("ready"));
  SendWithGrace(SIGTERM, 50);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Find(Phase::kExited)->signal, SIGKILL);
}

TEST_F(SupervisorTest, GraceOfTheCommandLineServesAPlainSignal) {
  StartScript("trap '' TERM; echo ready; while :; do sleep 0.01; done",
              {0, 60});
  ASSERT_TRUE(WaitForLog("ready"));
  ASSERT_EQ(kill(supervisor_, SIGTERM), 0);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Find(Phase::kStopRequested)->detail, 60u);
}

TEST_F(SupervisorTest, SecondKillDoesNotWait) {
  StartScript(
      "trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_TRUE(WaitForLog("ready"));
  SendWithGrace(SIGUSR1, 100000);
  ASSERT_TRUE(WaitForLog("asked"));
  SendWithGrace(SIGUSR1, 100000);
  EXPECT_EQ(Wait(), 0);
  EXPECT_TRUE(Find(Phase::kKillRequested).has_value());
  EXPECT_EQ(Find(Phase::kExited)->signal, SIGKILL);
}

TEST_F(SupervisorTest, SilentTrainerIsHung) {
  StartScript("echo ready; sleep 60", {100, 10000});
  EXPECT_EQ(Wait(), 0);
  ASSERT_TRUE(Find(Phase::kHang).has_value());
  EXPECT_GE(Find(Phase::kHang)->detail, 100u);
  EXPECT_EQ(Find(Phase::kExited)->signal, SIGQUIT);
}

TEST_F(SupervisorTest, AHungTrainerMaySayWhereItHangs) {
  StartScript("trap 'echo here; exit 3' QUIT; while :; do sleep 0.01; done",
              {100, 10000});
  EXPECT_EQ(Wait(), 0);
  EXPECT_TRUE(Find(Phase::kHang).has_value());
  EXPECT_EQ(Find(Phase::kExited)->exit_code, 3);
  EXPECT_THAT(Log(), HasSubstr("here"));
}

TEST_F(SupervisorTest, AHungTrainerThatHeedsNothingIsKilled) {
  StartScript("trap '' QUIT TERM; while :; do sleep 0.01; done", {100, 10000});
  EXPECT_EQ(Wait(), 0);
  EXPECT_TRUE(Find(Phase::kHang).has_value());
  EXPECT_EQ(Find(Phase::kExited)->signal, SIGKILL);
}

TEST_F(SupervisorTest, ProgressKeepsTheWatchQuiet) {
  // Twenty steps of 0.3 s: longer than the limit in all, and each so much
  // shorter that a busy machine does not matter.
  StartScript(
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
      "echo x >> " +
          folder_ + "/progress.records; sleep 0.3; done",
      {5000, 10000});
  EXPECT_EQ(Wait(), 0);
  EXPECT_THAT(Phases(), Not(Contains(Phase::kHang)));
  EXPECT_EQ(Find(Phase::kExited)->exit_code, 0);
}

TEST_F(SupervisorTest, ProgressIsSeenWhateverTheClockSays) {
  // Its times go back and forth, as after jumps of the storage's clock.
  StartScript(
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo x >> " + folder_ +
          "/progress.records; touch -d \"$((i % 2 * 90 + 1)) days ago\" " +
          folder_ + "/progress.records; sleep 0.3; done",
      {2000, 10000});
  EXPECT_EQ(Wait(), 0);
  EXPECT_THAT(Phases(), Not(Contains(Phase::kHang)));
}

TEST_F(SupervisorTest, EndsWhatTheTrainerLeavesBehind) {
  // One that stays in the group, one that left session and group, one that
  // ignores SIGTERM.
  StartScript(
      "sleep 300 & setsid sleep 301 & "
      "setsid sh -c 'trap \"\" TERM; echo up; while :; do sleep 1; done' & "
      "while ! grep -q up " +
      folder_ +
      "/rank-0.log; do sleep 0.01; "
      "done; exit 0");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Phases().back(), Phase::kGroupEmpty);
  for (const ProcessStat& process : ListProcesses()) {
    const std::string environment =
        ReadText("/proc/" + std::to_string(process.pid) + "/environ");
    EXPECT_THAT(environment, Not(HasSubstr("ORDO_TASK=" + folder_)));
  }
}

TEST_F(SupervisorTest, TrainerDiesWithItsSupervisor) {
  StartScript("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_TRUE(WaitForLog("ready"));
  ASSERT_TRUE(
      WaitUntil([&] { return Find(Phase::kTrainerStarted).has_value(); }));
  const pid_t trainer = Find(Phase::kTrainerStarted)->pid;
  ASSERT_EQ(kill(supervisor_, SIGKILL), 0);
  EXPECT_EQ(Wait(), -SIGKILL);
  EXPECT_TRUE(WaitUntil([&] {
    ProcessStat stat;
    return !ReadProcessStat(trainer, &stat) || stat.state == 'Z';
  }));
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

TEST_F(SupervisorTest, SurvivesTheTerminalsInterrupt) {
  StartScript("echo ready; while ! test -e " + folder_ +
              "/go; do sleep 0.01; done");
  ASSERT_TRUE(WaitForLog("ready"));
  ASSERT_EQ(kill(supervisor_, SIGINT), 0);
  ASSERT_EQ(kill(supervisor_, SIGHUP), 0);
  std::ofstream(folder_ + "/go") << "go";
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Find(Phase::kExited)->exit_code, 0);
}

TEST_F(SupervisorTest, TrainerInheritsNoOpenFile) {
  constexpr int kFile = 77;
  ASSERT_EQ(dup2(2, kFile), kFile);
  StartScript(
      "if test -e /proc/self/fd/77; then echo open; else echo none; fi");
  EXPECT_EQ(Wait(), 0);
  close(kFile);
  EXPECT_EQ(Log(), "none\n");
}

TEST_F(SupervisorTest, SecondSupervisorOfATaskIsRefused) {
  StartScript("exit 0");
  EXPECT_EQ(Wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/supervisor.log"));
  StartScript("exit 0");
  EXPECT_EQ(Wait(), 1);
  EXPECT_THAT(ReadText(folder_ + "/supervisor.log"),
              HasSubstr("cannot write " + folder_ + "/journal: "));
}

TEST_F(SupervisorTest, WhatItSaysNamesTheTraceOfItsTask) {
  setenv("TRACEPARENT",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 1);
  Limits limits;
  limits.rank = 3;
  Start({}, limits);
  EXPECT_EQ(Wait(), 2);
  unsetenv("TRACEPARENT");
  EXPECT_EQ(ReadText(folder_ + "/supervisor-3.log"),
            "ordo-supervisor: the trainer is missing: it follows -- "
            "trace_id=4bf92f3577b34da6a3ce929d0e0e4736\n");
}

TEST_F(SupervisorTest, BadCommandLineIsRefused) {
  Limits limits;
  limits.rank = 3;
  Start({}, limits);
  EXPECT_EQ(Wait(), 2);
  // A worker hears nothing of what a supervisor prints.
  EXPECT_EQ(ReadText(folder_ + "/supervisor-3.log"),
            "ordo-supervisor: the trainer is missing: it follows --\n");
}

}  // namespace
}  // namespace ordo::worker::supervisor

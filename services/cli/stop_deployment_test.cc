#include "services/cli/stop_deployment.h"

#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/deployment.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Longer than anything here takes.
constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr char kIdle[] = "echo; read line";

// Each look takes a while, and the test acts at it.
class WatchedClock : public base::Clock {
 public:
  absl::Time Now() const override { return absl::UnixEpoch(); }
  absl::Duration Monotonic() const override {
    if (hook_) hook_();
    return elapsed_ += absl::Seconds(5);
  }
  void OnLook(std::function<void()> hook) { hook_ = std::move(hook); }

 private:
  std::function<void()> hook_;
  mutable absl::Duration elapsed_;
};

// With the real processes: tests/e2e.
class StopDeploymentTest : public ::testing::Test {
 protected:
  StopDeploymentTest() {
    EXPECT_EQ(mkfifo(folder_.Path("pipe").c_str(), 0600), 0);
    pipe_ = open(folder_.Path("pipe").c_str(), O_RDWR | O_CLOEXEC);
  }

  ~StopDeploymentTest() override {
    for (const base::ProcessId& id : started_) {
      base::SignalProcess(id, SIGKILL).IgnoreError();
      base::WaitForExit(id.pid, kTimeout).status().IgnoreError();
    }
    close(pipe_);
  }

  // Starts a shell that is called `program`, of the deployment in `folder`, and
  // waits for the line that `script` prints once it is ready.
  base::ProcessId Start(const std::string& program, const std::string& folder,
                        const std::string& script = kIdle) {
    const std::string path = folder_.Path(program);
    if (!base::Exists(files_, path)) {
      EXPECT_EQ(symlink("/bin/sh", path.c_str()), 0);
    }
    base::SpawnOptions options;
    options.argv = {path, "-c", script, "--deployment", folder};
    options.stdin_file = folder_.Path("pipe");
    options.stdout_file = folder_.Path(absl::StrCat("out", started_.size()));
    const auto process = base::Spawn(options);
    ORDO_EXPECT_OK(process);
    if (!process.ok()) return {};
    started_.push_back(*process);
    const base::RealClock clock;
    const absl::Duration deadline = clock.Monotonic() + kTimeout;
    bool ready = false;
    while (!ready && clock.Monotonic() < deadline) {
      const auto info = files_.Stat(options.stdout_file);
      ready = info.ok() && info->size_bytes > 0;
    }
    EXPECT_TRUE(ready) << program;
    return *process;
  }
  base::ProcessId Start(const std::string& program) {
    return Start(program, dir_);
  }

  // The signal that ended a process of ours.
  static int SignalOf(const base::ProcessId& id) {
    const auto ended = base::WaitForExit(id.pid, kTimeout);
    ORDO_EXPECT_OK(ended);
    return ended.ok() ? ended->signal : -1;
  }

  std::istringstream in_;
  std::ostringstream out_;
  Interrupt interrupt_;
  Client client_{ClientOptions(), interrupt_};
  base::PosixFilesystem files_;
  WatchedClock clock_;
  base::testing::TemporaryFolder folder_;
  const std::string dir_ = folder_.path();
  Context context_{in_,     out_,       out_,   Terminal(), OutputForm::kTable,
                   client_, interrupt_, files_, clock_,     nullptr};
  std::vector<base::ProcessId> started_;
  int pipe_ = -1;
};

TEST_F(StopDeploymentTest, NothingRunsNothingIsStopped) {
  EXPECT_THAT(StopDeployment(context_, dir_), IsOkAndHolds(0));
  EXPECT_EQ(out_.str(), "");
  // Nothing new either: it may be any folder.
  EXPECT_THAT(files_.List(dir_), IsOkAndHolds(ElementsAre("pipe")));
}

TEST_F(StopDeploymentTest, EndsWorkerThenSupervisorsThenScheduler) {
  ORDO_ASSERT_OK(WriteEndpoints(files_, dir_, Endpoints()));
  for (const char* program : {"ordo-scheduler", "ordo-supervisor",
                              "ordo-worker", "ordo-supervisor"}) {
    Start(program);
  }

  EXPECT_THAT(StopDeployment(context_, dir_), IsOkAndHolds(4));

  for (const base::ProcessId& id : started_) {
    EXPECT_FALSE(base::IsRunning(id)) << id.pid;
    EXPECT_EQ(SignalOf(id), SIGTERM);
  }
  const std::string said = out_.str();
  EXPECT_LT(said.find("worker"), said.find("supervisor"));
  EXPECT_LT(said.rfind("supervisor"), said.find("scheduler"));
  EXPECT_FALSE(base::Exists(files_, folder_.Path("endpoints.json")));
}

TEST_F(StopDeploymentTest, ALauncherWhoseWorkerIsGoneEndsWithoutAWord) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string self, base::ExecutablePath());
  base::SpawnOptions options;
  options.argv = {
      self.substr(0, self.rfind("/services/cli/")) + "/ordo-supervisor",
      "--launcher", "--deployment", dir_};
  // Open as long as this test holds the other end.
  options.stdin_descriptor = sockets[1];
  ORDO_ASSERT_OK_AND_ASSIGN(const base::ProcessId launcher,
                            base::Spawn(options));
  started_.push_back(launcher);
  // It says that it is there.
  int32_t word = 0;
  ASSERT_EQ(read(sockets[0], &word, sizeof(word)),
            static_cast<ssize_t>(sizeof(word)));

  EXPECT_THAT(StopDeployment(context_, dir_), IsOkAndHolds(0));

  EXPECT_EQ(SignalOf(launcher), SIGKILL);
  EXPECT_EQ(out_.str(), "");
  for (const int socket : sockets) close(socket);
}

TEST_F(StopDeploymentTest, SparesWhatOnlyNamesTheFolder) {
  Start("a-program", dir_);
  Start("ordo-worker", dir_ + "/inner");
  Start("ordo-supervisor", dir_ + " two");
  Start("ordo-scheduler", "other", "echo; read line # --deployment " + dir_);
  EXPECT_THAT(StopDeployment(context_, dir_), IsOkAndHolds(0));
  for (const base::ProcessId& id : started_) {
    EXPECT_TRUE(base::IsRunning(id)) << id.pid;
  }
}

TEST_F(StopDeploymentTest, FindsOursInAFolderWithABlank) {
  const std::string folder = folder_.Path("a folder");
  ORDO_ASSERT_OK(files_.MakeFolders(folder));
  Start("a folder/ordo-worker", folder);
  EXPECT_THAT(StopDeployment(context_, folder), IsOkAndHolds(1));
}

TEST_F(StopDeploymentTest, TheKeeperEndsFirstAndTheLockIsTakenAfterIt) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto taken, DeploymentLock::Take(dir_));
  std::optional<DeploymentLock> held(std::move(taken));
  const base::ProcessId keeper = Start("ordo");
  ORDO_ASSERT_OK(held->NameKeeper(keeper));
  const base::ProcessId worker = Start("ordo-worker");
  clock_.OnLook([&] {
    if (base::IsRunning(keeper) || !held.has_value()) return;
    EXPECT_TRUE(base::IsRunning(worker));
    held.reset();
  });

  EXPECT_THAT(StopDeployment(context_, dir_), IsOkAndHolds(2));

  EXPECT_EQ(SignalOf(keeper), SIGTERM);
  EXPECT_FALSE(base::IsRunning(worker));
}

TEST_F(StopDeploymentTest, SparesAKeeperThatStartsMeanwhile) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto lock, DeploymentLock::Take(dir_));
  const base::ProcessId first = Start("ordo");
  ORDO_ASSERT_OK(lock.NameKeeper(first));
  const base::ProcessId second = Start("ordo");
  const base::ProcessId worker = Start("ordo-worker");
  ORDO_ASSERT_OK(WriteEndpoints(files_, dir_, Endpoints()));
  clock_.OnLook([&] {
    if (base::IsRunning(first)) return;
    ORDO_EXPECT_OK(lock.NameKeeper(second));
  });

  EXPECT_THAT(StopDeployment(context_, dir_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(absl::StrCat("'ordo up' (", second.pid))));

  EXPECT_EQ(SignalOf(first), SIGTERM);
  EXPECT_TRUE(base::IsRunning(second));
  EXPECT_TRUE(base::IsRunning(worker));
  EXPECT_TRUE(base::Exists(files_, folder_.Path("endpoints.json")));
}

TEST_F(StopDeploymentTest, WaitsForAnotherThatEndsTheDeployment) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto taken, DeploymentLock::Take(dir_));
  std::optional<DeploymentLock> held(std::move(taken));
  const base::ProcessId worker = Start("ordo-worker");
  int looks = 0;
  clock_.OnLook([&] {
    if (++looks != 3) return;
    EXPECT_TRUE(base::IsRunning(worker));
    held.reset();
  });
  EXPECT_THAT(StopDeployment(context_, dir_), IsOkAndHolds(1));
  EXPECT_FALSE(base::IsRunning(worker));
}

TEST_F(StopDeploymentTest, GivesUpOnALockThatIsNeverFree) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto lock, DeploymentLock::Take(dir_));
  const base::ProcessId worker = Start("ordo-worker");
  EXPECT_THAT(StopDeployment(context_, dir_),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr(dir_)));
  EXPECT_TRUE(base::IsRunning(worker));
}

TEST_F(StopDeploymentTest, OneThatDoesNotGoIsKilled) {
  const base::ProcessId stubborn =
      Start("ordo-worker", dir_, absl::StrCat("trap '' TERM; ", kIdle));
  ORDO_EXPECT_OK(
      EndProcesses(context_, "worker", {stubborn}, absl::Milliseconds(10)));
  EXPECT_EQ(SignalOf(stubborn), SIGKILL);
}

TEST_F(StopDeploymentTest, ProcessesOfAKindEndAtOnceNotInTurn) {
  // The first goes when the second has gone.
  const std::string other = folder_.Path("other");
  ORDO_ASSERT_OK(base::AtomicWrite(files_, other, ""));
  const base::ProcessId first =
      Start("ordo-supervisor", dir_,
            absl::StrCat("trap 'while [ -e ", other,
                         " ]; do :; done; exit 0' TERM; ", kIdle));
  const base::ProcessId second =
      Start("ordo-supervisor", dir_,
            absl::StrCat("trap 'rm ", other, "; exit 0' TERM; ", kIdle));
  ORDO_EXPECT_OK(
      EndProcesses(context_, "supervisor", {first, second}, absl::Minutes(1)));
  EXPECT_EQ(SignalOf(first), 0);
  EXPECT_EQ(SignalOf(second), 0);
}

TEST_F(StopDeploymentTest, TimeoutsFollowTheConfiguredGrace) {
  EXPECT_GT(WorkerStopTimeout(files_, dir_), absl::Seconds(30));
  DeploymentOptions options;
  options.folder = dir_;
  options.settings = {"worker.stop_grace=600s"};
  ORDO_ASSERT_OK(WriteWorkerConfig(files_, options, ""));
  EXPECT_GT(WorkerStopTimeout(files_, dir_), absl::Seconds(600));
  options.settings = {"scheduler.stop_grace=900s"};
  ORDO_ASSERT_OK(WriteSchedulerConfig(files_, options, "127.0.0.1:0"));
  EXPECT_GT(WorkerStopTimeout(files_, dir_), absl::Seconds(900));
  // A worker, and supervisors after it.
  EXPECT_GT(DeploymentStopTimeout(files_, dir_),
            2 * WorkerStopTimeout(files_, dir_));
}

}  // namespace
}  // namespace ordo::services::cli

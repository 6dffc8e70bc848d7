#include "services/cli/stop_deployment.h"

#include <csignal>
#include <fcntl.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

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

using base::testing::IsOk;
using ::testing::HasSubstr;

// With the real processes: tests/e2e.
class StopDeploymentTest : public ::testing::Test {
 protected:
  base::ProcessId Sleep() {
    base::SpawnOptions options;
    options.argv = {"/bin/sleep", "100"};
    const auto process = base::Spawn(options);
    ORDO_EXPECT_OK(process);
    return process.value_or(base::ProcessId());
  }

  int Stop() {
    int num_stopped = -1;
    ORDO_EXPECT_OK(StopDeployment(context_, folder_.path(), &num_stopped));
    return num_stopped;
  }

  std::istringstream in_;
  std::ostringstream out_;
  Interrupt interrupt_;
  Client client_{ClientOptions(), interrupt_};
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  Context context_{in_,     out_,       out_,   Terminal(), OutputForm::kTable,
                   client_, interrupt_, files_, clock_,     nullptr};
};

TEST_F(StopDeploymentTest, NothingRunsNothingIsStopped) {
  EXPECT_EQ(Stop(), 0);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(StopDeploymentTest, EndsWorkerBeforeScheduler) {
  Endpoints endpoints;
  endpoints.processes["scheduler"] = Sleep();
  endpoints.processes["worker"] = Sleep();
  ORDO_ASSERT_OK(WriteEndpoints(files_, folder_.path(), endpoints));
  EXPECT_EQ(Stop(), 2);
  EXPECT_LT(out_.str().find("worker"), out_.str().find("scheduler"));
  for (const auto& [name, id] : endpoints.processes) {
    EXPECT_FALSE(base::IsRunning(id)) << name;
    const auto ended = base::WaitForExit(id.pid, absl::Seconds(10));
    ORDO_ASSERT_OK(ended);
    EXPECT_EQ(ended->signal, SIGTERM);
  }
  EXPECT_FALSE(base::Exists(files_, folder_.Path("endpoints.json")));
}

TEST_F(StopDeploymentTest, SparesAProcessThatGotThePidLater) {
  Endpoints endpoints;
  const base::ProcessId other = Sleep();
  endpoints.processes["worker"] = {other.pid, other.start_ticks - 1};
  ORDO_ASSERT_OK(WriteEndpoints(files_, folder_.path(), endpoints));
  EXPECT_EQ(Stop(), 0);
  EXPECT_TRUE(base::IsRunning(other));
  ORDO_EXPECT_OK(base::SignalProcess(other, SIGKILL));
  ORDO_EXPECT_OK(base::WaitForExit(other.pid, absl::Seconds(10)));
}

TEST_F(StopDeploymentTest, FindsProcessesWithoutEndpointsByTheirCommandLine) {
  // A program that is called ordo-worker.
  const std::string program = folder_.Path("ordo-worker");
  ASSERT_EQ(symlink("/bin/sh", program.c_str()), 0);
  base::SpawnOptions options;
  options.argv = {program, "-c", "echo; read x; exit 3", "--deployment",
                  folder_.path()};
  options.stdin_file = folder_.Path("pipe");
  ASSERT_EQ(mkfifo(options.stdin_file.c_str(), 0600), 0);
  const int keep_open = open(options.stdin_file.c_str(), O_RDWR | O_CLOEXEC);
  options.stdout_file = folder_.Path("ready");
  ASSERT_EQ(mkfifo(options.stdout_file.c_str(), 0600), 0);
  const int ready = open(options.stdout_file.c_str(), O_RDWR | O_CLOEXEC);
  const auto process = base::Spawn(options);
  ORDO_ASSERT_OK(process);
  // Its command line is not there yet at the very moment of its start.
  char byte = 0;
  ASSERT_EQ(read(ready, &byte, 1), 1);
  close(ready);
  EXPECT_EQ(Stop(), 1);
  EXPECT_FALSE(base::IsRunning(*process));
  ORDO_EXPECT_OK(base::WaitForExit(process->pid, absl::Seconds(10)));
  close(keep_open);
}

TEST_F(StopDeploymentTest, WorkerMayTakeTheConfiguredGraceAndMore) {
  EXPECT_GT(WorkerStopTimeout(files_, folder_.path()), absl::Seconds(30));
  DeploymentOptions options;
  options.folder = folder_.path();
  options.settings = {"worker.stop_grace=600s"};
  ORDO_ASSERT_OK(WriteWorkerConfig(files_, options, ""));
  EXPECT_GT(WorkerStopTimeout(files_, folder_.path()), absl::Seconds(600));
  options.settings = {"scheduler.stop_grace=900s"};
  ORDO_ASSERT_OK(WriteSchedulerConfig(files_, options, "127.0.0.1:0"));
  EXPECT_GT(WorkerStopTimeout(files_, folder_.path()), absl::Seconds(900));
}

}  // namespace
}  // namespace ordo::services::cli

// Scheduler and worker on two hosts: network namespaces with a link between
// them, which is cut and healed. Skipped where the machine makes none.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;

constexpr char kIp[] = "/usr/sbin/ip";
constexpr char kNsenter[] = "/usr/bin/nsenter";
constexpr char kUnshare[] = "/usr/bin/unshare";
constexpr char kSchedulerHost[] = "10.77.0.1";
constexpr char kWorkerHost[] = "10.77.0.2";
constexpr absl::Duration kCommand = absl::Seconds(20);
// Longer than what a cut takes that nobody notices.
constexpr int kLeaseSeconds = 3;

bool RunCommand(const std::vector<std::string>& argv) {
  base::SpawnOptions spawn;
  spawn.argv = argv;
  const auto process = base::Spawn(spawn);
  if (!process.ok()) return false;
  const auto status = base::WaitForExit(process->pid, kCommand);
  return status.ok() && status->ok();
}

// This process, and what it starts, in a network of its own; as root of a user
// namespace where it is not root already. Empty, or why not.
std::string LeaveNetwork() {
  if (unshare(CLONE_NEWNET) == 0) return "";
  const std::string user = absl::StrCat("0 ", getuid(), " 1");
  const std::string group = absl::StrCat("0 ", getgid(), " 1");
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return absl::StrCat("no network namespaces: ", std::strerror(errno));
  }
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << user;
  std::ofstream("/proc/self/gid_map") << group;
  return geteuid() == 0 ? "" : "no user namespaces";
}

class TwoHostsTest : public Scenario {
 protected:
  void SetUp() override {
    base::PosixFilesystem files;
    for (const char* program : {kIp, kNsenter, kUnshare}) {
      if (!base::Exists(files, program)) {
        GTEST_SKIP() << program << " is not there";
      }
    }
    // Once for the process: namespaces last as long as it.
    static const std::string why_not = LeaveNetwork();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    MakeHosts();
  }
  void TearDown() override {
    Scenario::TearDown();
    if (other_host_.pid == 0) return;
    ORDO_EXPECT_OK(base::SignalProcess(other_host_, SIGKILL));
    ORDO_EXPECT_OK(base::WaitForExit(other_host_.pid, kCommand));
  }

  // A process keeps the worker's network.
  void MakeHosts() {
    ASSERT_TRUE(RunCommand({kIp, "link", "set", "lo", "up"}));
    base::SpawnOptions spawn;
    spawn.argv = {kUnshare, "--net", "/bin/sleep", "infinity"};
    ORDO_ASSERT_OK_AND_ASSIGN(other_host_, base::Spawn(spawn));
    const std::string pid = absl::StrCat(other_host_.pid);
    // unshare has left this network once it has become sleep.
    ASSERT_TRUE(WaitFor([&] {
      const auto name = base::ReadProcFile(other_host_.pid, "comm");
      return name.ok() && *name == "sleep\n";
    }));
    enter_ = {kNsenter, "--net", "--target", pid};
    if (!RunCommand({kIp, "link", "add", "here", "type", "veth", "peer", "name",
                     "there", "netns", pid})) {
      GTEST_SKIP() << "the kernel has no veth";
    }
    ASSERT_TRUE(
        RunCommand({kIp, "address", "add", absl::StrCat(kSchedulerHost, "/24"),
                    "dev", "here"}));
    ASSERT_TRUE(RunCommand({kIp, "link", "set", "here", "up"}));
    ASSERT_TRUE(There({"link", "set", "lo", "up"}));
    ASSERT_TRUE(There(
        {"address", "add", absl::StrCat(kWorkerHost, "/24"), "dev", "there"}));
    ASSERT_TRUE(There({"link", "set", "there", "up"}));
  }

  // `ip` on the worker's host.
  bool There(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = enter_;
    argv.push_back(kIp);
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return RunCommand(argv);
  }
  void Cut() { ASSERT_TRUE(There({"link", "set", "there", "down"})); }
  void Heal() { ASSERT_TRUE(There({"link", "set", "there", "up"})); }

  // A job that is held in the middle of its work.
  void StartJob(int lease_seconds) {
    harness::DeploymentOptions options = Options("job:hold_at=30");
    options.scheduler.set_listen(absl::StrCat(kSchedulerHost, ":0"));
    options.scheduler.set_insecure(true);
    options.scheduler.mutable_lease()->set_seconds(lease_seconds);
    options.worker.set_listen(absl::StrCat(kWorkerHost, ":0"));
    options.worker.set_insecure(true);
    options.worker_prefix = enter_;
    Start(options);
    if (HasFatalFailure()) return;
    Submit(Spec("job"));
    WaitUntil("job", [](const Job& job) {
      return job.state() == Job::RUNNING && job.progress().step() >= 20;
    });
    ASSERT_TRUE(WaitFor([this] { return LatestCheckpoint("job").ok(); }));
  }

  base::ProcessId other_host_;
  std::vector<std::string> enter_;
};

TEST_F(TwoHostsTest, AShortCutIsNotNoticed) {
  StartJob(60);
  if (HasFatalFailure()) return;
  Cut();
  // The trainer goes on meanwhile, and ends.
  Release("job");
  EXPECT_TRUE(WaitFor([this] { return ProcessesOf("job").empty(); }));
  Heal();

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts_size(), 1);
}

TEST_F(TwoHostsTest, ALongCutLosesTheWorkerAndItsAttempt) {
  StartJob(kLeaseSeconds);
  if (HasFatalFailure()) return;
  Cut();
  WaitForState("job", Job::QUEUED);
  // What the old attempt did in the dark counts for nothing, and it is ended.
  Heal();
  WaitUntil("job", [](const Job& job) {
    return job.state() == Job::RUNNING && job.attempts_size() == 2;
  });
  Release("job");

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts(0).reason(), "WORKER_LOST");
  EXPECT_EQ(job->attempts(1).start_step(), 20);
  EXPECT_EQ(job->failed_attempts(), 0);
  EXPECT_TRUE(WaitFor([this] { return ProcessesOf("job").empty(); }));
}

}  // namespace
}  // namespace ordo::tests::e2e

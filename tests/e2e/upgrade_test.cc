// Scheduler and workers are replaced one after the other while jobs run, in
// either order, and programs of both releases work together meanwhile. The
// release before is this one with a byte behind its programs' end, which makes
// another build of them; or that of the folder that ORDO_BEFORE names, whose
// programs were built from an earlier commit (tools/skew).
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;

constexpr size_t kMaxProgramBytes = size_t{1} << 30;
constexpr char kTrainer[] = "tests/fake/fake_trainer";
constexpr int kNumWorkers = 2;

class UpgradeTest : public Scenario {
 protected:
  void SetUp() override {
    now_ = base::FolderOf(ProgramPath("ordo"));
    const char* before = std::getenv("ORDO_BEFORE");
    before_ = before != nullptr ? before : folder_.Path("before");
    if (before == nullptr) MakeAnotherBuild();
  }
  void TearDown() override {
    Scenario::TearDown();
    unsetenv("ORDO_BIN");
  }

  void MakeAnotherBuild() {
    for (const char* name : {"ordo", "ordo-scheduler", "ordo-supervisor",
                             "ordo-worker", kTrainer}) {
      ORDO_ASSERT_OK_AND_ASSIGN(
          const std::string program,
          base::ReadFile(files_, ProgramPath(name), kMaxProgramBytes));
      const std::string path = base::JoinPath(before_, name);
      ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(path)));
      ORDO_ASSERT_OK(base::ReplaceFile(files_, path, program + "x"));
      ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    }
  }

  // What is started from here on is of this build.
  void Use(const std::string& build) { setenv("ORDO_BIN", build.c_str(), 1); }

  // Two jobs that are in the middle of their work, all of the build before.
  void StartBefore() {
    Use(before_);
    harness::DeploymentOptions options = Options("*:hold_at=30");
    options.num_workers = kNumWorkers;
    Start(options);
    if (HasFatalFailure()) return;
    WaitForDevices(kNumWorkers);
    for (const char* job : {"a", "b"}) {
      Submit(Spec(job));
      WaitUntil(job, [](const Job& seen) {
        return seen.state() == Job::RUNNING && seen.progress().step() >= 20;
      });
      trainers_.push_back(WaitForTrainer(job).value_or(base::ProcessId()));
    }
    EXPECT_EQ(NumServicesOf(before_), 1 + kNumWorkers);
  }

  void ReplaceScheduler() {
    ORDO_EXPECT_OK(deployment_->EndScheduler(SIGTERM));
    ORDO_ASSERT_OK(deployment_->StartScheduler());
  }
  // As `systemctl restart` of its unit: what runs goes on.
  void ReplaceWorkers() {
    for (int worker = 1; worker <= kNumWorkers; ++worker) {
      ORDO_EXPECT_OK(deployment_->EndWorker(SIGQUIT, worker));
      ORDO_ASSERT_OK(deployment_->StartWorker(worker));
      ExpectBothRun();
    }
  }

  // Schedulers and workers of a build.
  int NumServicesOf(const std::string& build) const {
    const auto processes = deployment_->Processes();
    return static_cast<int>(
        std::count_if(processes.begin(), processes.end(),
                      [&build](const base::RunningProcess& each) {
                        return each.arguments[0] == build + "/ordo-scheduler" ||
                               each.arguments[0] == build + "/ordo-worker";
                      }));
  }

  // The same trainers still work on them.
  void ExpectBothRun() {
    for (const char* job : {"a", "b"}) {
      const auto seen = WaitForState(job, Job::RUNNING);
      ASSERT_TRUE(seen.has_value());
      EXPECT_EQ(seen->attempts_size(), 1) << job;
    }
    for (const base::ProcessId& trainer : trainers_) {
      EXPECT_TRUE(base::IsRunning(trainer));
    }
  }

  // People upgrade when they like: both command lines read and change jobs.
  void ExpectBothCommandLinesWork() {
    int count = 0;
    for (const std::string& build : {before_, now_}) {
      Use(build);
      const Said list = RunOrdo({"list", "jobs"});
      EXPECT_EQ(list.exit_code, 0) << build << ": " << list.err;
      EXPECT_THAT(list.out, HasSubstr("RUNNING"));
      const std::string name = absl::StrCat("c", ++count);
      Submit(Spec(name));
      EXPECT_EQ(RunOrdo({"cancel", name}).exit_code, 0) << build;
    }
    Use(now_);
  }

  void ExpectNothingIsLost() {
    EXPECT_EQ(NumServicesOf(before_), 0);
    EXPECT_EQ(NumServicesOf(now_), 1 + kNumWorkers);
    for (const char* job : {"a", "b"}) {
      Release(job);
      const auto ended = WaitForState(job, Job::SUCCEEDED);
      ASSERT_TRUE(ended.has_value());
      EXPECT_EQ(ended->attempts_size(), 1) << job;
      EXPECT_EQ(ended->failed_attempts(), 0) << job;
    }
    // And business goes on.
    Submit(Spec("d"));
    WaitUntil("d", [](const Job& job) { return job.progress().step() >= 20; });
    Release("d");
    EXPECT_TRUE(WaitForState("d", Job::SUCCEEDED).has_value());
  }

  std::string before_;
  std::string now_;
  std::vector<base::ProcessId> trainers_;
};

TEST_F(UpgradeTest, TheSchedulerFirstThenWorkersOneByOne) {
  StartBefore();
  if (HasFailure()) return;
  Use(now_);
  ReplaceScheduler();
  ExpectBothRun();
  // Here new and old meet.
  EXPECT_EQ(NumServicesOf(before_), kNumWorkers);
  ExpectBothCommandLinesWork();
  ReplaceWorkers();
  ExpectNothingIsLost();
}

TEST_F(UpgradeTest, WorkersFirstThenTheScheduler) {
  StartBefore();
  if (HasFailure()) return;
  Use(now_);
  ReplaceWorkers();
  EXPECT_EQ(NumServicesOf(before_), 1);
  ExpectBothCommandLinesWork();
  ReplaceScheduler();
  ExpectBothRun();
  ExpectNothingIsLost();
}

TEST_F(UpgradeTest, AStopOfAWorkerLeavesItsJobToOthers) {
  StartBefore();
  if (HasFailure()) return;
  Use(now_);
  // As `systemctl stop`: a checkpoint, and the job goes on elsewhere once there
  // is room; no attempt is held against it.
  ORDO_EXPECT_OK(deployment_->EndWorker(SIGTERM, 1));
  const auto moved = [this] {
    int moved = 0;
    for (const char* job : {"a", "b"}) {
      const auto seen = deployment_->Get(job);
      if (seen.ok() && seen->state() == Job::QUEUED) ++moved;
    }
    return moved == 1;
  };
  EXPECT_TRUE(WaitFor(moved));
  ORDO_ASSERT_OK(deployment_->StartWorker(1));
  for (const char* job : {"a", "b"}) {
    WaitForState(job, Job::RUNNING);
    Release(job);
    const auto ended = WaitForState(job, Job::SUCCEEDED);
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(ended->failed_attempts(), 0) << job;
    if (ended->attempts_size() == 2) {
      EXPECT_GE(ended->attempts(1).start_step(), 20);
    }
  }
}

}  // namespace
}  // namespace ordo::tests::e2e

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "tests/e2e/scenario.h"
#include "worker/supervisor/landlock.h"

// Trainers that do what they should not: after each the worker answers, and the
// next job runs.

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ::testing::Not;

// Nobody's on this machine.
constexpr char kUser[] = "64123:64123";
// Of a trainer's user, and of its files and address space.
constexpr int kProcesses = 64;
// Where that is the test's user: for the deployment, and what others start.
constexpr int kRoom = 500;
constexpr int64_t kFileBytes = 1 << 20;
constexpr int64_t kAddressSpaceBytes = int64_t{256} << 20;

// What the trainer is: by the name of the job it misbehaves. FOLDER and PROGRAM
// are replaced.
constexpr char kScript[] = R"sh(#!/bin/sh
attempt=$(dirname -- "$2")
case "$2" in
*/jobs/forks/*)
  i=0
  while [ $i -lt 1000 ]; do sleep 60 & i=$((i + 1)); done
  exit 0 ;;
*/jobs/memory/*)
  head -c 4G /dev/zero | tail -n 1 >/dev/null || exit 14
  exit 0 ;;
*/jobs/file/*)
  head -c 4M /dev/zero >"$attempt/big" || exit 16
  exit 0 ;;
*/jobs/disk/*)
  cat /dev/zero >"$attempt/big" || exit 16
  exit 0 ;;
*/jobs/looks/*)
  env >"$attempt/environment"
  cat FOLDER/config/key >"$attempt/key" 2>"$attempt/errors"
  cat "/proc/$PPID/environ" >"$attempt/environ" 2>>"$attempt/errors" ;;
*/jobs/setuid/*)
  FOLDER/bin/id -u >"$attempt/who" ;;
*/jobs/link/*)
  ln -s FOLDER/outside "$attempt/link"
  echo x >"$attempt/link/file"
  echo x >FOLDER/outside/direct
  echo x >FOLDER/storage/jobs/precious ;;
esac
exec PROGRAM "$@"
)sh";

class SandboxTest : public Scenario {
 protected:
  // Everybody reaches it, as trainers of another user must.
  SandboxTest() : open_("/tmp") {
    chmod(open_.path().c_str(), 0755);
    for (const char* name : {"bin", "config", "outside", "storage"}) {
      EXPECT_TRUE(files_.MakeFolders(open_.Path(name)).ok());
    }
    chmod(open_.Path("outside").c_str(), 0777);
    Copy(ProgramPath("tests/fake/noop_trainer"), "bin/noop", 0755);
    const std::string trainer = open_.Path("bin/trainer");
    EXPECT_TRUE(
        base::AtomicWrite(
            files_, trainer,
            absl::StrReplaceAll(kScript, {{"FOLDER", open_.path()},
                                          {"PROGRAM", open_.Path("bin/noop")}}))
            .ok());
    chmod(trainer.c_str(), 0755);
  }

  // Of all users; in a user namespace of its own nobody is.
  bool IsRoot() const {
    return chown(open_.Path("bin").c_str(), 64123, 64123) == 0 &&
           chown(open_.Path("bin").c_str(), geteuid(), getegid()) == 0;
  }
  // Of all that the test's user runs.
  int NumThreads() {
    int num_threads = 0;
    for (const std::string& process :
         files_.List("/proc").value_or(std::vector<std::string>())) {
      const std::string folder = absl::StrCat("/proc/", process);
      struct stat info {};
      if (stat(folder.c_str(), &info) != 0 || info.st_uid != geteuid())
        continue;
      const auto threads = files_.List(folder + "/task");
      if (threads.ok()) num_threads += static_cast<int>(threads->size());
    }
    return num_threads;
  }
  static bool HasLandlock() {
    return worker::supervisor::LandlockVersion() > 0;
  }

  void Copy(const std::string& from, const std::string& to, mode_t mode) {
    const auto bytes = base::ReadFile(files_, from, 16 << 20);
    ORDO_ASSERT_OK(bytes);
    ORDO_ASSERT_OK(base::AtomicWrite(files_, open_.Path(to), *bytes));
    ASSERT_EQ(chmod(open_.Path(to).c_str(), mode), 0);
  }

  void Begin(const std::function<void(config::v1::Sandbox*)>& change) {
    harness::DeploymentOptions options = Options("");
    options.folder = open_.path();
    options.worker.set_trainer(open_.Path("bin/trainer"));
    auto* sandbox = options.worker.mutable_sandbox();
    if (IsRoot() || HasLandlock()) sandbox->add_readable(open_.Path("bin"));
    if (IsRoot()) sandbox->set_user(kUser);
    change(sandbox);
    Start(options);
  }
  void Begin() {
    Begin([](config::v1::Sandbox*) {});
  }

  void Run(const std::string& name) {
    jobs::v1::JobSpec spec = Spec(name);
    spec.mutable_retry()->set_max_attempts(1);
    Submit(spec);
  }
  // The reason for which its only attempt failed.
  std::string ReasonOf(const std::string& name) {
    Run(name);
    return WaitForFailure(name).attempts(0).reason();
  }
  void ExpectTheNextRuns() {
    Run("next");
    EXPECT_TRUE(WaitForState("next", Job::SUCCEEDED).has_value());
  }
  // What a file of the job's first attempt holds.
  std::string Left(const std::string& job, const std::string& name) {
    return base::ReadFile(files_,
                          open_.Path(absl::StrCat("storage/jobs/", job,
                                                  "/attempts/1/", name)),
                          1 << 20)
        .value_or("none");
  }

  base::testing::TemporaryFolder open_;
};

TEST_F(SandboxTest, OneThatForksWithoutEndMeetsItsLimit) {
  // Those of the test's own user count beside the trainer's.
  const int processes = IsRoot() ? kProcesses : NumThreads() + kRoom;
  Begin(
      [&](config::v1::Sandbox* sandbox) { sandbox->set_processes(processes); });
  Run("forks");
  WaitForFailure("forks");
  EXPECT_THAT(Left("forks", "rank-0.log"), HasSubstr("fork"));
  ExpectTheNextRuns();
}

TEST_F(SandboxTest, OneThatFillsMemoryIsOutOfIt) {
  Begin([](config::v1::Sandbox* sandbox) {
    sandbox->set_address_space_bytes(kAddressSpaceBytes);
  });
  EXPECT_EQ(ReasonOf("memory"), "OUT_OF_MEMORY");
  ExpectTheNextRuns();
}

// Where this machine lets this process make cgroups with their controllers.
class CgroupTest : public SandboxTest {
 protected:
  void SetUp() override {
    cgroup_ = absl::StrCat("/sys/fs/cgroup/ordo-test-", getpid());
    const std::string controllers =
        mkdir(cgroup_.c_str(), 0755) != 0
            ? ""
            : base::ReadFile(files_, cgroup_ + "/cgroup.controllers", 4096)
                  .value_or("");
    if (!absl::StrContains(controllers, "memory") ||
        !absl::StrContains(controllers, "pids")) {
      GTEST_SKIP() << "no cgroup of version 2 with memory and pids is ours";
    }
    Begin([this](config::v1::Sandbox* sandbox) {
      sandbox->set_cgroup(cgroup_);
      sandbox->set_processes(kProcesses);
    });
  }
  void TearDown() override {
    SandboxTest::TearDown();
    // Those of trainers are gone.
    rmdir(cgroup_.c_str());
    EXPECT_NE(access(cgroup_.c_str(), F_OK), 0);
  }

  std::string cgroup_;
};

TEST_F(CgroupTest, MemoryBeyondWhatAJobAsksForEndsIt) {
  jobs::v1::JobSpec spec = Spec("memory");
  spec.mutable_resources()->set_memory_bytes(64 << 20);
  spec.mutable_retry()->set_max_attempts(1);
  Submit(spec);
  const Job job = WaitForFailure("memory");
  EXPECT_EQ(job.attempts(0).reason(), "OUT_OF_MEMORY");
  EXPECT_THAT(job.message(), HasSubstr("resources.memory_bytes"));
  ExpectTheNextRuns();
}

TEST_F(CgroupTest, WhoForksWithoutEndIsToldWhichLimitItMet) {
  Run("forks");
  EXPECT_THAT(WaitForFailure("forks").message(),
              HasSubstr("`sandbox.processes`"));
  ExpectTheNextRuns();
}

TEST_F(SandboxTest, OneThatWritesAnEndlessFileHasTroubleWithStorage) {
  Begin([](config::v1::Sandbox* sandbox) {
    sandbox->set_file_bytes(kFileBytes);
  });
  EXPECT_EQ(ReasonOf("file"), "STORAGE_ERROR");
  EXPECT_EQ(Left("file", "big").size(), static_cast<size_t>(kFileBytes));
  ExpectTheNextRuns();
}

TEST_F(SandboxTest, OneThatFillsTheStorageHasTroubleWithItAlone) {
  const std::string storage = open_.Path("storage");
  if (mount("tmpfs", storage.c_str(), "tmpfs", MS_NODEV, "size=4m") != 0) {
    GTEST_SKIP() << "this process may not mount a small storage";
  }
  Begin();
  EXPECT_EQ(ReasonOf("disk"), "STORAGE_ERROR");
  // Somebody frees space, as the reason says.
  ORDO_EXPECT_OK(files_.RemoveFile(storage + "/jobs/disk/attempts/1/big"));
  ExpectTheNextRuns();
  TearDown();
  deployment_.reset();
  EXPECT_EQ(umount2(storage.c_str(), MNT_DETACH), 0);
}

TEST_F(SandboxTest, NothingOfTheWorkersIsSeen) {
  if (!IsRoot() && !HasLandlock()) {
    GTEST_SKIP() << "neither another user nor Landlock";
  }
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, open_.Path("config/key"), "secret-key"));
  ASSERT_EQ(chmod(open_.Path("config/key").c_str(), 0600), 0);
  setenv("ORDO_TOKEN", "secret-token", /*overwrite=*/1);
  setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-cloud", /*overwrite=*/1);
  Begin();
  unsetenv("ORDO_TOKEN");
  unsetenv("AWS_SECRET_ACCESS_KEY");
  Run("looks");
  ASSERT_TRUE(WaitForState("looks", Job::SUCCEEDED).has_value());
  EXPECT_THAT(Left("looks", "environment"), HasSubstr("PATH="));
  EXPECT_THAT(Left("looks", "environment"), Not(HasSubstr("secret")));
  EXPECT_THAT(Left("looks", "environment"), Not(HasSubstr("HOME=")));
  EXPECT_EQ(Left("looks", "key"), "");
  EXPECT_EQ(Left("looks", "environ"), "");
  EXPECT_THAT(Left("looks", "errors"), HasSubstr("key: Permission denied"));
  ExpectTheNextRuns();
}

TEST_F(SandboxTest, AProgramOfRootsGivesNoRights) {
  if (!IsRoot()) GTEST_SKIP() << "only root makes such a program";
  Copy("/usr/bin/id", "bin/id", 04755);
  Begin();
  Run("setuid");
  ASSERT_TRUE(WaitForState("setuid", Job::SUCCEEDED).has_value());
  EXPECT_EQ(Left("setuid", "who"), "64123\n");
  ExpectTheNextRuns();
}

TEST_F(SandboxTest, NothingIsWrittenOutsideOfTheJobsFolder) {
  if (!HasLandlock()) GTEST_SKIP() << "the kernel has no Landlock";
  Begin();
  Run("link");
  ASSERT_TRUE(WaitForState("link", Job::SUCCEEDED).has_value());
  EXPECT_THAT(files_.List(open_.Path("outside")),
              base::testing::IsOkAndHolds(::testing::IsEmpty()));
  EXPECT_FALSE(base::Exists(files_, open_.Path("storage/jobs/precious")));
  EXPECT_THAT(Left("link", "rank-0.log"), HasSubstr("Permission denied"));
  ExpectTheNextRuns();
}

}  // namespace
}  // namespace ordo::tests::e2e

#include "worker/agent/sandbox.h"

#include <cstdint>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/supervisor/landlock.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::ordo::config::v1::WorkerConfig;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Config = ::ordo::config::v1::Sandbox;

std::vector<std::string> BadFields(Config config) {
  std::vector<base::FieldViolation> violations;
  CheckSandbox(&config, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(CheckSandboxTest, DefaultsAreValid) {
  Config config;
  std::vector<base::FieldViolation> violations;
  CheckSandbox(&config, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(config.processes(), 4096);
}

TEST(CheckSandboxTest, RangesHaveTheirEnds) {
  Config config;
  for (const int64_t bytes : {int64_t{0}, int64_t{1} << 60}) {
    config.set_file_bytes(bytes);
    config.set_address_space_bytes(bytes);
    config.set_processes(bytes == 0 ? 1 : 1 << 22);
    config.set_open_files(bytes == 0 ? 64 : 1 << 20);
    EXPECT_THAT(BadFields(config), IsEmpty());
  }
  for (const int64_t bytes : {int64_t{-1}, (int64_t{1} << 60) + 1}) {
    config.set_file_bytes(bytes);
    config.set_address_space_bytes(bytes);
    config.set_processes(bytes < 0 ? 0 : (1 << 22) + 1);
    config.set_open_files(bytes < 0 ? 63 : (1 << 20) + 1);
    EXPECT_THAT(
        BadFields(config),
        ElementsAre("sandbox.processes", "sandbox.file_bytes",
                    "sandbox.open_files", "sandbox.address_space_bytes"));
  }
}

TEST(CheckSandboxTest, FoldersAreAbsolute) {
  Config config;
  config.set_cgroup("ordo");
  config.add_writable("/scratch");
  config.add_writable("scratch");
  config.add_readable("");
  config.add_readable(std::string("/a\0b", 4));
  EXPECT_THAT(BadFields(config),
              ElementsAre("sandbox.cgroup", "sandbox.writable[1]",
                          "sandbox.readable[0]", "sandbox.readable[1]"));
}

TEST(CheckReadableTest, ItHoldsByLandlockOrByAnotherUser) {
  Config config;
  ORDO_EXPECT_OK(CheckReadable(config, 0));
  config.add_readable("/opt");
  ORDO_EXPECT_OK(CheckReadable(config, 2));
  EXPECT_THAT(
      CheckReadable(config, 0),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("sandbox.readable"), HasSubstr("Landlock"),
                     HasSubstr("`sandbox.user`"))));
  config.set_user("nobody");
  ORDO_EXPECT_OK(CheckReadable(config, 0));
}

class SandboxTest : public ::testing::Test {
 protected:
  SandboxTest() {
    config_.set_storage_root(folder_.Path("storage"));
    config_.set_trainer("/bin/sh");
    config_.mutable_sandbox()->set_processes(7);
    EXPECT_TRUE(files_.MakeFolders(config_.storage_root()).ok());
  }
  // In a user namespace of its own root may not.
  bool MayGiveAway() {
    const std::string path = folder_.Path("given");
    return base::AtomicWrite(files_, path, "").ok() &&
           chown(path.c_str(), 123, 456) == 0;
  }
  // A folder as the kernel would make it.
  std::string Cgroup(const std::string& controllers,
                     const std::string& processes) {
    const std::string folder = folder_.Path("cgroup");
    for (const auto& [name, text] :
         {std::pair<std::string, std::string>{"controllers", controllers},
          {"procs", processes},
          {"subtree_control", ""}}) {
      EXPECT_TRUE(files_.MakeFolders(folder).ok());
      EXPECT_TRUE(
          base::AtomicWrite(files_, folder + "/cgroup." + name, text).ok());
    }
    return folder;
  }
  std::string Text(const std::string& path) {
    return base::ReadFile(files_, path, 1 << 20).value_or("none");
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  WorkerConfig config_;
};

TEST_F(SandboxTest, TrainersWriteTheirJobsFolderAndWhatIsListed) {
  config_.mutable_sandbox()->add_writable("/scratch");
  ORDO_ASSERT_OK_AND_ASSIGN(const Sandbox sandbox,
                            MakeSandbox(config_, files_));
  const std::string stores = config_.storage_root() + "/data/.stores";
  EXPECT_TRUE(base::Exists(files_, stores));
  EXPECT_THAT(SandboxArguments(sandbox, {"/jobs/a", "a.1", 5}),
              ElementsAre("--data-bytes", "1073741834", "--processes", "7",
                          "--writable", "/jobs/a", "--writable", "/scratch",
                          "--writable", "/dev", "--writable", stores));
}

TEST_F(SandboxTest, ReadingIsBoundWhereSomethingIsListed) {
  if (supervisor::LandlockVersion() == 0) {
    GTEST_SKIP() << "the kernel has no Landlock";
  }
  config_.add_data_roots("/srv/text");
  config_.mutable_sandbox()->add_readable("/srv/programs");
  ORDO_ASSERT_OK_AND_ASSIGN(const Sandbox sandbox,
                            MakeSandbox(config_, files_));
  for (const std::string& folder :
       {std::string("/srv/programs"), std::string("/srv/text"),
        config_.storage_root(), std::string("/usr"),
        std::string("/etc/passwd")}) {
    EXPECT_THAT(sandbox.readable, Contains(folder));
  }
  // Keys and tokens of the services lie in /etc/ordo.
  EXPECT_THAT(sandbox.readable, Not(Contains("/etc")));
  EXPECT_THAT(sandbox.readable, Not(Contains("/etc/ordo")));
  EXPECT_THAT(SandboxArguments(sandbox, {"/jobs/a", "a.1"}),
              Contains("--readable"));
}

TEST_F(SandboxTest, AnEmptyOneConfinesNothing) {
  EXPECT_THAT(SandboxArguments({}, {"/jobs/a", "a.1"}), IsEmpty());
}

TEST_F(SandboxTest, WithoutACgroupMemoryBoundsWhatIsMapped) {
  EXPECT_THAT(SandboxArguments({}, {"/jobs/a", "a.1", int64_t{1} << 30}),
              ElementsAre("--data-bytes", "3221225472"));
  EXPECT_THAT(SandboxArguments({}, {"/jobs/a", "a.1", INT64_MAX}),
              ElementsAre("--data-bytes", "2305843010287435776"));
  // CUDA maps far more than there is memory.
  EXPECT_THAT(SandboxArguments({}, {"/jobs/a", "a.1", int64_t{1} << 30, true}),
              IsEmpty());
}

TEST_F(SandboxTest, AGpuIsToldByItsName) {
  ::ordo::agent::v1::DesiredAttempt desired;
  EXPECT_FALSE(HoldsGpu(desired));
  desired.add_devices("cpu:0");
  EXPECT_FALSE(HoldsGpu(desired));
  desired.add_devices("cuda:1");
  EXPECT_TRUE(HoldsGpu(desired));
}

TEST_F(SandboxTest, EachNumberHasItsFlag) {
  Sandbox sandbox;
  sandbox.user = {65534, 65533};
  sandbox.cgroup = "/sys/fs/cgroup/ordo";
  sandbox.processes = 1;
  sandbox.file_bytes = 2;
  sandbox.open_files = 3;
  sandbox.address_space_bytes = 4;
  EXPECT_THAT(SandboxArguments(sandbox, {"/jobs/a", "a.1", 5}),
              ElementsAre("--user", "65534:65533", "--cgroup",
                          "/sys/fs/cgroup/ordo/a.1", "--memory-bytes", "5",
                          "--processes", "1", "--file-bytes", "2",
                          "--open-files", "3", "--address-space-bytes", "4"));
}

TEST_F(SandboxTest, MemoryIsThatOfTheTask) {
  ::ordo::agent::v1::DesiredAttempt desired;
  EXPECT_EQ(MemoryOf(desired), 0);
  desired.mutable_train()->mutable_resources()->set_memory_bytes(1);
  EXPECT_EQ(MemoryOf(desired), 1);
  desired.mutable_evaluate()->mutable_resources()->set_memory_bytes(2);
  EXPECT_EQ(MemoryOf(desired), 2);
  desired.mutable_benchmark()->mutable_resources()->set_memory_bytes(3);
  EXPECT_EQ(MemoryOf(desired), 3);
  desired.mutable_gate()->mutable_resources()->set_memory_bytes(4);
  EXPECT_EQ(MemoryOf(desired), 4);
  desired.mutable_summarize();
  EXPECT_EQ(MemoryOf(desired), 0);
}

TEST_F(SandboxTest, AUserThatIsNotThereOrRootIsRefused) {
  for (const char* user : {"no-such-user", "root", "0:0", "5:0", "0:5",
                           "4294967295:5", "5:4294967295", "-1:5"}) {
    config_.mutable_sandbox()->set_user(user);
    EXPECT_THAT(
        MakeSandbox(config_, files_),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sandbox.user")))
        << user;
  }
}

TEST_F(SandboxTest, AUserIsFoundByNameOrNumbers) {
  config_.mutable_sandbox()->set_user("123:456");
  const auto by_numbers = MakeSandbox(config_, files_);
  if (geteuid() != 0) {
    EXPECT_THAT(by_numbers, StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("worker that is root")));
    return;
  }
  if (!MayGiveAway()) GTEST_SKIP() << "only root can give files away";
  ORDO_ASSERT_OK(by_numbers);
  EXPECT_EQ(by_numbers->user->uid, 123u);
  EXPECT_EQ(by_numbers->user->gid, 456u);
  // What is kept for all trainers is theirs.
  struct stat info {};
  ASSERT_EQ(stat((config_.storage_root() + "/data/.stores").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 123u);
  config_.mutable_sandbox()->set_user("nobody");
  ORDO_ASSERT_OK_AND_ASSIGN(const Sandbox by_name,
                            MakeSandbox(config_, files_));
  EXPECT_EQ(by_name.user->uid, 65534u);
}

TEST_F(SandboxTest, ALinkIsGivenAwayAndNotWhatItLeadsTo) {
  if (!MayGiveAway()) GTEST_SKIP() << "only root can give files away";
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("precious"), ""));
  ORDO_ASSERT_OK(
      files_.ReplaceLink(folder_.Path("precious"), folder_.Path("link")));
  Sandbox sandbox;
  sandbox.user = {123, 456};
  ORDO_ASSERT_OK(GiveToTrainer(sandbox, {folder_.Path("link")}));
  struct stat info {};
  ASSERT_EQ(stat(folder_.Path("precious").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0u);
  ASSERT_EQ(lstat(folder_.Path("link").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 123u);
}

TEST_F(SandboxTest, ControllersAreEnabledForThoseBelow) {
  const std::string folder = Cgroup("cpu memory pids\n", "");
  ORDO_ASSERT_OK(files_.MakeFolders(folder + "/gone.1"));
  ORDO_ASSERT_OK(files_.MakeFolders(folder + "/worker"));
  ORDO_ASSERT_OK(PrepareCgroup(folder));
  EXPECT_EQ(Text(folder + "/cgroup.subtree_control"), "+memory +pids");
  // One that a supervisor left behind is gone.
  EXPECT_FALSE(base::Exists(files_, folder + "/gone.1"));
  EXPECT_TRUE(base::Exists(files_, folder + "/worker"));
}

TEST_F(SandboxTest, AFolderThatIsNoneOrLacksControllersIsRefused) {
  EXPECT_THAT(PrepareCgroup(folder_.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is no such cgroup")));
  EXPECT_THAT(PrepareCgroup(Cgroup("cpu memory\n", "")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("'cpu memory'")));
  config_.mutable_sandbox()->set_cgroup(folder_.Path("cgroup"));
  EXPECT_THAT(MakeSandbox(config_, files_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sandbox.cgroup")));
}

TEST_F(SandboxTest, WhatRunsInTheFolderIsMovedOrNamedAsTheReason) {
  const std::string folder = Cgroup("memory pids\n", "12\n34\n");
  ORDO_ASSERT_OK(files_.MakeFolders(folder + "/worker"));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder + "/worker/cgroup.procs", ""));
  // Here nothing leaves it.
  EXPECT_THAT(PrepareCgroup(folder),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("cannot be moved")));
  EXPECT_THAT(Text(folder + "/worker/cgroup.procs"), HasSubstr("1234"));
}

TEST(TrainerEnvironmentTest, OnlyWhatIsListedIsPassedOn) {
  std::string texts[] = {"PATH=/opt/bin",
                         "LD_LIBRARY_PATH=/opt/lib",
                         "AWS_SECRET_ACCESS_KEY=s",
                         "ORDO_TOKEN=s",
                         "SSH_AUTH_SOCK=/run/ssh",
                         "HOME=/root",
                         "LANGUAGE=de",
                         "LANG=C.UTF-8"};
  std::vector<char*> own;
  for (std::string& text : texts) own.push_back(text.data());
  own.push_back(nullptr);
  WorkerConfig config;
  (*config.mutable_trainer_environment())["NCCL_DEBUG"] = "WARN";
  EXPECT_THAT(TrainerEnvironment(config, own.data()),
              ElementsAre("GOMP_SPINCOUNT=1000", "LANG=C.UTF-8",
                          "LD_LIBRARY_PATH=/opt/lib", "NCCL_DEBUG=WARN",
                          "PATH=/opt/bin"));
}

TEST(TrainerEnvironmentTest, TheConfigurationDecides) {
  std::string path = "PATH=/opt/bin";
  char* own[] = {path.data(), nullptr};
  WorkerConfig config;
  (*config.mutable_trainer_environment())["PATH"] = "/bin";
  (*config.mutable_trainer_environment())["GOMP_SPINCOUNT"] = "1";
  EXPECT_THAT(TrainerEnvironment(config, own),
              ElementsAre("GOMP_SPINCOUNT=1", "PATH=/bin"));
  char* none[] = {nullptr};
  EXPECT_THAT(TrainerEnvironment(WorkerConfig(), none),
              Contains("PATH=/usr/local/bin:/usr/bin:/bin"));
}

}  // namespace
}  // namespace ordo::worker::agent

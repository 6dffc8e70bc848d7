#include "services/cli/deployment_lock.h"

#include <unistd.h>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/no_locks.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kTaken = absl::StatusCode::kFailedPrecondition;

class DeploymentLockTest : public ::testing::Test {
 protected:
  absl::StatusOr<DeploymentLock> Take() {
    return DeploymentLock::Take(folder_.path());
  }
  std::optional<base::ProcessId> Keeper() {
    return DeploymentLock::Keeper(folder_.path());
  }

  base::testing::TemporaryFolder folder_;
};

TEST_F(DeploymentLockTest, OnlyOneHoldsIt) {
  {
    ORDO_ASSERT_OK_AND_ASSIGN(const DeploymentLock lock, Take());
    EXPECT_EQ(lock.folder(), folder_.path());
    EXPECT_THAT(Take(), StatusIs(kTaken, HasSubstr("try again")));
  }
  EXPECT_THAT(Take(), IsOk());
}

TEST_F(DeploymentLockTest, StorageWithoutLocksIsNoPlaceForADeployment) {
  absl::Status status;
  const bool ran =
      base::testing::RunWithoutLocks([&] { status = Take().status(); });
  if (!ran) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("has no locks")));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("--dir or ORDO_DIR")));
}

TEST_F(DeploymentLockTest, KeeperIsKnownAndSaysHowToEndIt) {
  ORDO_ASSERT_OK_AND_ASSIGN(const DeploymentLock lock, Take());
  EXPECT_FALSE(Keeper().has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const base::ProcessId self,
                            base::IdentifyProcess(getpid()));
  ORDO_ASSERT_OK(lock.NameKeeper(self));
  EXPECT_EQ(Keeper(), self);
  EXPECT_THAT(Take(),
              StatusIs(kTaken, HasSubstr("ordo down --dir " + folder_.path())));
}

TEST_F(DeploymentLockTest, AProcessThatGotThePidLaterIsNoKeeper) {
  ORDO_ASSERT_OK_AND_ASSIGN(const DeploymentLock lock, Take());
  ORDO_ASSERT_OK_AND_ASSIGN(base::ProcessId other,
                            base::IdentifyProcess(getpid()));
  other.start_ticks -= 1;
  ORDO_ASSERT_OK(lock.NameKeeper(other));
  EXPECT_FALSE(Keeper().has_value());
}

TEST_F(DeploymentLockTest, AKeeperOfAnotherBootIsNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const DeploymentLock lock, Take());
  ORDO_ASSERT_OK_AND_ASSIGN(base::ProcessId other,
                            base::IdentifyProcess(getpid()));
  other.boot_id = "another";
  ORDO_ASSERT_OK(lock.NameKeeper(other));
  EXPECT_FALSE(Keeper().has_value());
}

TEST_F(DeploymentLockTest, WhoTakesItForgetsTheKeeperBefore) {
  ORDO_ASSERT_OK_AND_ASSIGN(const base::ProcessId self,
                            base::IdentifyProcess(getpid()));
  {
    ORDO_ASSERT_OK_AND_ASSIGN(const DeploymentLock lock, Take());
    ORDO_ASSERT_OK(lock.NameKeeper(self));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const DeploymentLock lock, Take());
  EXPECT_FALSE(Keeper().has_value());
}

TEST_F(DeploymentLockTest, AHalfWrittenNameIsNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const base::ProcessId self,
                            base::IdentifyProcess(getpid()));
  base::PosixFilesystem files;
  const std::string pid = std::to_string(self.pid);
  const std::string part = pid + " " + std::to_string(self.start_ticks);
  const std::string whole = part + " " + self.boot_id;
  for (const std::string& text :
       {std::string(), pid, pid + "\n", part + "\n", whole}) {
    ORDO_ASSERT_OK(base::AtomicWrite(files, folder_.Path("keeper.lock"), text));
    EXPECT_FALSE(Keeper().has_value()) << text;
  }
  ORDO_ASSERT_OK(
      base::AtomicWrite(files, folder_.Path("keeper.lock"), whole + "\n"));
  EXPECT_EQ(Keeper(), self);
}

TEST_F(DeploymentLockTest, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(
      DeploymentLock::Take(folder_.Path("x")),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr(folder_.Path("x"))));
}

}  // namespace
}  // namespace ordo::services::cli

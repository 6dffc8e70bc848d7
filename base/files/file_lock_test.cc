#include "base/files/file_lock.h"

#include "base/files/testing/no_locks.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;

TEST(FileLockTest, OneHolderAtATime) {
  testing::TemporaryFolder folder;
  ORDO_ASSERT_OK_AND_ASSIGN(auto lock, FileLock::Take(folder.Path("lock")));
  EXPECT_THAT(FileLock::Take(folder.Path("lock")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  lock.reset();
  EXPECT_THAT(FileLock::Take(folder.Path("lock")), IsOk());
}

TEST(FileLockTest, WhoWaitsGetsItOnceTheHolderIsGone) {
  testing::TemporaryFolder folder;
  ORDO_ASSERT_OK_AND_ASSIGN(auto lock, FileLock::Take(folder.Path("lock")));
  int looks = 0;
  const auto waited = FileLock::WaitFor(folder.Path("lock"), [&] {
    if (++looks == 2) lock.reset();
    return absl::OkStatus();
  });
  EXPECT_THAT(waited, IsOk());
  EXPECT_EQ(looks, 2);
  EXPECT_THAT(FileLock::Take(folder.Path("lock")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(FileLockTest, AnErrorEndsTheWaitingAndALockThatIsFreeNeedsNone) {
  testing::TemporaryFolder folder;
  const auto stop = [] { return absl::CancelledError("stop"); };
  ORDO_ASSERT_OK_AND_ASSIGN(const auto lock,
                            FileLock::WaitFor(folder.Path("lock"), stop));
  EXPECT_THAT(FileLock::WaitFor(folder.Path("lock"), stop),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(FileLock::WaitFor(folder.Path("none/lock"), stop),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(FileLockTest, StorageWithoutLocksIsTold) {
  testing::TemporaryFolder folder;
  absl::Status waited;
  const bool ran = testing::RunWithoutLocks([&] {
    waited = FileLock::WaitFor(folder.Path("lock"), absl::OkStatus).status();
  });
  if (!ran) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_THAT(waited, StatusIs(absl::StatusCode::kUnimplemented,
                               ::testing::HasSubstr("has no locks")));
}

TEST(FileLockTest, AFolderThatIsNotThereIsAnError) {
  testing::TemporaryFolder folder;
  EXPECT_THAT(FileLock::Take(folder.Path("none/lock")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::base

#include "scheduler/store/file_lock.h"

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;

TEST(FileLockTest, OneHolderAtATime) {
  base::testing::TemporaryFolder folder;
  ORDO_ASSERT_OK_AND_ASSIGN(auto lock, FileLock::Take(folder.Path("lock")));
  EXPECT_THAT(FileLock::Take(folder.Path("lock")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  lock.reset();
  EXPECT_THAT(FileLock::Take(folder.Path("lock")), IsOk());
}

TEST(FileLockTest, AFolderThatIsNotThereIsAnError) {
  base::testing::TemporaryFolder folder;
  EXPECT_THAT(FileLock::Take(folder.Path("none/lock")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::scheduler::store

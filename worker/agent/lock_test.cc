#include "worker/agent/lock.h"

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(LockFolderTest, SecondHolderIsRefusedUntilTheFirstIsGone) {
  base::testing::TemporaryFolder folder;
  const std::string path = folder.Path("state/worker");
  {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto lock, LockFolder(path));
    EXPECT_THAT(LockFolder(path),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("another worker uses " + path)));
  }
  ORDO_EXPECT_OK(LockFolder(path));
}

}  // namespace
}  // namespace ordo::worker::agent

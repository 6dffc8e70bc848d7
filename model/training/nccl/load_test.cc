#include "model/training/nccl/load.h"

#include <cstdlib>
#include <string>
#include <unistd.h>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training::nccl {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kPath[] = "model/training/nccl/libordo_nccl.so";

TEST(LoadLibraryTest, AMissingLibraryIsRefusedWithWhatToDo) {
  EXPECT_THAT(LoadLibrary("nccl/none.so"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("nccl/none.so"), HasSubstr("nccl.h"),
                             HasSubstr("resources.ranks 1"))));
}

TEST(LoadLibraryTest, AFileThatIsNoLibraryIsRefusedWithTheReason) {
  EXPECT_THAT(LoadLibrary("/proc/self/cmdline"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("cannot be loaded")));
}

TEST(LoadLibraryTest, LeavesErrorsAndLostRanksToTheCaller) {
  setenv("TORCH_NCCL_BLOCKING_WAIT", "0", /*overwrite=*/1);
  LoadLibrary("nccl/none.so").status().IgnoreError();
  EXPECT_STREQ(getenv("TORCH_NCCL_BLOCKING_WAIT"), "1");
  EXPECT_STREQ(getenv("TORCH_NCCL_ASYNC_ERROR_HANDLING"), "0");
  EXPECT_STREQ(getenv("TORCH_NCCL_ENABLE_MONITORING"), "0");
}

// What of LibTorch's library for GPUs it needs is checked where it is linked;
// that one asks for more than machines without a GPU have.
TEST(LoadLibraryTest, TheLibraryThatWasBuiltLoadsOrSaysWhatIsMissing) {
  if (access(kPath, F_OK) != 0) GTEST_SKIP() << "skipped: no NCCL";
  const auto library = LoadLibrary(kPath);
  if (library.ok()) {
    EXPECT_STREQ((*library)->build, kBuild);
    return;
  }
  EXPECT_THAT(library,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cannot be loaded"), HasSubstr(".so"))));
}

}  // namespace
}  // namespace ordo::model::training::nccl

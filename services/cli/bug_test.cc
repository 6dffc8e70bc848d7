#include "services/cli/bug.h"

#include <cstdlib>
#include <vector>

#include "base/check.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using ::testing::ExitedWithCode;

TEST(BugDeathTest, FailedCheckIsExitCodeSeventy) {
  EXPECT_EXIT(
      {
        ExitOnBug();
        ORDO_CHECK(std::vector<int>().size() == 1) << "as promised";
      },
      ExitedWithCode(70), "check failed: .* as promised\n$");
}

TEST(BugDeathTest, UncaughtExceptionIsExitCodeSeventyAndNamed) {
  EXPECT_EXIT(
      {
        ExitOnBug();
        []() noexcept { static_cast<void>(std::vector<int>().at(1)); }();
      },
      ExitedWithCode(70),
      "^ordo: a bug of ours, please report it: uncaught exception "
      "std::out_of_range\n$");
}

TEST(BugDeathTest, AbortOfALibraryIsExitCodeSeventy) {
  EXPECT_EXIT(
      {
        ExitOnBug();
        std::abort();
      },
      ExitedWithCode(70), "");
}

}  // namespace
}  // namespace ordo::services::cli

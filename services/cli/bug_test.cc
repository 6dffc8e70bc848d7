#include "services/cli/bug.h"

#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
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
      ExitedWithCode(70),
      "check failed: .* as promised\n"
      "ordo: a bug of ours, please report it: aborted \\(SIGABRT\\)\n$");
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
      ExitedWithCode(70),
      "^ordo: a bug of ours, please report it: aborted \\(SIGABRT\\)\n$");
}

TEST(BugDeathTest, CrashIsExitCodeSeventyAndNamed) {
  const struct {
    int signal;
    const char* name;
  } crashes[] = {{SIGSEGV, "SIGSEGV"},
                 {SIGBUS, "SIGBUS"},
                 {SIGFPE, "SIGFPE"},
                 {SIGILL, "SIGILL"}};
  for (const auto& crash : crashes) {
    EXPECT_EXIT(
        {
          ExitOnBug();
          std::raise(crash.signal);
        },
        ExitedWithCode(70),
        std::string("^ordo: a bug of ours, please report it: crashed \\(") +
            crash.name + "\\)\n$");
  }
}

// Uses up the stack.
int Descend(volatile int* depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return *depth < 0 ? 0 : Descend(depth) + frame[0];
}

TEST(BugDeathTest, StackThatOverflowsIsExitCodeSeventy) {
  EXPECT_EXIT(
      {
        rlimit limit{};
        getrlimit(RLIMIT_STACK, &limit);
        limit.rlim_cur = 1 << 20;
        setrlimit(RLIMIT_STACK, &limit);
        ExitOnBug();
        volatile int depth = 0;
        Descend(&depth);
      },
      ExitedWithCode(70), "crashed \\(SIGSEGV\\)");
}

}  // namespace
}  // namespace ordo::services::cli

#include "base/flags/flags.h"

#include <unistd.h>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Not in a main.cc.
ABSL_FLAG(std::string, of_a_library, "", "Not for people.");

namespace ordo::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void AskForHelp() {
  SetHelp("demo --config FILE");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  char program[] = "demo";
  char help[] = "--help";
  char* arguments[] = {program, help, nullptr};
  absl::ParseCommandLine(2, arguments);
}

TEST(SetHelp, HelpHasTheUsageAndNoLibrarysFlags) {
  EXPECT_EXIT(
      AskForHelp(), ::testing::ExitedWithCode(1),
      AllOf(HasSubstr("demo --config FILE"), Not(HasSubstr("of_a_library"))));
}

}  // namespace
}  // namespace ordo::base

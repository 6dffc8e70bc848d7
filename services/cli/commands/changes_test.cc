#include "services/cli/commands/changes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ChangesTest = testing::LoopbackCliTest;

TEST_F(ChangesTest, TableSaysWhoDidWhatAndWhy) {
  PutWorker("w");
  EXPECT_EQ(Run({"show", "workers/w"}), 0) << err();
  EXPECT_THAT(out(), Not(HasSubstr("WHY")));
  EXPECT_EQ(Run({"workers", "cordon", "w", "--reason", "new disks"}), 0)
      << err();
  EXPECT_EQ(Run({"show", "workers/w"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("WHEN"));
  EXPECT_THAT(out(), HasSubstr("  ada  cordon  new disks\n"));
}

}  // namespace
}  // namespace ordo::services::cli

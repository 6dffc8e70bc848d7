#include "base/version/version.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using VersionTest = testing::CliTest;

TEST_F(VersionTest, IsTheDigestOfTheProgram) {
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_THAT(out(), HasSubstr("ordo, build " + *base::BuildId() + "\n"));
  EXPECT_EQ(Run({"--version", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("{\"build\":\"" + *base::BuildId()));
}

}  // namespace
}  // namespace ordo::services::cli

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using DownTest = testing::CliTest;

TEST_F(DownTest, NothingToStopIsFine) {
  EXPECT_EQ(Run({"down", "--dir", folder_.path()}), 0);
  EXPECT_EQ(out(), "nothing runs in " + folder_.path() + "\n");
}

TEST_F(DownTest, JsonNamesTheFolderAndWhatWasStopped) {
  EXPECT_EQ(Run({"down", "--dir", folder_.path(), "-o", "json"}), 0);
  EXPECT_EQ(out(), "{\"folder\":\"" + folder_.path() + "\",\"stopped\":0}\n");
}

TEST_F(DownTest, MissingFolderIsNamed) {
  EXPECT_EQ(Run({"down", "--dir", folder_.Path("x")}), 2);
  EXPECT_THAT(err(), HasSubstr(folder_.Path("x")));
}

}  // namespace
}  // namespace ordo::services::cli

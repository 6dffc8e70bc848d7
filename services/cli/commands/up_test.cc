#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using UpTest = testing::CliTest;

// What `up` starts is tested with the real programs, in tests/e2e.

TEST_F(UpTest, OtherMachinesNeedInsecure) {
  EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--listen", "0.0.0.0:0"}), 2);
  EXPECT_THAT(err(), HasSubstr("give --insecure"));
}

TEST_F(UpTest, AddressIsChecked) {
  EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--listen", "7420"}), 2);
  EXPECT_THAT(err(), HasSubstr("--listen"));
}

TEST_F(UpTest, FolderThatCannotBeUsedNamesTheFix) {
  EXPECT_EQ(Run({"up", "--dir", "/proc/ordo"}), 2);
  EXPECT_THAT(err(), HasSubstr("--dir or ORDO_DIR"));
  environment_["ORDO_DIR"] = "/proc/ordo";
  EXPECT_EQ(Run({"up"}), 2);
  EXPECT_THAT(err(), HasSubstr("/proc/ordo"));
}

TEST_F(UpTest, SettingsAndTrainerAreChecked) {
  EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--set", "scheduler.x=1"}), 2);
  EXPECT_THAT(err(), HasSubstr("--set scheduler.x"));
  EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--trainer", "/no/such"}), 2);
  EXPECT_THAT(err(), HasSubstr("--trainer /no/such"));
}

}  // namespace
}  // namespace ordo::services::cli

#include <map>
#include <string>

#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
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
  const std::string any = "127.0.0.1:0";
  EXPECT_EQ(Run({"up", "--dir", "/proc/ordo", "--listen", any}), 2);
  EXPECT_THAT(err(), HasSubstr("--dir or ORDO_DIR"));
  environment_["ORDO_DIR"] = "/proc/ordo";
  EXPECT_EQ(Run({"up", "--listen", any}), 2);
  EXPECT_THAT(err(), HasSubstr("/proc/ordo"));
  environment_ = {{"HOME", folder_.path()}, {"XDG_DATA_HOME", "/proc"}};
  EXPECT_EQ(Run({"up", "--listen", any}), 2);
  EXPECT_THAT(err(), HasSubstr("/proc/ordo"));
}

TEST_F(UpTest, AFirstUpThatCannotServeLeavesNoFolder) {
  const std::string fresh = folder_.Path("fresh");
  EXPECT_EQ(Run({"up", "--dir", fresh, "--listen", "192.0.2.1:0"}), 2);
  EXPECT_THAT(err(), HasSubstr("192.0.2.1"));
  EXPECT_FALSE(base::Exists(files_, fresh));
}

TEST_F(UpTest, SettingsAndTrainerAreChecked) {
  EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--set", "scheduler.x=1"}), 2);
  EXPECT_THAT(err(), HasSubstr("--set scheduler.x"));
  EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--trainer", "/no/such"}), 2);
  EXPECT_THAT(err(), HasSubstr("--trainer /no/such"));
}

TEST_F(UpTest, DataRootsAreChecked) {
  WriteFile("book.txt", "text");
  for (const auto& [path, why] : std::map<std::string, std::string>{
           {"/no/such", "No such file"},
           {folder_.Path("book.txt"), "it is no folder"}}) {
    EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--data-root", path}), 2);
    EXPECT_THAT(err(), HasSubstr("--data-root " + path + ": " + why));
  }
}

TEST_F(UpTest, WhatIsRememberedAndCannotBeReadNamesTheWayOut) {
  WriteFile("settings.yaml", "set: [scheduler.x=1]");
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("config")));
  ORDO_ASSERT_OK(files_.Rename(folder_.Path("settings.yaml"),
                               folder_.Path("config/settings.yaml")));
  EXPECT_EQ(Run({"up", "--dir", folder_.path(), "--listen", "127.0.0.1:0"}), 2);
  EXPECT_THAT(err(), HasSubstr("forget what was set with --fresh-settings"));
}

}  // namespace
}  // namespace ordo::services::cli

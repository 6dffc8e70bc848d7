#include "services/cli/remembered.h"

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RememberedTest : public ::testing::Test {
 protected:
  RememberedTest() { options_.folder = folder_.path(); }

  DeploymentOptions Read() {
    const auto read = ReadRemembered(files_, folder_.path());
    ORDO_EXPECT_OK(read);
    return read.value_or(DeploymentOptions());
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  DeploymentOptions options_;
};

TEST_F(RememberedTest, WhatWasToldComesBackAsItWas) {
  options_.trainer = "/bin/true";
  options_.trainer_environment = {"A=b=c", "YES=true"};
  options_.settings = {R"(worker.devices=["cpu:0", "cpu:1"])",
                       "scheduler.lease=3s"};
  options_.data_roots = {"/srv/text", "/srv/a b"};
  ORDO_ASSERT_OK(Remember(files_, options_));
  const DeploymentOptions read = Read();
  EXPECT_EQ(read.trainer, options_.trainer);
  EXPECT_EQ(read.trainer_environment, options_.trainer_environment);
  EXPECT_EQ(read.settings, options_.settings);
  EXPECT_EQ(read.data_roots, options_.data_roots);
  EXPECT_THAT(
      base::ReadFile(files_, SettingsFile(folder_.path()), 4096).value_or(""),
      StartsWith("# What `ordo up` was told"));
}

TEST_F(RememberedTest, AFolderThatWasToldNothingRemembersNothing) {
  EXPECT_THAT(Read().settings, IsEmpty());
  options_.settings = {"scheduler.lease=3s"};
  ORDO_ASSERT_OK(Remember(files_, options_));
  options_.settings.clear();
  ORDO_ASSERT_OK(Remember(files_, options_));
  EXPECT_THAT(Read().settings, IsEmpty());
}

TEST_F(RememberedTest, AFileThatCannotBeReadNamesTheWayOut) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("config")));
  for (const char* text : {"set: [", "set: [scheduler.lese=3s]"}) {
    ORDO_ASSERT_OK(
        base::AtomicWrite(files_, SettingsFile(folder_.path()), text));
    EXPECT_THAT(ReadRemembered(files_, folder_.path()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("--fresh-settings")))
        << text;
  }
}

TEST(WithRememberedTest, AGivenOptionReplacesTheOneOfItsNameAlone) {
  DeploymentOptions remembered;
  remembered.trainer = "/bin/true";
  remembered.trainer_environment = {"A=1", "AB=2"};
  remembered.settings = {"worker.labels.zone=a", "worker.labels_x=1",
                         "scheduler.lease=3s"};
  DeploymentOptions given;
  given.listen = "127.0.0.1:5";
  given.trainer_environment = {"A=3"};
  given.settings = {"worker.labels={}", "scheduler.lease=4s"};
  const DeploymentOptions all = WithRemembered(remembered, given);
  EXPECT_EQ(all.listen, "127.0.0.1:5");
  EXPECT_EQ(all.trainer, "/bin/true");
  EXPECT_THAT(all.trainer_environment, ElementsAre("AB=2", "A=3"));
  EXPECT_THAT(all.settings, ElementsAre("worker.labels_x=1", "worker.labels={}",
                                        "scheduler.lease=4s"));
  given.trainer = "/bin/false";
  EXPECT_EQ(WithRemembered(remembered, given).trainer, "/bin/false");
}

TEST(WithRememberedTest, DataRootsAddUp) {
  DeploymentOptions remembered;
  remembered.data_roots = {"/srv/a", "/srv/b"};
  DeploymentOptions given;
  given.data_roots = {"/srv/b", "/srv/c"};
  const DeploymentOptions all = WithRemembered(remembered, given);
  EXPECT_THAT(all.data_roots, ElementsAre("/srv/a", "/srv/b", "/srv/c"));
  EXPECT_EQ(AsBefore(given, all), "--data-root /srv/a");
}

TEST(LostDataRootsTest, EachSaysWhyAndHowToForgetIt) {
  const base::testing::TemporaryFolder folder;
  DeploymentOptions all;
  all.folder = "/srv/ordo";
  all.data_roots = {folder.path()};
  EXPECT_THAT(LostDataRoots(all), ::testing::IsEmpty());
  all.data_roots.push_back("/no/such");
  EXPECT_THAT(LostDataRoots(all),
              ElementsAre(::testing::AllOf(
                  HasSubstr("--data-root /no/such: No such file"),
                  HasSubstr("take it out of /srv/ordo/config/settings.yaml, or "
                            "give --fresh-settings"))));
}

TEST(AsBeforeTest, TellsWhatWasNotGivenAndNoValueOfTheEnvironment) {
  DeploymentOptions given;
  given.settings = {"scheduler.lease=4s"};
  DeploymentOptions all = given;
  EXPECT_EQ(AsBefore(given, all), "");
  all.trainer = "/bin/true";
  all.trainer_environment = {"TOKEN=secret"};
  all.settings.push_back("worker.devices=[\"cpu:0\"]");
  EXPECT_EQ(AsBefore(given, all),
            "--trainer /bin/true --trainer-env TOKEN=... "
            "--set 'worker.devices=[\"cpu:0\"]'");
}

}  // namespace
}  // namespace ordo::services::cli

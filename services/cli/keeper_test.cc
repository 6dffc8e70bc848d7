#include "services/cli/keeper.h"

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "services/cli/stop_deployment.h"

namespace ordo::services::cli {
namespace {

// The keeper with the real processes is tested in tests/e2e.

TEST(RestartDelayTest, StaysBelowTheTimeThatIsPromised) {
  EXPECT_EQ(RestartDelay(1), absl::ZeroDuration());
  for (int failures = 1; failures < 1000; ++failures) {
    EXPECT_LE(RestartDelay(failures) + 2 * kKeeperPoll, kRestartWithin);
    EXPECT_GE(RestartDelay(failures + 1), RestartDelay(failures));
  }
}

TEST(ReadyTimeoutTest, GivesWhatAnEarlierKeeperLeftItsConfiguredGrace) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  EXPECT_GT(ReadyTimeout(files, folder.path()),
            DeploymentStopTimeout(files, folder.path()));
  DeploymentOptions options;
  options.folder = folder.path();
  options.settings = {"worker.stop_grace=600s"};
  ORDO_ASSERT_OK(WriteWorkerConfig(files, options, ""));
  EXPECT_GT(ReadyTimeout(files, folder.path()), absl::Seconds(600));
}

TEST(LastLogLineTest, IsTheLastWithTextAfterTheOffset) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  const std::string path = folder.Path("log");
  EXPECT_EQ(LastLogLine(files, path, 0), "");
  ORDO_ASSERT_OK(base::AtomicWrite(files, path, "one\ntwo\n\n"));
  EXPECT_EQ(LastLogLine(files, path, 0), "two");
  EXPECT_EQ(LastLogLine(files, path, 9), "");
}

}  // namespace
}  // namespace ordo::services::cli

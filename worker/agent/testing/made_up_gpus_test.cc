#include "worker/agent/testing/made_up_gpus.h"

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent::testing {
namespace {

TEST(MadeUpGpusTest, ThereIsADriverOnceSomethingIsWritten) {
  base::testing::TemporaryFolder folder;
  MadeUpGpus gpus(folder.path());
  EXPECT_TRUE(absl::IsUnavailable(gpus.Load().status()));
  gpus.Write("");
  const auto nvml = gpus.Load();
  ORDO_ASSERT_OK(nvml);
  EXPECT_TRUE((*nvml)->gpus().empty());
}

}  // namespace
}  // namespace ordo::worker::agent::testing

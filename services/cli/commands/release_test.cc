#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ReleaseTest = testing::LoopbackCliTest;

TEST_F(ReleaseTest, ReleasesEachJob) {
  PutJob("a", Job::QUEUED);
  PutJob("b", Job::QUEUED);
  EXPECT_EQ(Run({"hold", "a"}), 0) << err();
  EXPECT_EQ(Run({"release", "a", "b"}), 0) << err();
  EXPECT_EQ(out(), "a released\nb released\n");
  EXPECT_EQ(GetJob("a").held_by(), "");
}

TEST_F(ReleaseTest, JobThatRunsIsBadInput) {
  PutJob("a", Job::RUNNING);
  EXPECT_EQ(Run({"release", "a"}), 2);
}

}  // namespace
}  // namespace ordo::services::cli

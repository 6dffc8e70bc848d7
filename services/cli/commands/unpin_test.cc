#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;

constexpr char kName[] = "jobs/a/checkpoints/20-1";

class UnpinTest : public testing::LoopbackCliTest {
 protected:
  UnpinTest() {
    PutJob("a", Job::SUCCEEDED);
    PutCheckpoint(kName);
  }
};

TEST_F(UnpinTest, TakesThePinBackOnce) {
  EXPECT_EQ(Run({"pin", kName}), 0) << err();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Run({"unpin", kName}), 0) << err();
    EXPECT_EQ(out(), "jobs/a/checkpoints/20-1 unpinned\n");
  }
  EXPECT_FALSE(GetCheckpoint("a", "20-1").has_pin());
}

TEST_F(UnpinTest, AnUnknownOneIsBadInput) {
  EXPECT_EQ(Run({"unpin", "jobs/a/checkpoints/5-1"}), 2);
  EXPECT_THAT(err(), HasSubstr("5-1"));
}

}  // namespace
}  // namespace ordo::services::cli

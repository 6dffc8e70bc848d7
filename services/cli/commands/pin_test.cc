#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;

constexpr char kName[] = "jobs/a/checkpoints/20-1";

class PinTest : public testing::LoopbackCliTest {
 protected:
  PinTest() {
    PutJob("a", Job::SUCCEEDED);
    PutCheckpoint(kName);
  }
};

TEST_F(PinTest, KeepsACheckpointAndSaysWhoAndWhy) {
  EXPECT_EQ(Run({"pin", kName, "--reason", "figure 3"}), 0) << err();
  EXPECT_EQ(out(), "jobs/a/checkpoints/20-1 pinned\n");
  EXPECT_EQ(GetCheckpoint("a", "20-1").pin().reason(), "figure 3");
  EXPECT_EQ(Run({"show", kName}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("pinned"));
  EXPECT_THAT(out(), HasSubstr("figure 3"));
}

TEST_F(PinTest, OneThatIsNotThereKeepsNoOtherFromIt) {
  EXPECT_EQ(Run({"pin", "jobs/a/checkpoints/5-1", kName}), 2);
  EXPECT_EQ(out(), "jobs/a/checkpoints/20-1 pinned\n");
}

}  // namespace
}  // namespace ordo::services::cli

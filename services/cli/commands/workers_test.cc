#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;

class WorkersTest : public testing::LoopbackCliTest {
 protected:
  WorkersTest() { PutWorker("w"); }

  workers::v1::Worker GetWorker() {
    return loopback_.scheduler().GetWorker("w").value();
  }
};

TEST_F(WorkersTest, CordonClosesAndUncordonOpens) {
  EXPECT_EQ(Run({"workers", "cordon", "w", "--reason", "fans"}), 0) << err();
  EXPECT_EQ(out(), "w cordoned\n");
  EXPECT_EQ(GetWorker().closed_reason(), "fans");
  EXPECT_EQ(Run({"workers", "uncordon", "workers/w"}), 0) << err();
  EXPECT_EQ(out(), "w open\n");
  EXPECT_FALSE(GetWorker().cordoned());
}

TEST_F(WorkersTest, DrainIsAtItsTimeOrNow) {
  const int64_t now = absl::ToUnixSeconds(clock_.Now());
  EXPECT_EQ(Run({"workers", "drain", "w", "--at", "2h"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("w drains at "));
  EXPECT_EQ(GetWorker().drain_time().seconds(), now + 7200);
  EXPECT_EQ(Run({"workers", "drain", "w"}), 0) << err();
  EXPECT_EQ(GetWorker().drain_time().seconds(), now);
  EXPECT_EQ(Run({"workers", "drain", "w", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"drain_time\":"));
}

TEST_F(WorkersTest, DeviceThatIsInNoQuarantineIsBadInput) {
  EXPECT_EQ(Run({"workers", "release", "w", "cuda:0"}), 2);
  EXPECT_THAT(err(), HasSubstr("cuda:0"));
}

TEST_F(WorkersTest, WhatCannotBeMeantIsBadInput) {
  EXPECT_EQ(Run({"workers", "cordn", "w"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'cordon'?"));
  EXPECT_EQ(Run({"workers", "cordon", "w", "cuda:0"}), 2);
  EXPECT_THAT(err(), HasSubstr("usage: ordo workers cordon WORKER"));
  EXPECT_EQ(Run({"workers", "release", "w"}), 2);
  EXPECT_THAT(err(), HasSubstr("WORKER DEVICE"));
  EXPECT_EQ(Run({"workers", "cordon", "w", "--at", "2h"}), 2);
  EXPECT_THAT(err(), HasSubstr("--at is for"));
  EXPECT_EQ(Run({"workers", "drain", "w", "--at", "soon"}), 2);
  EXPECT_EQ(Run({"workers", "cordon", "jobs/w"}), 2);
  EXPECT_EQ(Run({"workers", "cordon", "nosuch"}), 2);
  EXPECT_TRUE(GetWorker().changes().empty());
}

}  // namespace
}  // namespace ordo::services::cli

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using PriorityTest = testing::LoopbackCliTest;

TEST_F(PriorityTest, SetsThePriorityOfAQueuedJob) {
  PutJob("a", Job::QUEUED);
  EXPECT_EQ(Run({"priority", "a", "7"}), 0) << err();
  EXPECT_EQ(out(), "a priority 7\n");
  EXPECT_EQ(Run({"priority", "a", "-7"}), 0) << err();
  EXPECT_EQ(GetJob("a").priority(), -7);
}

TEST_F(PriorityTest, WhatIsNoPriorityIsBadInput) {
  PutJob("a", Job::QUEUED);
  EXPECT_EQ(Run({"priority", "a", "high"}), 2);
  EXPECT_THAT(err(), HasSubstr("whole number"));
  EXPECT_EQ(Run({"priority", "a", "1001"}), 2);
  EXPECT_THAT(err(), HasSubstr("-1000..1000"));
  EXPECT_EQ(GetJob("a").priority(), 0);
}

TEST_F(PriorityTest, JobThatRunsIsBadInput) {
  PutJob("a", Job::RUNNING);
  EXPECT_EQ(Run({"priority", "a", "7"}), 2);
}

}  // namespace
}  // namespace ordo::services::cli

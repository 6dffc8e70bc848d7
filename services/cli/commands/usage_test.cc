#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using usage::v1::ReportUsageRequest;
using UsageTest = testing::LoopbackCliTest;

TEST_F(UsageTest, TableHasARowForEachAndOneForAll) {
  usage::v1::ReportUsageResponse usage;
  auto* row = usage.add_rows();
  row->set_key("queues/night");
  row->set_used_device_seconds(90);
  row->set_idle_device_seconds(10);
  row->set_lost_device_seconds(25);
  row->set_attempts(3);
  *usage.mutable_total() = *row;
  usage.mutable_total()->clear_key();
  loopback_.scheduler().PutUsage(usage);
  EXPECT_EQ(Run({"usage", "--by", "queue"}), 0) << err();
  EXPECT_EQ(out(),
            "QUEUE  USED  IDLE  LOST  LOST%  ATTEMPTS\n"
            "night    90    10    25  25.0%         3\n"
            "all      90    10    25  25.0%         3\n");
  EXPECT_EQ(Run({"usage", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"key\":\"queues/night\""));
}

TEST_F(UsageTest, AsksForWhatIsWanted) {
  EXPECT_EQ(Run({"usage"}), 0) << err();
  EXPECT_EQ(Run({"usage", "--by", "job", "--since", "24h"}), 0) << err();
  const auto asked = loopback_.scheduler().usage_asked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].by, ReportUsageRequest::OWNER);
  EXPECT_EQ(asked[0].since, absl::InfinitePast());
  EXPECT_EQ(asked[1].by, ReportUsageRequest::JOB);
  EXPECT_EQ(asked[1].since, clock_.Now() - absl::Hours(24));
}

TEST_F(UsageTest, NothingUsedHasNoShareLost) {
  EXPECT_EQ(Run({"usage"}), 0) << err();
  EXPECT_EQ(out(),
            "OWNER  USED  IDLE  LOST  LOST%  ATTEMPTS\n"
            "all       0     0     0      -         0\n");
}

TEST_F(UsageTest, WhatCannotBeMeantIsBadInput) {
  EXPECT_EQ(Run({"usage", "--by", "worker"}), 2);
  EXPECT_EQ(Run({"usage", "--since", "yesterday"}), 2);
}

}  // namespace
}  // namespace ordo::services::cli

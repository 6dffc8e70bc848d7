#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class UsageTest : public testing::LoopbackCliTest {
 protected:
  // A job of ada that had a device for 100 s, a day before the client's now.
  void PutJobThatRan(const std::string& id) {
    jobs::v1::Job job;
    job.set_name("jobs/" + id);
    job.mutable_owner()->set_user("ada");
    job.mutable_spec()->set_queue("default");
    auto* attempt = job.add_attempts();
    const int64_t start = absl::ToUnixSeconds(clock_.Now() - absl::Hours(24));
    attempt->mutable_start_time()->set_seconds(start);
    attempt->mutable_end_time()->set_seconds(start + 100);
    attempt->set_device_seconds(100);
    attempt->set_idle_device_seconds(10);
    attempt->set_lost_device_seconds(25);
    attempt->set_lost_steps(12);
    attempt->set_reason("HANG");
    loopback_.scheduler().PutJob(job);
  }
};

TEST_F(UsageTest, TableHasARowForEachAndOneForAll) {
  PutJobThatRan("a");
  EXPECT_EQ(Run({"usage", "--by", "queue"}), 0) << err();
  EXPECT_EQ(out(),
            "QUEUE    USED  IDLE  LOST  LOST%  LOST_STEPS  ATTEMPTS\n"
            "default    90    10    25  25.0%          12         1\n"
            "all        90    10    25  25.0%          12         1\n");
  EXPECT_EQ(Run({"usage", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"key\":\"ada\""));
  EXPECT_THAT(out(), HasSubstr("\"lost_steps_by_reason\":{\"HANG\""));
}

TEST_F(UsageTest, SinceLeavesOutWhatWasBefore) {
  PutJobThatRan("a");
  EXPECT_EQ(Run({"usage", "--by", "job", "--since", "25h"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\na "));
  EXPECT_EQ(Run({"usage", "--by", "job", "--since", "23h"}), 0) << err();
  EXPECT_THAT(out(), Not(HasSubstr("\na ")));
}

TEST_F(UsageTest, ArchivedJobsAreOneRow) {
  PutJobThatRan("a");
  usage::v1::ArchivedUsage archived;
  archived.set_queue("default");
  archived.set_owner("bob");
  auto& day = *archived.mutable_usage()->add_days();
  day.mutable_usage()->set_used_device_seconds(7);
  day.mutable_usage()->set_attempts(2);
  loopback_.scheduler().PutArchivedUsage(archived);
  EXPECT_EQ(Run({"usage", "--by", "job"}), 0) << err();
  EXPECT_EQ(out(),
            "JOB       USED  IDLE  LOST  LOST%  LOST_STEPS  ATTEMPTS\n"
            "(others)     7     0     0   0.0%           0         2\n"
            "a           90    10    25  25.0%          12         1\n"
            "all         97    10    25  23.4%          12         3\n");
}

TEST_F(UsageTest, NothingUsedHasNoShareLost) {
  EXPECT_EQ(Run({"usage"}), 0) << err();
  EXPECT_EQ(out(),
            "OWNER  USED  IDLE  LOST  LOST%  LOST_STEPS  ATTEMPTS\n"
            "all       0     0     0      -           0         0\n");
}

TEST_F(UsageTest, WhatCannotBeMeantIsBadInput) {
  EXPECT_EQ(Run({"usage", "--by", "worker"}), 2);
  EXPECT_EQ(Run({"usage", "--since", "yesterday"}), 2);
}

}  // namespace
}  // namespace ordo::services::cli

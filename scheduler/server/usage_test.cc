#include "scheduler/server/usage.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server {
namespace {

using jobs::v1::Attempt;
using usage::v1::ReportUsageRequest;
using usage::v1::ReportUsageResponse;
using usage::v1::Usage;

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

core::AttemptPtr AttemptOf(const std::string& text) {
  auto attempt = std::make_shared<Attempt>();
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(text, attempt.get()));
  return attempt;
}

core::JobRecord JobOf(const std::string& id, const std::string& user,
                      const std::string& queue,
                      std::vector<core::AttemptPtr> attempts) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  spec->set_queue(queue);
  auto facts = std::make_shared<core::JobFacts>();
  facts->id = id;
  facts->user = user;
  facts->spec = spec;
  core::JobRecord job;
  job.facts = facts;
  job.attempts = std::move(attempts);
  return job;
}

// From 100 to 200 on two devices: 20 s idle, then the last 30 s lost.
core::AttemptPtr Failed() {
  return AttemptOf(
      "start_time { seconds: 100 } end_time { seconds: 200 } "
      "device_seconds: 200 idle_device_seconds: 40 lost_device_seconds: 60 "
      "reason: 'HANG'");
}

// The total of one job with this attempt.
Usage TotalOf(const core::AttemptPtr& attempt, absl::Time since,
              absl::Time now) {
  UsageSum sum(ReportUsageRequest::OWNER, since, now);
  sum.Add(JobOf("a", "ada", "default", {attempt}));
  return sum.Report().total();
}

TEST(UsageTest, EndedAttemptCountsAsItsRecordSays) {
  const Usage usage = TotalOf(Failed(), absl::InfinitePast(), At(500));
  EXPECT_DOUBLE_EQ(usage.used_device_seconds(), 160);
  EXPECT_DOUBLE_EQ(usage.idle_device_seconds(), 40);
  EXPECT_DOUBLE_EQ(usage.lost_device_seconds(), 60);
  EXPECT_DOUBLE_EQ(usage.lost_device_seconds_by_reason().at("HANG"), 60);
  EXPECT_EQ(usage.attempts(), 1);
}

TEST(UsageTest, OnlyThePartSinceThenCounts) {
  const Usage begun = TotalOf(Failed(), At(110), At(500));
  EXPECT_DOUBLE_EQ(begun.idle_device_seconds(), 20);
  EXPECT_DOUBLE_EQ(begun.used_device_seconds(), 160);
  EXPECT_DOUBLE_EQ(begun.lost_device_seconds(), 60);
  const Usage almost_over = TotalOf(Failed(), At(190), At(500));
  EXPECT_DOUBLE_EQ(almost_over.idle_device_seconds(), 0);
  EXPECT_DOUBLE_EQ(almost_over.used_device_seconds(), 20);
  EXPECT_DOUBLE_EQ(almost_over.lost_device_seconds(), 20);
}

TEST(UsageTest, AttemptThatWasOverBeforeDoesNotCount) {
  EXPECT_EQ(TotalOf(Failed(), At(201), At(500)).attempts(), 0);
}

TEST(UsageTest, AttemptThatGoesOnCountsUpToNow) {
  const Usage starting =
      TotalOf(AttemptOf("start_time { seconds: 100 } devices: 'cuda:0' "
                        "devices: 'cuda:1'"),
              absl::InfinitePast(), At(110));
  EXPECT_DOUBLE_EQ(starting.idle_device_seconds(), 20);
  EXPECT_DOUBLE_EQ(starting.used_device_seconds(), 0);
  const Usage running = TotalOf(
      AttemptOf("start_time { seconds: 100 } run_time { seconds: 105 } "
                "ranks { devices: 'cpu:0' } ranks { devices: 'cpu:0' }"),
      absl::InfinitePast(), At(110));
  EXPECT_DOUBLE_EQ(running.idle_device_seconds(), 10);
  EXPECT_DOUBLE_EQ(running.used_device_seconds(), 10);
  EXPECT_DOUBLE_EQ(running.lost_device_seconds(), 0);
}

TEST(UsageTest, ClockThatWentBackTakesNothingAway) {
  const Usage usage =
      TotalOf(AttemptOf("start_time { seconds: 100 } end_time { seconds: 90 } "
                        "device_seconds: 5"),
              absl::InfinitePast(), At(80));
  EXPECT_DOUBLE_EQ(usage.used_device_seconds(), 0);
  EXPECT_EQ(usage.attempts(), 1);
}

TEST(UsageTest, RowsAreByOwnerQueueOrJob) {
  const auto report = [](ReportUsageRequest::By by) {
    UsageSum sum(by, absl::InfinitePast(), At(500));
    sum.Add(JobOf("a", "ada", "day", {Failed()}));
    sum.Add(JobOf("b", "bob", "day", {Failed(), Failed()}));
    sum.Add(JobOf("c", "bob", "night", {}));
    return sum.Report();
  };
  const ReportUsageResponse owners = report(ReportUsageRequest::OWNER);
  ASSERT_EQ(owners.rows_size(), 2);
  EXPECT_EQ(owners.rows(0).key(), "ada");
  EXPECT_EQ(owners.rows(1).key(), "bob");
  EXPECT_EQ(owners.rows(1).attempts(), 2);
  EXPECT_DOUBLE_EQ(owners.rows(1).lost_device_seconds(), 120);
  EXPECT_DOUBLE_EQ(owners.total().used_device_seconds(), 480);
  const ReportUsageResponse queues = report(ReportUsageRequest::QUEUE);
  ASSERT_EQ(queues.rows_size(), 1);
  EXPECT_EQ(queues.rows(0).key(), "queues/day");
  EXPECT_EQ(queues.rows(0).attempts(), 3);
  const ReportUsageResponse jobs = report(ReportUsageRequest::JOB);
  ASSERT_EQ(jobs.rows_size(), 2);
  EXPECT_EQ(jobs.rows(1).key(), "jobs/b");
}

}  // namespace
}  // namespace ordo::scheduler::server

#include "services/usage/usage_sum.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "scheduler/past_usage.h"

namespace ordo::services::usage {
namespace {

using ordo::jobs::v1::Attempt;
using ordo::jobs::v1::Job;
using ordo::usage::v1::ArchivedUsage;
using ordo::usage::v1::PastUsage;
using ordo::usage::v1::ReportUsageRequest;
using ordo::usage::v1::ReportUsageResponse;
using ordo::usage::v1::Usage;
using scheduler::kMaxUsageRows;

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

Attempt AttemptOf(const std::string& text) {
  Attempt attempt;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &attempt));
  return attempt;
}

Job JobOf(const std::string& id, const std::string& user,
          const std::string& queue, const std::vector<Attempt>& attempts) {
  Job job;
  job.set_name("jobs/" + id);
  job.mutable_owner()->set_user(user);
  job.mutable_spec()->set_queue(queue);
  for (const Attempt& attempt : attempts) *job.add_attempts() = attempt;
  return job;
}

// From 100 to 200 on two devices: 20 s idle, then the last 30 s lost.
Attempt Failed() {
  return AttemptOf(
      "start_time { seconds: 100 } end_time { seconds: 200 } "
      "device_seconds: 200 idle_device_seconds: 40 lost_device_seconds: 60 "
      "lost_steps: 7 "
      "reason: 'HANG'");
}

// The total of one job with this attempt.
Usage TotalOf(const Attempt& attempt, absl::Time since, absl::Time now) {
  UsageSum sum(ReportUsageRequest::OWNER, since, now);
  sum.Add(JobOf("a", "ada", "default", {attempt}));
  return sum.Report().total();
}

TEST(UsageSumTest, EndedAttemptCountsAsItsRecordSays) {
  const Usage usage = TotalOf(Failed(), absl::InfinitePast(), At(500));
  EXPECT_DOUBLE_EQ(usage.used_device_seconds(), 160);
  EXPECT_DOUBLE_EQ(usage.idle_device_seconds(), 40);
  EXPECT_DOUBLE_EQ(usage.lost_device_seconds(), 60);
  EXPECT_DOUBLE_EQ(usage.lost_device_seconds_by_reason().at("HANG"), 60);
  EXPECT_EQ(usage.lost_steps(), 7);
  EXPECT_EQ(usage.lost_steps_by_reason().at("HANG"), 7);
  EXPECT_EQ(usage.attempts(), 1);
}

TEST(UsageSumTest, OnlyThePartSinceThenCounts) {
  const Usage begun = TotalOf(Failed(), At(110), At(500));
  EXPECT_DOUBLE_EQ(begun.idle_device_seconds(), 20);
  EXPECT_DOUBLE_EQ(begun.used_device_seconds(), 160);
  EXPECT_DOUBLE_EQ(begun.lost_device_seconds(), 60);
  const Usage almost_over = TotalOf(Failed(), At(190), At(500));
  EXPECT_DOUBLE_EQ(almost_over.idle_device_seconds(), 0);
  EXPECT_DOUBLE_EQ(almost_over.used_device_seconds(), 20);
  EXPECT_DOUBLE_EQ(almost_over.lost_device_seconds(), 20);
  EXPECT_EQ(almost_over.lost_steps_by_reason().at("HANG"), 7);
}

TEST(UsageSumTest, AttemptThatWasOverBeforeDoesNotCount) {
  const Usage usage = TotalOf(Failed(), At(201), At(500));
  EXPECT_EQ(usage.attempts(), 0);
  EXPECT_EQ(usage.lost_steps(), 0);
}

TEST(UsageSumTest, AttemptThatGoesOnCountsUpToNow) {
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

TEST(UsageSumTest, ClockThatWentBackTakesNothingAway) {
  for (const absl::Time since : {absl::InfinitePast(), At(95), At(100)}) {
    const Usage usage = TotalOf(
        AttemptOf("start_time { seconds: 100 } end_time { seconds: 90 } "
                  "device_seconds: 5 idle_device_seconds: 2 "
                  "lost_device_seconds: 4 reason: 'HANG'"),
        since, At(80));
    EXPECT_DOUBLE_EQ(usage.used_device_seconds(), 3);
    EXPECT_DOUBLE_EQ(usage.idle_device_seconds(), 2);
    EXPECT_DOUBLE_EQ(usage.lost_device_seconds(), 4);
    EXPECT_DOUBLE_EQ(usage.lost_device_seconds_by_reason().at("HANG"), 4);
    EXPECT_EQ(usage.attempts(), 1);
  }
}

TEST(UsageSumTest, RowsAreByOwnerQueueOrJob) {
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
  EXPECT_EQ(owners.rows(1).lost_steps(), 14);
  EXPECT_EQ(owners.total().lost_steps(), 21);
  EXPECT_EQ(owners.total().lost_steps_by_reason().at("HANG"), 21);
  EXPECT_DOUBLE_EQ(owners.total().used_device_seconds(), 480);
  const ReportUsageResponse queues = report(ReportUsageRequest::QUEUE);
  ASSERT_EQ(queues.rows_size(), 1);
  EXPECT_EQ(queues.rows(0).key(), "queues/day");
  EXPECT_EQ(queues.rows(0).attempts(), 3);
  const ReportUsageResponse jobs = report(ReportUsageRequest::JOB);
  ASSERT_EQ(jobs.rows_size(), 2);
  EXPECT_EQ(jobs.rows(1).key(), "jobs/b");
}

// Two days: 5 s used on the first, 7 s on the second, one attempt each.
PastUsage TwoDays() {
  PastUsage past;
  for (int day = 0; day < 2; ++day) {
    PastUsage::Day& added = *past.add_days();
    added.mutable_start_time()->set_seconds(day * 24 * 60 * 60);
    added.mutable_usage()->set_used_device_seconds(5 + 2 * day);
    added.mutable_usage()->set_attempts(1);
    (*added.mutable_usage()->mutable_lost_steps_by_reason())["HANG"] = 3;
  }
  return past;
}

TEST(UsageSumTest, AttemptsThatAJobKeepsNoMoreCountByTheDay) {
  Job job = JobOf("a", "ada", "default", {});
  *job.mutable_earlier_usage() = TwoDays();
  const auto used = [&job](absl::Time since) {
    UsageSum sum(ReportUsageRequest::OWNER, since, At(1'000'000));
    sum.Add(job);
    return sum.Report().total().used_device_seconds();
  };
  EXPECT_EQ(used(absl::InfinitePast()), 12);
  EXPECT_EQ(used(At(24 * 60 * 60 - 1)), 12);
  EXPECT_EQ(used(At(24 * 60 * 60)), 7);
  EXPECT_EQ(used(At(3 * 24 * 60 * 60)), 0);
}

TEST(UsageSumTest, ArchivedJobsCountForTheirQueueAndOwner) {
  ArchivedUsage archived;
  archived.set_queue("night");
  archived.set_owner("ada");
  *archived.mutable_usage() = TwoDays();
  const auto key = [&archived](UsageSum::By by) {
    UsageSum sum(by, absl::InfinitePast(), At(1'000'000));
    sum.AddArchived(archived);
    const ReportUsageResponse report = sum.Report();
    EXPECT_EQ(report.total().used_device_seconds(), 12);
    EXPECT_EQ(report.total().attempts(), 2);
    EXPECT_EQ(report.total().lost_steps_by_reason().at("HANG"), 6);
    return report.rows(0).key();
  };
  EXPECT_EQ(key(ReportUsageRequest::OWNER), "ada");
  EXPECT_EQ(key(ReportUsageRequest::QUEUE), "queues/night");
  EXPECT_EQ(key(ReportUsageRequest::JOB), "jobs/-");
}

TEST(UsageSumTest, WhatIsBeyondTheMostRowsIsInOneRow) {
  for (const auto& [by, others] : std::map<UsageSum::By, std::string>{
           {ReportUsageRequest::OWNER, "-"},
           {ReportUsageRequest::QUEUE, "queues/-"},
           {ReportUsageRequest::JOB, "jobs/-"}}) {
    UsageSum sum(by, absl::InfinitePast(), At(500));
    for (size_t i = 0; i < kMaxUsageRows + 2; ++i) {
      const std::string id = absl::StrCat("a", i);
      sum.Add(JobOf(id, id, id, {Failed()}));
    }
    // One that has a row keeps it.
    sum.Add(JobOf("a0", "a0", "a0", {Failed()}));
    const ReportUsageResponse report = sum.Report();
    ASSERT_EQ(static_cast<size_t>(report.rows_size()), kMaxUsageRows + 1);
    EXPECT_EQ(report.rows(0).key(), others);
    EXPECT_EQ(report.rows(0).attempts(), 2);
    EXPECT_EQ(report.rows(1).attempts(), 2);
    EXPECT_EQ(report.total().attempts(),
              static_cast<int64_t>(kMaxUsageRows + 3));
  }
}

}  // namespace
}  // namespace ordo::services::usage

#include "services/usage/usage_service.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "services/testing/loopback.h"

namespace ordo::services::usage {
namespace {

using ordo::usage::v1::ReportUsageRequest;
using ordo::usage::v1::ReportUsageResponse;
using testing::Context;
using testing::FieldOf;

class UsageServiceTest : public ::testing::Test {
 protected:
  explicit UsageServiceTest(const limits::LimitsOptions& limits = {})
      : loopback_(nullptr, limits),
        stub_(ordo::usage::v1::UsageService::NewStub(loopback_.channel())) {}

  // An attempt of a job that began `begun` ago and had one device for ten
  // seconds.
  void PutJob(const std::string& id, const std::string& user,
              absl::Duration begun) {
    ordo::jobs::v1::Job job;
    job.set_name("jobs/" + id);
    job.mutable_spec()->set_queue("default");
    job.mutable_owner()->set_user(user);
    auto* attempt = job.add_attempts();
    const int64_t start = absl::ToUnixSeconds(loopback_.clock().Now() - begun);
    attempt->mutable_start_time()->set_seconds(start);
    attempt->mutable_end_time()->set_seconds(start + 10);
    attempt->set_device_seconds(10);
    loopback_.scheduler().PutJob(job);
  }

  grpc::Status Report(const ReportUsageRequest& request) {
    Context context;
    response_.Clear();
    return stub_->ReportUsage(&context, request, &response_);
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::usage::v1::UsageService::Stub> stub_;
  ReportUsageResponse response_;
};

TEST_F(UsageServiceTest, DefaultIsByOwnerAndOfAllTime) {
  PutJob("a", "ada", absl::Hours(1));
  PutJob("b", "bob", absl::Hours(9000));
  PutJob("c", "bob", absl::Hours(1));
  ASSERT_TRUE(Report({}).ok());
  ASSERT_EQ(response_.rows_size(), 2);
  EXPECT_EQ(response_.rows(0).key(), "ada");
  EXPECT_EQ(response_.rows(1).key(), "bob");
  EXPECT_EQ(response_.rows(1).used_device_seconds(), 20);
  EXPECT_EQ(response_.total().attempts(), 3);
}

TEST_F(UsageServiceTest, WhatWasBeforeIsLeftOut) {
  PutJob("a", "ada", absl::Hours(3));
  PutJob("b", "ada", absl::Hours(1));
  ReportUsageRequest request;
  request.set_by(ReportUsageRequest::JOB);
  request.mutable_since_time()->set_seconds(
      absl::ToUnixSeconds(loopback_.clock().Now() - absl::Hours(2)));
  ASSERT_TRUE(Report(request).ok());
  ASSERT_EQ(response_.rows_size(), 1);
  EXPECT_EQ(response_.rows(0).key(), "jobs/b");
}

TEST_F(UsageServiceTest, EveryOneOfManyJobsCountsOnce) {
  constexpr int kNumJobs = 1001;
  for (int i = 0; i < kNumJobs; ++i) {
    PutJob(absl::StrCat("a", i), "ada", absl::Hours(1));
  }
  ASSERT_TRUE(Report({}).ok());
  EXPECT_EQ(response_.total().attempts(), kNumJobs);
}

TEST_F(UsageServiceTest, JobsThatWereArchivedCountToo) {
  PutJob("a", "ada", absl::Hours(1));
  ordo::usage::v1::ArchivedUsage archived;
  archived.set_queue("default");
  archived.set_owner("ada");
  auto& day = *archived.mutable_usage()->add_days();
  day.mutable_usage()->set_used_device_seconds(5);
  day.mutable_usage()->set_attempts(2);
  loopback_.scheduler().PutArchivedUsage(archived);
  ASSERT_TRUE(Report({}).ok());
  ASSERT_EQ(response_.rows_size(), 1);
  EXPECT_EQ(response_.rows(0).used_device_seconds(), 15);
  EXPECT_EQ(response_.rows(0).attempts(), 3);
}

TEST_F(UsageServiceTest, NothingIsCountedWhileTheSchedulerLeaves) {
  loopback_.services().EndStreams();
  EXPECT_EQ(Report({}).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(UsageServiceTest, BadRequestsAreInvalidByField) {
  ReportUsageRequest request;
  request.set_by(static_cast<ReportUsageRequest::By>(9));
  EXPECT_EQ(FieldOf(Report(request)), "by");
  request.Clear();
  request.mutable_since_time()->set_nanos(-1);
  EXPECT_EQ(FieldOf(Report(request)), "since_time");
}

class LimitedUsageServiceTest : public UsageServiceTest {
 protected:
  LimitedUsageServiceTest() : UsageServiceTest(One()) {}

  static limits::LimitsOptions One() {
    limits::LimitsOptions options;
    options.calls_per_second = 1;
    options.burst_seconds = 1;
    return options;
  }
};

TEST_F(LimitedUsageServiceTest, CallsCount) {
  ASSERT_TRUE(Report({}).ok());
  EXPECT_EQ(Report({}).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

class FullUsageServiceTest : public UsageServiceTest {
 protected:
  FullUsageServiceTest() : UsageServiceTest(None()) {}

  static limits::LimitsOptions None() {
    limits::LimitsOptions options;
    options.file_calls = 0;
    return options;
  }
};

TEST_F(FullUsageServiceTest, CallsBeyondThoseThatMayWaitAreRefused) {
  const grpc::Status status = Report({});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("limit file_calls"), std::string::npos);
}

}  // namespace
}  // namespace ordo::services::usage

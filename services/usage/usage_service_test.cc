#include "services/usage/usage_service.h"

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
  UsageServiceTest()
      : stub_(ordo::usage::v1::UsageService::NewStub(loopback_.channel())) {}

  grpc::Status Report(const ReportUsageRequest& request) {
    Context context;
    return stub_->ReportUsage(&context, request, &response_);
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::usage::v1::UsageService::Stub> stub_;
  ReportUsageResponse response_;
};

TEST_F(UsageServiceTest, GivesWhatTheSchedulerCounted) {
  ReportUsageResponse usage;
  usage.add_rows()->set_key("ada");
  usage.mutable_total()->set_used_device_seconds(7);
  loopback_.scheduler().PutUsage(usage);
  ReportUsageRequest request;
  request.set_by(ReportUsageRequest::QUEUE);
  request.mutable_since_time()->set_seconds(60);
  request.mutable_since_time()->set_nanos(500'000'000);
  ASSERT_TRUE(Report(request).ok());
  EXPECT_EQ(response_.SerializeAsString(), usage.SerializeAsString());
  const auto asked = loopback_.scheduler().usage_asked();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].by, ReportUsageRequest::QUEUE);
  EXPECT_EQ(asked[0].since, absl::FromUnixMillis(60'500));
}

TEST_F(UsageServiceTest, DefaultIsByOwnerAndOfAllTime) {
  ASSERT_TRUE(Report({}).ok());
  const auto asked = loopback_.scheduler().usage_asked();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].by, ReportUsageRequest::OWNER);
  EXPECT_EQ(asked[0].since, absl::InfinitePast());
}

TEST_F(UsageServiceTest, BadRequestsAreInvalidByField) {
  ReportUsageRequest request;
  request.set_by(static_cast<ReportUsageRequest::By>(9));
  EXPECT_EQ(FieldOf(Report(request)), "by");
  request.Clear();
  request.mutable_since_time()->set_nanos(-1);
  EXPECT_EQ(FieldOf(Report(request)), "since_time");
  EXPECT_TRUE(loopback_.scheduler().usage_asked().empty());
}

}  // namespace
}  // namespace ordo::services::usage

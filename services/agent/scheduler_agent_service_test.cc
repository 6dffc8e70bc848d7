#include "services/agent/scheduler_agent_service.h"

#include "gtest/gtest.h"
#include "services/testing/loopback.h"

namespace ordo::services::agent {
namespace {

using ordo::agent::v1::AnnounceRequest;
using ordo::agent::v1::AnnounceResponse;
using testing::Context;

class SchedulerAgentServiceTest : public ::testing::Test {
 protected:
  SchedulerAgentServiceTest()
      : stub_(ordo::agent::v1::SchedulerAgentService::NewStub(
            loopback_.channel())) {}

  testing::Loopback loopback_;
  std::unique_ptr<ordo::agent::v1::SchedulerAgentService::Stub> stub_;
};

TEST_F(SchedulerAgentServiceTest, AnnouncementReachesTheScheduler) {
  Context context;
  AnnounceRequest request;
  request.set_worker("local");
  request.set_incarnation("i-1");
  AnnounceResponse response;
  ASSERT_TRUE(stub_->Announce(&context, request, &response).ok());
  EXPECT_EQ(response.period().seconds(), 2);
  ASSERT_EQ(loopback_.scheduler().announced().size(), 1u);
  EXPECT_EQ(loopback_.scheduler().announced()[0].incarnation(), "i-1");
}

TEST_F(SchedulerAgentServiceTest, RefusalOfTheSchedulerIsTheAnswer) {
  Context context;
  AnnounceResponse response;
  EXPECT_EQ(stub_->Announce(&context, {}, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace ordo::services::agent

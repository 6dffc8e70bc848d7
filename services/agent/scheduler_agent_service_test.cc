#include "services/agent/scheduler_agent_service.h"

#include <memory>
#include <string>

#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/auth/authenticator.h"
#include "services/testing/loopback.h"

namespace ordo::services::agent {
namespace {

using ordo::agent::v1::AnnounceRequest;
using ordo::agent::v1::AnnounceResponse;
using testing::Context;
using ::testing::HasSubstr;

class SchedulerAgentServiceTest : public ::testing::Test {
 protected:
  SchedulerAgentServiceTest()
      : stub_(ordo::agent::v1::SchedulerAgentService::NewStub(
            loopback_.channel())) {}

  // What a worker of this version is answered.
  grpc::Status AnnounceAs(int32_t protocol, AnnounceResponse* response) {
    Context context;
    AnnounceRequest request;
    request.set_worker("local");
    request.set_incarnation("i-1");
    request.set_protocol(protocol);
    return stub_->Announce(&context, request, response);
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::agent::v1::SchedulerAgentService::Stub> stub_;
};

TEST_F(SchedulerAgentServiceTest, AnnouncementReachesTheScheduler) {
  AnnounceResponse response;
  ASSERT_TRUE(AnnounceAs(base::kWorkerProtocol, &response).ok());
  EXPECT_EQ(response.period().seconds(), 2);
  ASSERT_EQ(loopback_.scheduler().announced().size(), 1u);
  EXPECT_EQ(loopback_.scheduler().announced()[0].incarnation(), "i-1");
}

TEST_F(SchedulerAgentServiceTest, RefusalOfTheSchedulerIsTheAnswer) {
  Context context;
  AnnounceRequest nameless;
  nameless.set_protocol(base::kWorkerProtocol);
  AnnounceResponse response;
  EXPECT_EQ(stub_->Announce(&context, nameless, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(SchedulerAgentServiceTest, WorkersOfTheReleasesNextToThisOneAreTaken) {
  for (const int32_t protocol :
       {base::kWorkerProtocol - 1, base::kWorkerProtocol,
        base::kWorkerProtocol + 1}) {
    AnnounceResponse response;
    EXPECT_TRUE(AnnounceAs(protocol, &response).ok()) << protocol;
    EXPECT_EQ(response.protocol(), base::kWorkerProtocol);
  }
  EXPECT_EQ(loopback_.scheduler().announced().size(), 3u);
}

TEST_F(SchedulerAgentServiceTest, AWorkerThatIsTooNewIsRefusedByName) {
  AnnounceResponse response;
  const grpc::Status status = AnnounceAs(base::kWorkerProtocol + 2, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("worker local"));
  EXPECT_THAT(loopback_.scheduler().announced(), ::testing::IsEmpty());
}

// Everybody shows the certificate of the worker `w`.
class WorkerW : public auth::Authenticator {
 public:
  absl::StatusOr<auth::VisitorPtr> Identify(
      const base::Caller&) const override {
    auth::Visitor visitor;
    visitor.role = ordo::access::v1::WORKER;
    visitor.worker = "w";
    return std::make_shared<const auth::Visitor>(visitor);
  }
};

TEST(GuardedSchedulerAgentServiceTest, AWorkerSpeaksForItselfAlone) {
  const WorkerW authenticator;
  testing::Loopback loopback(&authenticator);
  const auto stub =
      ordo::agent::v1::SchedulerAgentService::NewStub(loopback.channel());
  const auto announce = [&stub](const std::string& worker) {
    Context context;
    AnnounceRequest request;
    request.set_worker(worker);
    request.set_protocol(base::kWorkerProtocol);
    AnnounceResponse response;
    return stub->Announce(&context, request, &response);
  };
  EXPECT_TRUE(announce("w").ok());
  const grpc::Status status = announce("other");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("is of the worker w"));
  EXPECT_EQ(loopback.scheduler().announced().size(), 1u);
}

}  // namespace
}  // namespace ordo::services::agent

#include "services/auth/guarded.h"

#include <memory>

#include "base/clock/testing/fake_clock.h"
#include "base/rpc/client.h"
#include "gtest/gtest.h"
#include "proto/ordo/queues/v1/queues.grpc.pb.h"
#include "services/testing/known_users.h"

namespace ordo::services::auth {
namespace {

using ordo::queues::v1::QueuesService;

// Has two methods, and serves one.
class HalfService final : public Guarded<QueuesService> {
 public:
  explicit HalfService(Guard& guard) : Guarded(guard) {
    Serve("ListQueues", &HalfService::ListQueues);
  }

  grpc::ServerUnaryReactor* ListQueues(
      grpc::CallbackServerContext* context,
      const ordo::queues::v1::ListQueuesRequest*,
      ordo::queues::v1::ListQueuesResponse* response) override {
    response->set_next_page_token(VisitorOf(*context).owner.user());
    EXPECT_EQ(CallerOf(*context).user, "ada");
    return base::Finish(context, absl::OkStatus());
  }
  grpc::ServerUnaryReactor* GetQueue(grpc::CallbackServerContext* context,
                                     const ordo::queues::v1::GetQueueRequest*,
                                     ordo::queues::v1::Queue*) override {
    ADD_FAILURE() << "reached without its guard";
    return base::Finish(context, absl::OkStatus());
  }
};

class GuardedTest : public ::testing::Test {
 protected:
  template <typename Call>
  grpc::StatusCode As(const char* user, const Call& call) {
    grpc::ClientContext context;
    base::PrepareCall({absl::Seconds(20), user, false}, &context);
    return call(&context).error_code();
  }

  base::testing::FakeClock clock_;
  const services::testing::KnownUsers users_;
  Guard guard_{{&users_}, clock_};
  HalfService service_{guard_};
  const std::unique_ptr<base::RpcServer> server_ =
      base::RpcServer::Start({}, {&service_}).value();
  const std::unique_ptr<QueuesService::Stub> stub_ =
      QueuesService::NewStub(base::Connect(server_->address()));
};

TEST_F(GuardedTest, AMethodKnowsWhoHasPassed) {
  ordo::queues::v1::ListQueuesResponse response;
  const auto list = [&](grpc::ClientContext* context) {
    return stub_->ListQueues(context, {}, &response);
  };
  EXPECT_EQ(As("ada", list), grpc::StatusCode::OK);
  EXPECT_EQ(response.next_page_token(), "ada");
  EXPECT_EQ(As("", list), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(GuardedTest, AMethodThatIsNotServedIsReachedByNobody) {
  ordo::queues::v1::Queue queue;
  EXPECT_EQ(As("ada",
               [&](grpc::ClientContext* context) {
                 return stub_->GetQueue(context, {}, &queue);
               }),
            grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace ordo::services::auth

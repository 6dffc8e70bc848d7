#include "base/rpc/call.h"

#include <future>
#include <memory>
#include <string>

#include "base/rpc/client.h"
#include "base/rpc/sample.grpc.pb.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::sample::EchoRequest;
using ::ordo::base::sample::EchoResponse;
using ::ordo::base::sample::EchoService;
using ::ordo::base::testing::IsOk;

// Ends as the request says, and keeps how its call ended.
class EndingService : public EchoService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context,
                                 const EchoRequest* request,
                                 EchoResponse* response) override {
    Call& call = Call::Of(*context);
    call.passenger = std::make_shared<const std::string>(request->text());
    call.at_end = [this](const absl::Status& status) {
      ended_.set_value(status);
    };
    response->set_text(
        *static_cast<const std::string*>(Call::Of(*context).passenger.get()));
    return Finish(context, request->text() == "fail"
                               ? absl::AbortedError("as you say")
                               : absl::OkStatus());
  }

  absl::Status HowItEnded() { return ended_.get_future().get(); }

 private:
  std::promise<absl::Status> ended_;
};

class CallTest : public ::testing::Test {
 protected:
  grpc::Status Echo(const std::string& text, EchoResponse* response) {
    server_ = RpcServer::Start({}, {&service_}).value();
    grpc::ClientContext context;
    PrepareCall({absl::Seconds(20), "ada", false}, &context);
    EchoRequest request;
    request.set_text(text);
    return EchoService::NewStub(Connect(server_->address()))
        ->Echo(&context, request, response);
  }

  EndingService service_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(CallTest, RemembersWhatItWasGivenAndIsToldThatItEnds) {
  EchoResponse response;
  EXPECT_TRUE(Echo("a", &response).ok());
  EXPECT_EQ(response.text(), "a");
  EXPECT_THAT(service_.HowItEnded(), IsOk());
}

TEST_F(CallTest, IsToldTheErrorThatItEndsWith) {
  EchoResponse response;
  EXPECT_EQ(Echo("fail", &response).error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(service_.HowItEnded(), absl::AbortedError("as you say"));
}

}  // namespace
}  // namespace ordo::base

#include "base/rpc/rpc_metrics.h"

#include <cstdint>
#include <memory>
#include <string>

#include "base/log/log.h"
#include "base/metrics/metrics.h"
#include "base/rpc/client.h"
#include "base/rpc/sample.grpc.pb.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/client_unary_call.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::sample::EchoRequest;
using ::ordo::base::sample::EchoResponse;
using ::ordo::base::sample::EchoService;
using ::testing::HasSubstr;
using ::testing::Not;

class RefusingService : public EchoService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context,
                                 const EchoRequest* request,
                                 EchoResponse*) override {
    if (request->text() == "bug") {
      return Finish(context, absl::InternalError("a bug"));
    }
    if (request->text() == "damage") {
      return Finish(context, absl::DataLossError("damage"));
    }
    return Finish(context, request->text().empty()
                               ? absl::InvalidArgumentError("empty")
                               : absl::OkStatus());
  }
};

class RpcMetricsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RpcServerOptions options;
    options.metrics = &metrics_;
    ORDO_ASSERT_OK_AND_ASSIGN(server_, RpcServer::Start(options, {&service_}));
    stub_ = EchoService::NewStub(Connect(server_->address()));
  }

  void Echo(const std::string& text) {
    grpc::ClientContext context;
    PrepareCall({absl::Seconds(20), "", false}, &context);
    EchoRequest request;
    request.set_text(text);
    EchoResponse response;
    stub_->Echo(&context, request, &response);
  }

  MetricsRegistry registry_;
  RpcMetrics metrics_{"test", registry_};
  RefusingService service_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<EchoService::Stub> stub_;
};

TEST_F(RpcMetricsTest, CountsCallsByMethodAndCode) {
  Echo("a");
  Echo("b");
  Echo("");
  // The counts are complete once the server has ended.
  server_.reset();
  const std::string text = registry_.Text();
  EXPECT_THAT(text, HasSubstr("ordo_test_rpc_requests_total{code=\"OK\","
                              "method=\"ordo.base.sample.EchoService/Echo\"} "
                              "2\n"));
  EXPECT_THAT(text, HasSubstr("ordo_test_rpc_requests_total{code="
                              "\"INVALID_ARGUMENT\",method="
                              "\"ordo.base.sample.EchoService/Echo\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ordo_test_rpc_latency_seconds_count{method="
                              "\"ordo.base.sample.EchoService/Echo\"} 3\n"));
}

TEST_F(RpcMetricsTest, FaultsOfTheServiceAreLoggedAndThoseOfCallersAreNot) {
  const int64_t before = NumLogLines(LogLevel::kError);
  Echo("");
  Echo("a");
  Echo("bug");
  Echo("damage");
  server_.reset();
  EXPECT_EQ(NumLogLines(LogLevel::kError) - before, 2);
}

TEST_F(RpcMetricsTest, NamesOfMethodsThatThereAreNotMakeNoSeries) {
  const auto channel = Connect(server_->address());
  for (const char* name : {"/no.such.Service/One",
                           "/ordo.base.sample.EchoService/Two", "/three"}) {
    grpc::ClientContext context;
    PrepareCall({absl::Seconds(20), "", false}, &context);
    EchoResponse response;
    const grpc::Status status = grpc::internal::BlockingUnaryCall(
        channel.get(),
        grpc::internal::RpcMethod(name, grpc::internal::RpcMethod::NORMAL_RPC),
        &context, EchoRequest(), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  }
  server_.reset();
  const std::string text = registry_.Text();
  for (const char* name : {"One", "Two", "three"}) {
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
  EXPECT_THAT(text, HasSubstr("ordo_test_rpc_requests_total{code="
                              "\"UNIMPLEMENTED\",method=\"other\"} 3\n"));
}

TEST_F(RpcMetricsTest, HealthIsAMethod) {
  grpc::ClientContext context;
  PrepareCall({absl::Seconds(20), "", false}, &context);
  // Its request and answer are empty messages to whoever asks for nothing.
  EchoRequest request;
  EchoResponse response;
  const auto channel = Connect(server_->address());
  EXPECT_TRUE(
      grpc::internal::BlockingUnaryCall(
          channel.get(),
          grpc::internal::RpcMethod("/grpc.health.v1.Health/Check",
                                    grpc::internal::RpcMethod::NORMAL_RPC),
          &context, request, &response)
          .ok());
  server_.reset();
  EXPECT_THAT(registry_.Text(),
              HasSubstr("method=\"grpc.health.v1.Health/Check\"} 1\n"));
}

TEST_F(RpcMetricsTest, WhatCannotBeParsedIsNoFaultOfTheService) {
  const int64_t before = NumLogLines(LogLevel::kError);
  const auto channel = Connect(server_->address());
  const grpc::Slice no_message("\xff\xff\xff");
  const grpc::ByteBuffer request(&no_message, 1);
  for (const char* name :
       {"/ordo.base.sample.EchoService/Echo",
        "/ordo.base.sample.EchoService/Follow", "/grpc.health.v1.Health/Check",
        "/grpc.health.v1.Health/Watch", "/three"}) {
    grpc::ClientContext context;
    PrepareCall({absl::Seconds(20), "", false}, &context);
    grpc::ByteBuffer response;
    const grpc::Status status = grpc::internal::BlockingUnaryCall(
        channel.get(),
        grpc::internal::RpcMethod(name, grpc::internal::RpcMethod::NORMAL_RPC),
        &context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << name;
  }
  server_.reset();
  EXPECT_EQ(NumLogLines(LogLevel::kError), before);
  EXPECT_THAT(registry_.Text(), Not(HasSubstr("INTERNAL")));
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_test_rpc_requests_total{code=\"UNIMPLEMENTED\","
                        "method=\"grpc.health.v1.Health/Watch\"} 1\n"));
}

TEST_F(RpcMetricsTest, StreamsAreCountedAndNotMeasured) {
  grpc::ClientContext context;
  PrepareCall({absl::Seconds(20), "", false}, &context);
  auto stream = stub_->Follow(&context, EchoRequest());
  EchoResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  server_.reset();
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_test_rpc_requests_total{code=\"UNIMPLEMENTED\","
                        "method=\"ordo.base.sample.EchoService/Follow\"} 1\n"));
  EXPECT_THAT(registry_.Text(),
              Not(HasSubstr("ordo_test_rpc_latency_seconds_count")));
}

}  // namespace
}  // namespace ordo::base

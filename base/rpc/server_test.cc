#include "base/rpc/server.h"

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/clock/clock.h"
#include "base/mutex.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/sample.grpc.pb.h"
#include "base/sockets/connect.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::sample::EchoRequest;
using ::ordo::base::sample::EchoResponse;
using ::ordo::base::sample::EchoService;
using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::Duration kTimeout = absl::Seconds(20);

// Answers with the caller, or with an error on request. Streams stay open until
// they are cancelled.
class EchoServiceImpl : public EchoService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context,
                                 const EchoRequest* request,
                                 EchoResponse* response) override {
    const Caller caller = GetCaller(*context);
    response->set_text(request->text() + " " + caller.user + " " + caller.peer);
    if (!caller.trace_parent.empty()) {
      response->set_text(response->text() + " " + caller.trace_parent);
    }
    if (request->text() == "fail") {
      return Finish(context, absl::NotFoundError("no such text"));
    }
    return Finish(context, absl::OkStatus());
  }

  grpc::ServerWriteReactor<EchoResponse>* Follow(grpc::CallbackServerContext*,
                                                 const EchoRequest*) override {
    class Follower : public grpc::ServerWriteReactor<EchoResponse> {
     public:
      Follower() { StartWrite(&response_); }
      void OnDone() override { delete this; }
      void OnCancel() override {
        Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "ends"));
      }

     private:
      EchoResponse response_;
    };
    return new Follower();
  }
};

class RpcServerTest : public ::testing::Test {
 protected:
  void Start(RpcServerOptions options = {}) {
    auto server = RpcServer::Start(options, {&service_});
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    stub_ = EchoService::NewStub(Connect(server_->address()));
  }

  absl::Status Echo(const std::string& text, EchoResponse* response,
                    const CallOptions& options = {kTimeout, "ada", false}) {
    grpc::ClientContext context;
    PrepareCall(options, &context);
    EchoRequest request;
    request.set_text(text);
    return FromGrpcStatus(stub_->Echo(&context, request, response));
  }

  EchoServiceImpl service_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<EchoService::Stub> stub_;
};

TEST_F(RpcServerTest, AnswersOnAPortOfItsChoiceAndKnowsTheCaller) {
  Start();
  EXPECT_GT(server_->port(), 0);
  EchoResponse response;
  ORDO_ASSERT_OK(Echo("hello", &response));
  EXPECT_THAT(response.text(), StartsWith("hello ada ipv4:127.0.0.1:"));
}

TEST_F(RpcServerTest, KnowsTheTraceThatACallIsPartOf) {
  constexpr char kParent[] =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Start();
  CallOptions options = {kTimeout, "ada", false};
  EchoResponse response;
  options.trace_parent = kParent;
  ORDO_ASSERT_OK(Echo("hello", &response, options));
  EXPECT_THAT(response.text(), HasSubstr(kParent));
  options.trace_parent = "00-4bf92f3577b34da6-1-01";
  ORDO_ASSERT_OK(Echo("hello", &response, options));
  EXPECT_THAT(response.text(), Not(HasSubstr("4bf92f")));
}

TEST_F(RpcServerTest, OfTwoTracesNoneIsKnown) {
  Start();
  grpc::ClientContext context;
  PrepareCall({kTimeout, "ada", false}, &context);
  for (const char* span : {"00f067aa0ba902b7", "00f067aa0ba902b8"}) {
    context.AddMetadata(
        "traceparent",
        std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-") + span + "-01");
  }
  EchoRequest request;
  EchoResponse response;
  EXPECT_TRUE(stub_->Echo(&context, request, &response).ok());
  EXPECT_THAT(response.text(), Not(HasSubstr("4bf92f")));
}

// One message of a bidirectional call by the name of its method, as bytes.
std::string CallByName(const std::string& address, const std::string& method,
                       const std::string& request) {
  grpc::GenericStub stub(Connect(address));
  grpc::ClientContext context;
  PrepareCall({kTimeout, "", false}, &context);
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  const auto next = [&] { return queue.Next(&tag, &ok) && ok; };
  auto call = stub.PrepareCall(&context, method, &queue);
  const grpc::Slice slice(request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer received;
  call->StartCall(nullptr);
  std::string answer;
  const auto exchange = [&] {
    if (!next()) return;
    call->Write(sent, nullptr);
    if (!next()) return;
    call->Read(&received, nullptr);
    if (!next()) return;
    grpc::Slice bytes;
    if (!received.DumpToSingleSlice(&bytes).ok()) return;
    answer.assign(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  };
  exchange();
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  return answer;
}

TEST_F(RpcServerTest, TheTimeIsToldToWhoAsks) {
  Start();
  const RealClock clock;
  const absl::Time before = clock.Now();
  for (const std::string text : {"x", "fail"}) {
    grpc::ClientContext context;
    PrepareCall({kTimeout, "ada", false}, &context);
    context.AddMetadata(kTimeMetadataKey, "?");
    EchoRequest request;
    request.set_text(text);
    EchoResponse response;
    stub_->Echo(&context, request, &response);
    const auto told =
        context.GetServerTrailingMetadata().find(kTimeMetadataKey);
    ASSERT_NE(told, context.GetServerTrailingMetadata().end()) << text;
    int64_t nanos = 0;
    ASSERT_TRUE(absl::SimpleAtoi(
        std::string(told->second.data(), told->second.size()), &nanos));
    EXPECT_GE(absl::FromUnixNanos(nanos), before);
    EXPECT_LE(absl::FromUnixNanos(nanos), clock.Now());
  }
  grpc::ClientContext context;
  PrepareCall({kTimeout, "ada", false}, &context);
  EchoRequest request;
  EchoResponse response;
  ASSERT_TRUE(stub_->Echo(&context, request, &response).ok());
  EXPECT_EQ(context.GetServerTrailingMetadata().count(kTimeMetadataKey), 0u);
}

TEST_F(RpcServerTest, HealthIsServing) {
  Start();
  // HealthCheckResponse {status: SERVING} for HealthCheckRequest {}.
  EXPECT_EQ(CallByName(server_->address(), "/grpc.health.v1.Health/Watch", ""),
            std::string("\x08\x01"));
}

TEST_F(RpcServerTest, HealthOfEachServiceIsServing) {
  Start();
  // HealthCheckRequest {service: "ordo.base.sample.EchoService"}.
  const std::string name = "ordo.base.sample.EchoService";
  const std::string request =
      std::string("\x0a") + static_cast<char>(name.size()) + name;
  EXPECT_EQ(
      CallByName(server_->address(), "/grpc.health.v1.Health/Watch", request),
      std::string("\x08\x01"));
}

TEST_F(RpcServerTest, ReflectionListsTheServices) {
  Start();
  // ServerReflectionRequest {list_services: ""}.
  EXPECT_THAT(CallByName(server_->address(),
                         "/grpc.reflection.v1alpha.ServerReflection/"
                         "ServerReflectionInfo",
                         std::string("\x3a\x00", 2)),
              HasSubstr("ordo.base.sample.EchoService"));
}

// How many streams have ended.
class Ends {
 public:
  void Add() {
    MutexLock lock(mutex_);
    ++count_;
    changed_.NotifyAll();
  }
  // Whether so many have within kTimeout.
  bool WaitFor(int count) {
    const auto deadline =
        std::chrono::steady_clock::now() + absl::ToChronoSeconds(kTimeout);
    MutexLock lock(mutex_);
    while (count_ < count && changed_.WaitUntil(mutex_, deadline)) {
    }
    return count_ >= count;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int count_ ORDO_GUARDED_BY(mutex_) = 0;
};

// A stream of reflection whose client says nothing.
class SilentStream
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  SilentStream(const std::shared_ptr<grpc::Channel>& channel, Ends& ends)
      : stub_(channel), ends_(ends) {
    PrepareCall({absl::Minutes(2), "", false}, &context_);
    stub_.PrepareBidiStreamingCall(
        &context_,
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        grpc::StubOptions(), this);
    StartCall();
  }

  void OnDone(const grpc::Status& status) override {
    ends_.Add();
    end_.set_value(status.error_code());
  }
  // Cancels it, if it has not ended, and waits for how it ends.
  grpc::StatusCode End() {
    context_.TryCancel();
    return end_.get_future().get();
  }

 private:
  grpc::GenericStub stub_;
  Ends& ends_;
  grpc::ClientContext context_;
  std::promise<grpc::StatusCode> end_;
};

TEST_F(RpcServerTest, WhoReflectsAndSaysNothingHoldsNoMoreThanSomeThreads) {
  constexpr int kTooMany = 20;
  Start();
  Ends ends;
  std::vector<std::unique_ptr<SilentStream>> streams;
  for (int i = 0; i < kMaxReflections + kTooMany; ++i) {
    streams.push_back(
        std::make_unique<SilentStream>(Connect(server_->address()), ends));
  }
  EXPECT_TRUE(ends.WaitFor(kTooMany));
  EchoResponse response;
  ORDO_EXPECT_OK(Echo("hello", &response));
  int num_refused = 0;
  for (const auto& stream : streams) {
    num_refused += stream->End() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  }
  EXPECT_GE(num_refused, kTooMany);
}

TEST_F(RpcServerTest, ErrorsKeepTheirCodeAndMessage) {
  Start();
  EchoResponse response;
  EXPECT_THAT(Echo("fail", &response),
              StatusIs(absl::StatusCode::kNotFound, "no such text"));
}

TEST_F(RpcServerTest, APortInUseIsAnErrorThatNamesIt) {
  Start();
  RpcServerOptions options;
  options.listen = server_->address();
  EXPECT_THAT(RpcServer::Start(options, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(server_->address())));
}

TEST_F(RpcServerTest, AHostThatOthersReachNeedsInsecure) {
  RpcServerOptions options;
  options.listen = "0.0.0.0:0";
  EXPECT_THAT(RpcServer::Start(options, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("insecure: true")));
  options.insecure = true;
  Start(options);
  EXPECT_GT(server_->port(), 0);
}

TEST_F(RpcServerTest, ABadAddressIsRefused) {
  RpcServerOptions options;
  options.listen = "7420";
  EXPECT_THAT(RpcServer::Start(options, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(RpcServerTest, AMessageAboveTheLimitIsRefused) {
  Start();
  EchoResponse response;
  EXPECT_THAT(Echo(std::string(kMaxMessageBytes + 1, 'x'), &response),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("16777216"),
                             HasSubstr("divide the request into several"))));
}

// That any are refused is up to gRPC, which looks for memory to free in its own
// time and may have answered a call before. How much of them a real server
// takes in is measured in tests/e2e/load_test.cc.
TEST_F(RpcServerTest, ManyLargeRequestsAtOnceAreEachAnsweredOrRefused) {
  constexpr int kNumCalls = 64;
  RpcServerOptions options;
  options.max_transport_bytes = 16 << 20;
  Start(options);
  const std::string text(4 << 20, 'x');
  std::vector<absl::Status> answers(kNumCalls);
  std::vector<std::thread> callers;
  callers.reserve(kNumCalls);
  for (absl::Status& answer : answers) {
    callers.emplace_back([this, &text, &answer] {
      EchoResponse response;
      answer = Echo(text, &response, {3 * kTimeout, "ada", true});
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const absl::Status& answer : answers) {
    EXPECT_THAT(answer,
                AnyOf(IsOk(), StatusIs(absl::StatusCode::kResourceExhausted),
                      StatusIs(absl::StatusCode::kUnavailable)));
  }
  EchoResponse response;
  ORDO_EXPECT_OK(Echo("hello", &response, {kTimeout, "ada", true}));
}

TEST_F(RpcServerTest, ACallWaitsUntilItsConnectionHasRoomForIt) {
  RpcServerOptions options;
  options.max_streams = 1;
  Start(options);
  grpc::ClientContext context;
  PrepareCall({kTimeout, "", false}, &context);
  auto stream = stub_->Follow(&context, EchoRequest());
  EchoResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(Echo("hello", &response, {absl::Milliseconds(100), "ada", false}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  context.TryCancel();
  EXPECT_FALSE(stream->Read(&response));
  stream->Finish();
  ORDO_EXPECT_OK(Echo("hello", &response));
}

TEST_F(RpcServerTest, WhoConnectsAndSaysNothingIsCutOff) {
  RpcServerOptions options;
  options.handshake_timeout = absl::Milliseconds(200);
  Start(options);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const int stranger,
      ConnectTo("127.0.0.1", static_cast<uint16_t>(server_->port())));
  // The server's settings come first.
  char part[256];
  while (::read(stranger, part, sizeof part) > 0) {
  }
  ::close(stranger);
  EchoResponse response;
  ORDO_EXPECT_OK(Echo("hello", &response));
}

TEST_F(RpcServerTest, DrainEndsOpenStreamsAfterItsGrace) {
  Start();
  grpc::ClientContext context;
  PrepareCall({kTimeout, "", false}, &context);
  auto stream = stub_->Follow(&context, EchoRequest());
  EchoResponse response;
  ASSERT_TRUE(stream->Read(&response));
  server_->Drain(absl::Milliseconds(20));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_THAT(FromGrpcStatus(stream->Finish()),
              AnyOf(StatusIs(absl::StatusCode::kUnavailable),
                    StatusIs(absl::StatusCode::kCancelled)));
  EXPECT_THAT(Echo("hello", &response),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(RpcServerTest, ADrainedPortCanBeUsedAgainAndClientsComeBack) {
  Start();
  EchoResponse response;
  ORDO_ASSERT_OK(Echo("one", &response));
  RpcServerOptions options;
  options.listen = server_->address();
  server_.reset();
  const auto again = RpcServer::Start(options, {&service_});
  ORDO_ASSERT_OK(again);
  ORDO_EXPECT_OK(Echo("two", &response, {kTimeout, "ada", true}));
}

}  // namespace
}  // namespace ordo::base

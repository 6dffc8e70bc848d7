#include "base/rpc/health_service.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/health.grpc.pb.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::grpc::health::v1::Health;
using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr char kNoService[] = "no.such.Service";

HealthCheckRequest Named(const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  return request;
}

// A stream of Watch, with a connection of its own.
class Watch {
 public:
  Watch(const std::string& address, const HealthCheckRequest& request)
      : stub_(Health::NewStub(ConnectAlone(address))) {
    PrepareCall({kTimeout, "", false}, &context_);
    stream_ = stub_->Watch(&context_, request);
  }

  // What it is told next; -1 when it has ended.
  int Next() {
    HealthCheckResponse response;
    return stream_->Read(&response) ? response.status() : -1;
  }
  absl::Status End() { return FromGrpcStatus(stream_->Finish()); }
  void Cancel() { context_.TryCancel(); }

 private:
  std::unique_ptr<Health::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> stream_;
};

class HealthServiceTest : public ::testing::Test {
 protected:
  void Start(int max_watches, int max_watches_per_address) {
    RpcServerOptions options;
    options.max_watches = max_watches;
    options.max_watches_per_address = max_watches_per_address;
    ORDO_ASSERT_OK_AND_ASSIGN(server_, RpcServer::Start(options, {}));
    stub_ = Health::NewStub(Connect(server_->address()));
  }

  absl::Status Check(const HealthCheckRequest& request,
                     HealthCheckResponse* response) {
    grpc::ClientContext context;
    PrepareCall({kTimeout, "", false}, &context);
    return FromGrpcStatus(stub_->Check(&context, request, response));
  }

  std::unique_ptr<Watch> Open(const HealthCheckRequest& request = {}) {
    return std::make_unique<Watch>(server_->address(), request);
  }

  // Opens so many and sees that they stay open.
  std::vector<std::unique_ptr<Watch>> OpenAll(int count) {
    std::vector<std::unique_ptr<Watch>> watches;
    for (int i = 0; i < count; ++i) {
      watches.push_back(Open());
      EXPECT_EQ(watches.back()->Next(), HealthCheckResponse::SERVING) << i;
    }
    return watches;
  }

  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<Health::Stub> stub_;
};

TEST_F(HealthServiceTest, CheckKnowsTheServerAndItsServices) {
  Start(kMaxWatches, kMaxWatchesPerAddress);
  for (const char* service : {"", "grpc.health.v1.Health"}) {
    HealthCheckResponse response;
    ORDO_EXPECT_OK(Check(Named(service), &response));
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << service;
  }
  HealthCheckResponse response;
  EXPECT_THAT(Check(Named(kNoService), &response),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(kNoService)));
}

TEST_F(HealthServiceTest, AWatchOfNoServiceSaysSoAndStays) {
  Start(kMaxWatches, kMaxWatchesPerAddress);
  const auto watch = Open(Named(kNoService));
  EXPECT_EQ(watch->Next(), HealthCheckResponse::SERVICE_UNKNOWN);
  server_->Drain(kTimeout);
  EXPECT_EQ(watch->Next(), HealthCheckResponse::SERVICE_UNKNOWN);
  EXPECT_EQ(watch->Next(), -1);
  EXPECT_THAT(watch->End(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(HealthServiceTest, ADrainTellsWhoWatchesAndWaitsForNobody) {
  Start(kMaxWatches, kMaxWatchesPerAddress);
  const auto watches = OpenAll(3);
  const absl::Time before = absl::Now();
  server_->Drain(kTimeout);
  EXPECT_LT(absl::Now() - before, kTimeout / 2);
  for (const auto& watch : watches) {
    EXPECT_EQ(watch->Next(), HealthCheckResponse::NOT_SERVING);
    EXPECT_EQ(watch->Next(), -1);
    EXPECT_THAT(watch->End(),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("leaving")));
  }
}

TEST_F(HealthServiceTest, AnAddressHasSomeWatchesAndNoMore) {
  Start(kMaxWatches, 4);
  auto watches = OpenAll(4);
  const auto refused = Open();
  EXPECT_EQ(refused->Next(), -1);
  EXPECT_THAT(refused->End(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("127.0.0.1 watches"),
                             HasSubstr("4 times"), HasSubstr("Health.Check"))));
  HealthCheckResponse response;
  ORDO_EXPECT_OK(Check({}, &response));
  // One that has ended makes room, soon.
  watches[0]->Cancel();
  const absl::Time deadline = absl::Now() + kTimeout;
  int told = -1;
  while (told == -1 && absl::Now() < deadline) told = Open()->Next();
  EXPECT_EQ(told, HealthCheckResponse::SERVING);
}

TEST_F(HealthServiceTest, AllAddressesTogetherHaveSomeWatchesAndNoMore) {
  Start(2, kMaxWatchesPerAddress);
  const auto watches = OpenAll(2);
  const auto refused = Open();
  EXPECT_EQ(refused->Next(), -1);
  EXPECT_THAT(refused->End(), StatusIs(absl::StatusCode::kResourceExhausted,
                                       HasSubstr("watched 2 times")));
}

// Its stream would keep it.
TEST_F(HealthServiceTest, ARequestLargerThanANameIsRefused) {
  Start(kMaxWatches, kMaxWatchesPerAddress);
  const HealthCheckRequest request = Named(std::string(2000, 'x'));
  HealthCheckResponse response;
  EXPECT_THAT(
      Check(request, &response),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1024 bytes")));
  const auto watch = Open(request);
  EXPECT_EQ(watch->Next(), -1);
  EXPECT_THAT(watch->End(), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::base

#include "services/files/stream_reactor.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/rpc/client.h"
#include "base/rpc/server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"

namespace ordo::services::files {
namespace {

using ordo::jobs::v1::JobsService;
using ordo::jobs::v1::ReadLogsRequest;
using ordo::jobs::v1::ReadLogsResponse;
using Reactor = StreamReactor<ReadLogsResponse>;

// A service with one stream, whose source the test gives; null: it is refused.
class OneStream : public JobsService::CallbackService {
 public:
  OneStream(WorkQueue& queue, Reactor::Source source)
      : queue_(queue), source_(std::move(source)) {}

  grpc::ServerWriteReactor<ReadLogsResponse>* ReadLogs(
      grpc::CallbackServerContext*, const ReadLogsRequest*) override {
    if (source_ == nullptr) {
      return new Reactor(queue_, absl::ResourceExhaustedError("too many"));
    }
    return new Reactor(queue_, source_);
  }

 private:
  WorkQueue& queue_;
  Reactor::Source source_;
};

// The service behind a server, and a call of it.
class Call {
 public:
  explicit Call(Reactor::Source source)
      : service_(queue_, std::move(source)),
        server_(base::RpcServer::Start({}, {&service_}).value()),
        stub_(JobsService::NewStub(base::Connect(server_->address()))) {
    base::CallOptions options;
    options.timeout = absl::Seconds(30);
    base::PrepareCall(options, &context_);
    reader_ = stub_->ReadLogs(&context_, {});
  }

  bool Read(ReadLogsResponse* response) { return reader_->Read(response); }
  grpc::Status Finish() { return reader_->Finish(); }
  void Cancel() { context_.TryCancel(); }
  WorkQueue& queue() { return queue_; }

 private:
  // Outlives the server.
  WorkQueue queue_{1};
  OneStream service_;
  std::unique_ptr<base::RpcServer> server_;
  std::unique_ptr<JobsService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<ReadLogsResponse>> reader_;
};

TEST(StreamReactorTest, SendsWhatTheSourceMakesAndEndsWithIt) {
  auto count = std::make_shared<int>(0);
  Call call([count](ReadLogsResponse* response) -> absl::StatusOr<StreamStep> {
    // The message comes in cleared.
    EXPECT_EQ(response->offset(), 0);
    if (*count == 3) return StreamStep::kEnd;
    response->set_offset(++*count);
    return StreamStep::kSend;
  });
  ReadLogsResponse response;
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(call.Read(&response));
    EXPECT_EQ(response.offset(), i);
  }
  EXPECT_FALSE(call.Read(&response));
  EXPECT_TRUE(call.Finish().ok());
}

TEST(StreamReactorTest, ErrorOfTheSourceEndsTheStream) {
  Call call([](ReadLogsResponse*) -> absl::StatusOr<StreamStep> {
    return absl::DataLossError("torn");
  });
  ReadLogsResponse response;
  EXPECT_FALSE(call.Read(&response));
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(status.error_message(), "torn");
}

TEST(StreamReactorTest, AStreamThatIsRefusedWaitsForNoOtherWork) {
  // Outlives the queue, which may come to it late.
  std::promise<void> refused;
  Call call(nullptr);
  call.queue().Run([&refused] { refused.get_future().wait(); });
  ReadLogsResponse response;
  EXPECT_FALSE(call.Read(&response));
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "too many");
  refused.set_value();
}

TEST(StreamReactorTest, SourceWithNothingIsAskedAgain) {
  auto count = std::make_shared<int>(0);
  Call call([count](ReadLogsResponse*) -> absl::StatusOr<StreamStep> {
    return ++*count < 3 ? StreamStep::kWait : StreamStep::kEnd;
  });
  ReadLogsResponse response;
  EXPECT_FALSE(call.Read(&response));
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(*count, 3);
}

TEST(StreamReactorTest, ClientThatDoesNotReadStopsTheSource) {
  constexpr int kNumParts = 2000;
  constexpr size_t kPartBytes = 64 << 10;
  auto made = std::make_shared<std::atomic<int>>(0);
  Call call([made](ReadLogsResponse* response) -> absl::StatusOr<StreamStep> {
    if (*made == kNumParts) return StreamStep::kEnd;
    ++*made;
    response->set_data(std::string(kPartBytes, 'x'));
    return StreamStep::kSend;
  });
  ReadLogsResponse response;
  ASSERT_TRUE(call.Read(&response));
  // The source is asked while there is room on the way; then it stands still,
  // which shows as the work queue having run something else twice in between.
  int before = -1;
  while (before != *made) {
    before = *made;
    std::promise<void> idle;
    call.queue().RunAfter(std::chrono::milliseconds(200),
                          [&idle] { idle.set_value(); });
    idle.get_future().wait();
  }
  EXPECT_LT(before, kNumParts / 2);
  int read = 1;
  while (call.Read(&response)) ++read;
  EXPECT_EQ(read, kNumParts);
  EXPECT_TRUE(call.Finish().ok());
}

TEST(StreamReactorTest, ClientThatGoesAwayEndsTheStream) {
  auto asked = std::make_shared<std::promise<void>>();
  auto first = std::make_shared<bool>(true);
  // Each stream keeps its source, so the count shows when it is gone.
  std::weak_ptr<bool> alive = first;
  Call call([asked, first](ReadLogsResponse*) -> absl::StatusOr<StreamStep> {
    if (*first) asked->set_value();
    *first = false;
    return StreamStep::kWait;
  });
  first.reset();
  asked->get_future().wait();
  // The service's and the stream's.
  EXPECT_EQ(alive.use_count(), 2);
  call.Cancel();
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::CANCELLED);
  while (alive.use_count() != 1) {
    std::promise<void> polled;
    call.queue().RunAfter(kPollPeriod, [&polled] { polled.set_value(); });
    polled.get_future().wait();
  }
}

TEST(StreamReactorTest, EndStreamsEndsAStreamThatWaits) {
  Call call([](ReadLogsResponse*) -> absl::StatusOr<StreamStep> {
    return StreamStep::kWait;
  });
  call.queue().EndStreams();
  ReadLogsResponse response;
  EXPECT_FALSE(call.Read(&response));
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ordo::services::files

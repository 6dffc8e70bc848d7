#include "services/files/slow_reader.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/rpc/call.h"
#include "base/rpc/client.h"
#include "base/rpc/server.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "services/files/stream_reactor.h"
#include "services/files/work_queue.h"

namespace ordo::services::files {
namespace {

using ordo::jobs::v1::JobsService;
using ordo::jobs::v1::ReadLogsRequest;
using ordo::jobs::v1::ReadLogsResponse;

constexpr std::chrono::milliseconds kLimit(200);
constexpr std::chrono::seconds kPatience(20);

// Sends as much as is taken, or a message for each time that it is asked.
class Talker : public JobsService::CallbackService {
 public:
  explicit Talker(WorkQueue& queue) : queue_(queue) {}

  grpc::ServerWriteReactor<ReadLogsResponse>* ReadLogs(
      grpc::CallbackServerContext* context,
      const ReadLogsRequest* request) override {
    const std::shared_ptr<const void> until_the_end(
        this, [this](const void*) { ended_.set_value(); });
    const bool rarely = request->follow();
    if (request->rank() == 1) {
      base::Call::Of(*context).may_go_on = [] { return false; };
    }
    return new StreamReactor<ReadLogsResponse>(
        queue_,
        [this, rarely](ReadLogsResponse* response) {
          if (rarely && asked_++ % 4 != 0) return StreamStep::kWait;
          if (rarely && asked_ > 40) return StreamStep::kEnd;
          response->set_data(std::string(rarely ? 1 : 1 << 20, 'x'));
          return StreamStep::kSend;
        },
        until_the_end, context);
  }

  bool HasEnded() {
    return ended_.get_future().wait_for(kPatience) == std::future_status::ready;
  }

 private:
  WorkQueue& queue_;
  int asked_ = 0;
  std::promise<void> ended_;
};

class SlowReaderTest : public ::testing::Test {
 protected:
  std::unique_ptr<grpc::ClientReader<ReadLogsResponse>> Read(
      bool rarely, bool may_go_on = true) {
    base::CallOptions options;
    options.timeout = absl::Seconds(60);
    base::PrepareCall(options, &context_);
    ReadLogsRequest request;
    request.set_follow(rarely);
    request.set_rank(may_go_on ? 0 : 1);
    return stub_->ReadLogs(&context_, request);
  }

  // Outlives the server.
  WorkQueue queue_{2, WorkQueue::kMaxCalls, kLimit};
  Talker talker_{queue_};
  const std::unique_ptr<base::RpcServer> server_ =
      base::RpcServer::Start({}, {&talker_}).value();
  const std::unique_ptr<JobsService::Stub> stub_ =
      JobsService::NewStub(base::Connect(server_->address()));
  grpc::ClientContext context_;
};

TEST_F(SlowReaderTest, WhoReadsNothingIsCutOff) {
  const auto reader = Read(/*rarely=*/false);
  EXPECT_TRUE(talker_.HasEnded());
  ReadLogsResponse response;
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(SlowReaderTest, WhoReadsAllOfALittleIsNot) {
  const auto reader = Read(/*rarely=*/true);
  ReadLogsResponse response;
  int num_messages = 0;
  while (reader->Read(&response)) ++num_messages;
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(num_messages, 10);
}

TEST_F(SlowReaderTest, WhoseTokenIsOverIsCutOff) {
  const auto reader = Read(/*rarely=*/true, /*may_go_on=*/false);
  ReadLogsResponse response;
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace ordo::services::files

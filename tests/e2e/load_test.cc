// Many queued jobs, many clients that watch them and follow logs, some of which
// read nothing, and many large requests at once: everybody else is served,
// memory stays bounded, and it comes to an end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <signal.h>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/mutex.h"
#include "base/process/use.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/unknown_field_set.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "gtest/gtest.h"
#include "tests/bench/jobs_client.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using base::testing::StatusIs;
using jobs::v1::Job;
using jobs::v1::JobsService;
using ::testing::AnyOf;

constexpr int kQueuedJobs = 10'000;
constexpr int kBatch = 1000;
constexpr int kWatchers = 1000;
constexpr int kFollowers = 1000;
// Every so many-th reads one message and then nothing of what it is sent.
constexpr int kSlow = 5;
constexpr int kConnections = 20;
// Jobs whose end all their watchers are told.
constexpr int kCancelled = 200;
constexpr absl::Duration kWait = absl::Minutes(2);
// Of a scheduler: for a stream (gRPC's own buffers, a message, its reactor),
// and for a job and all that is known of it.
constexpr int64_t kBytesOfAStream = 192 << 10;
constexpr int64_t kBytesOfAJob = 16 << 10;
// Much more than a stream may cost, and sent a thousand times.
constexpr int64_t kLogMiB = 4;
// Requests of the largest size, each on a connection of its own; and by how
// much a scheduler may grow that is sent all of them at once: what gRPC may
// hold of them, and three times that for what it takes in before it has made
// room, what is parsed at the time, and what the allocator keeps for a while.
constexpr int kLargeCalls = 128;
constexpr int64_t kMaxGrowth = 4 * base::kMaxTransportBytes;
static_assert(2 * kMaxGrowth <= kLargeCalls * int64_t{base::kMaxMessageBytes});

// A stream that is read to its end, or once: then what was sent lies in buffers
// until the stream is cancelled. Call Start once; it ends by itself.
template <typename Request, typename Response>
class Stream : public grpc::ClientReadReactor<Response> {
 public:
  Stream(Request request, bool slow)
      : request_(std::move(request)), slow_(slow) {
    base::CallOptions call;
    call.timeout = absl::InfiniteDuration();
    call.user = "ada";
    base::PrepareCall(call, &context_);
  }

  // `start` begins the call, as one of the stub's.
  template <typename Call>
  void Start(Call start) {
    start(&context_, &request_, this);
    this->StartRead(&response_);
    this->StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    ++num_messages_;
    if (!slow_) this->StartRead(&response_);
  }
  void OnDone(const grpc::Status& status) override {
    base::MutexLock lock(mutex_);
    status_ = status;
    done_ = true;
    changed_.NotifyAll();
  }

  void Cancel() { context_.TryCancel(); }
  bool slow() const { return slow_; }
  int64_t num_messages() const { return num_messages_; }
  // DEADLINE_EXCEEDED if it goes on.
  absl::Status Wait() {
    base::MutexLock lock(mutex_);
    const auto deadline =
        std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(kWait);
    while (!done_) {
      if (std::chrono::steady_clock::now() > deadline) {
        return absl::DeadlineExceededError("the stream goes on");
      }
      changed_.WaitUntil(mutex_, deadline);
    }
    return base::FromGrpcStatus(status_);
  }

 private:
  const Request request_;
  const bool slow_;
  grpc::ClientContext context_;
  Response response_;
  std::atomic<int64_t> num_messages_{0};
  base::Mutex mutex_;
  base::CondVar changed_;
  bool done_ ORDO_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ORDO_GUARDED_BY(mutex_);
};

using Watch = Stream<jobs::v1::WatchJobRequest, jobs::v1::WatchJobResponse>;
using Follower = Stream<jobs::v1::ReadLogsRequest, jobs::v1::ReadLogsResponse>;

// A call with a request that was written before, on a connection of its own. It
// is done within half of kDeadline, and outlives that. Call Start once.
class LargeCall {
 public:
  explicit LargeCall(const std::string& address)
      : stub_(base::ConnectAlone(address)) {
    base::CallOptions call;
    call.timeout = kDeadline / 2;
    call.user = "ada";
    base::PrepareCall(call, &context_);
  }

  // Does not copy the request, which outlives the call.
  void Start(const grpc::ByteBuffer& request) {
    stub_.UnaryCall(&context_, "/ordo.jobs.v1.JobsService/GetJob", {}, &request,
                    &response_, [this](const grpc::Status& status) {
                      status_ = base::FromGrpcStatus(status);
                      done_ = true;
                    });
  }

  bool done() const { return done_; }
  // Once it is done.
  const absl::Status& status() const { return status_; }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer response_;
  absl::Status status_;
  std::atomic<bool> done_{false};
};

// Asks for a job that is not there, with as much as a message may have that
// nobody knows.
grpc::ByteBuffer LargeRequest() {
  constexpr int kUnknownField = 1000;
  constexpr int kBesideIt = 64;
  jobs::v1::GetJobRequest request;
  request.set_name("jobs/nobody");
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(
      kUnknownField, std::string(base::kMaxMessageBytes - kBesideIt, 'x'));
  const grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

class LoadTest : public Scenario {
 protected:
  void StartAll() {
    // It writes a long log, and goes on until it is asked to stop.
    harness::DeploymentOptions options =
        Options(absl::StrCat("*:hold_at=1,log_mb=", kLogMiB));
    options.scheduler.set_streams_per_user(kWatchers + kFollowers);
    Start(options);
    if (HasFatalFailure()) return;
    for (int i = 0; i < kConnections; ++i) {
      stubs_.push_back(
          JobsService::NewStub(base::ConnectAlone(deployment_->api_address())));
    }
  }

  JobsService::Stub& StubOf(int number) {
    return *stubs_[number % kConnections];
  }

  int64_t SchedulerBytes() const {
    const auto use = base::UseOf(deployment_->scheduler_process().pid);
    ORDO_EXPECT_OK(use);
    return use.ok() ? use->resident_bytes : 0;
  }

  static std::string NameOf(int number) {
    return absl::StrCat("queued-", number / kBatch, "-", number % kBatch);
  }

  void WatchAll() {
    for (int i = 0; i < kWatchers; ++i) {
      jobs::v1::WatchJobRequest request;
      request.set_name("jobs/" + NameOf(i % kCancelled));
      watches_.push_back(std::make_unique<Watch>(request, i % kSlow == 0));
      watches_.back()->Start([&](auto* context, auto* message, auto* reactor) {
        StubOf(i).async()->WatchJob(context, message, reactor);
      });
    }
  }

  void FollowAll() {
    for (int i = 0; i < kFollowers; ++i) {
      jobs::v1::ReadLogsRequest request;
      request.set_name("jobs/talker");
      request.set_follow(true);
      followers_.push_back(std::make_unique<Follower>(request, i % kSlow == 0));
      followers_.back()->Start(
          [&](auto* context, auto* message, auto* reactor) {
            StubOf(i).async()->ReadLogs(context, message, reactor);
          });
    }
  }

  // Everyone has been sent something.
  template <typename T>
  static bool AllHaveHeard(const std::vector<std::unique_ptr<T>>& streams) {
    for (const auto& stream : streams) {
      if (stream->num_messages() == 0) return false;
    }
    return true;
  }

  // One stream more than a user may have open.
  void ExpectNoMore() {
    jobs::v1::WatchJobRequest request;
    request.set_name("jobs/talker");
    Watch watch(request, /*slow=*/false);
    watch.Start([&](auto* context, auto* message, auto* reactor) {
      StubOf(0).async()->WatchJob(context, message, reactor);
    });
    EXPECT_THAT(watch.Wait(), StatusIs(absl::StatusCode::kResourceExhausted));
  }

  // Those who read end by themselves; the others are cancelled.
  template <typename T>
  static void ExpectEnds(const std::vector<std::unique_ptr<T>>& streams) {
    for (const auto& stream : streams) {
      if (!stream->slow()) {
        ORDO_EXPECT_OK(stream->Wait());
        continue;
      }
      stream->Cancel();
      // The end may have been there before, behind what was never read.
      const absl::Status status = stream->Wait();
      EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
    }
  }

  std::vector<std::unique_ptr<JobsService::Stub>> stubs_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<std::unique_ptr<Follower>> followers_;
};

TEST_F(LoadTest, SlowClientsCostOthersNothing) {
  StartAll();
  if (HasFatalFailure()) return;
  Submit(Spec("talker"));
  WaitForState("talker", Job::RUNNING);
  const int64_t before_jobs = SchedulerBytes();
  ORDO_ASSERT_OK(bench::CreateQueued(deployment_->jobs(),
                                     {"queued", kQueuedJobs / kBatch, kBatch}));
  const int64_t before_streams = SchedulerBytes();
  EXPECT_LT(before_streams - before_jobs, kQueuedJobs * kBytesOfAJob);

  WatchAll();
  FollowAll();
  EXPECT_TRUE(WaitFor([this] { return AllHaveHeard(watches_); }));
  EXPECT_TRUE(WaitFor([this] { return AllHaveHeard(followers_); }));
  ExpectNoMore();
  for (int i = 0; i < kCancelled; ++i) {
    ORDO_ASSERT_OK(Cancel(NameOf(i)));
  }
  // Another job gets through as well, beside all of that.
  ORDO_ASSERT_OK(deployment_->Create(Spec("late")));
  ORDO_ASSERT_OK(Cancel("talker"));
  const int64_t most = SchedulerBytes();
  EXPECT_LT(most - before_streams, (kWatchers + kFollowers) * kBytesOfAStream);
  RecordProperty("bytes_of_a_stream", absl::StrCat((most - before_streams) /
                                                   (kWatchers + kFollowers)));

  ExpectEnds(watches_);
  ExpectEnds(followers_);
  WaitForState("talker", Job::CANCELLED);
  WaitForState("late", Job::RUNNING);
}

TEST_F(LoadTest, ManyLargeRequestsAtOnceAreNotAllTakenIn) {
  Start("*:hold_at=1");
  if (HasFatalFailure()) return;
  const int64_t before = SchedulerBytes();
  const grpc::ByteBuffer request = LargeRequest();
  std::vector<std::unique_ptr<LargeCall>> calls;
  for (int i = 0; i < kLargeCalls; ++i) {
    calls.push_back(std::make_unique<LargeCall>(deployment_->api_address()));
  }
  for (const auto& call : calls) call->Start(request);
  int64_t most = before;
  EXPECT_TRUE(WaitFor([&] {
    most = std::max(most, SchedulerBytes());
    return std::all_of(calls.begin(), calls.end(),
                       [](const auto& call) { return call->done(); });
  }));
  EXPECT_LT(most - before, kMaxGrowth);
  RecordProperty("bytes_of_large_requests", absl::StrCat(most - before));
  for (const auto& call : calls) {
    EXPECT_THAT(call->status(),
                AnyOf(StatusIs(absl::StatusCode::kNotFound),
                      StatusIs(absl::StatusCode::kResourceExhausted),
                      StatusIs(absl::StatusCode::kUnavailable)));
  }
  // It is the same scheduler, and serves on.
  EXPECT_TRUE(WaitFor([this] { return List().ok(); }));
  Submit(Spec("late"));
  WaitForState("late", Job::RUNNING);
}

}  // namespace
}  // namespace ordo::tests::e2e

#include "worker/agent/announcer.h"

#include "base/mutex.h"
#include "base/rpc/client.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::AnnounceRequest;
using ::ordo::agent::v1::AnnounceResponse;
using ::ordo::agent::v1::SchedulerAgentService;
using ::ordo::base::testing::StatusIs;

// Answers each announcement with a period of as many seconds as its worker's
// name has letters.
class Scheduler : public SchedulerAgentService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Announce(grpc::CallbackServerContext* context,
                                     const AnnounceRequest* request,
                                     AnnounceResponse* response) override {
    response->mutable_period()->set_seconds(request->worker().size());
    return base::Finish(context, absl::OkStatus());
  }
};

class AnnouncerTest : public ::testing::Test {
 protected:
  void Connect(const std::string& address) {
    announcer_ = std::make_unique<Announcer>(base::Connect(address), [this] {
      base::MutexLock lock(mutex_);
      woken_ = true;
      changed_.NotifyAll();
    });
  }
  absl::StatusOr<AnnounceResponse> WaitForAnswer() {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    {
      base::MutexLock lock(mutex_);
      while (!woken_) {
        if (!changed_.WaitUntil(mutex_, deadline)) {
          return absl::DeadlineExceededError("not woken");
        }
      }
      woken_ = false;
    }
    auto answer = announcer_->Take();
    if (!answer) return absl::InternalError("woken without an answer");
    return *answer;
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  bool woken_ = false;
  std::unique_ptr<Announcer> announcer_;
};

TEST_F(AnnouncerTest, AnswerWakesAndIsTakenOnce) {
  Scheduler scheduler;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto server,
                            base::RpcServer::Start({}, {&scheduler}));
  Connect(server->address());
  AnnounceRequest request;
  request.set_worker("abc");
  ASSERT_TRUE(announcer_->Send(request, absl::Seconds(10)));
  EXPECT_FALSE(announcer_->Send(request, absl::Seconds(10)));
  ORDO_ASSERT_OK_AND_ASSIGN(const AnnounceResponse response, WaitForAnswer());
  EXPECT_EQ(response.period().seconds(), 3);
  EXPECT_FALSE(announcer_->Take().has_value());
  EXPECT_TRUE(announcer_->Send(request, absl::Seconds(10)));
}

TEST_F(AnnouncerTest, SchedulerThatIsAwayEndsInADeadline) {
  Connect("127.0.0.1:1");
  ASSERT_TRUE(announcer_->Send({}, absl::Milliseconds(50)));
  EXPECT_THAT(WaitForAnswer(), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(AnnouncerTest, LeavesWithACallInFlight) {
  Connect("127.0.0.1:1");
  ASSERT_TRUE(announcer_->Send({}, absl::Seconds(100)));
  announcer_.reset();
}

}  // namespace
}  // namespace ordo::worker::agent

#include "worker/agent/reporter.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/clock/clock.h"
#include "base/metrics/metrics.h"
#include "base/mutex.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::AnnounceRequest;
using ::ordo::agent::v1::AnnounceResponse;
using ::ordo::agent::v1::SchedulerAgentService;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kPeriod = absl::Seconds(3600);

// Remembers the newest announcement.
class Scheduler : public SchedulerAgentService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Announce(grpc::CallbackServerContext* context,
                                     const AnnounceRequest* request,
                                     AnnounceResponse* response) override {
    response->mutable_period()->set_seconds(3600);
    base::MutexLock lock(mutex_);
    response->set_protocol(protocol_);
    newest_ = *request;
    return base::Finish(context, refusal_);
  }
  AnnounceRequest newest() {
    base::MutexLock lock(mutex_);
    return newest_;
  }
  void Refuse(const absl::Status& refusal) {
    base::MutexLock lock(mutex_);
    refusal_ = refusal;
  }
  // As one of another release answers.
  void Speak(int32_t protocol) {
    base::MutexLock lock(mutex_);
    protocol_ = protocol;
  }

 private:
  base::Mutex mutex_;
  int32_t protocol_ ORDO_GUARDED_BY(mutex_) = base::kWorkerProtocol;
  AnnounceRequest newest_ ORDO_GUARDED_BY(mutex_);
  absl::Status refusal_ ORDO_GUARDED_BY(mutex_);
};

class ReporterTest : public ::testing::Test {
 protected:
  ReporterTest() : server_(*base::RpcServer::Start({}, {&scheduler_})) {
    AnnounceRequest identity;
    identity.set_worker("w");
    reporter_ = std::make_unique<Reporter>(identity, clock_, metrics_);
    reporter_->Begin("h:1", base::Connect(server_->address()), [this] {
      base::MutexLock lock(mutex_);
      woken_ = true;
      changed_.NotifyAll();
    });
  }
  // The wake function uses members that go before the reporter would.
  ~ReporterTest() override { reporter_->End(); }

  // Announces and takes the answer.
  void AnnounceOnce() {
    reporter_->Announce(core_);
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    {
      base::MutexLock lock(mutex_);
      while (!woken_) ASSERT_TRUE(changed_.WaitUntil(mutex_, deadline));
      woken_ = false;
    }
    reporter_->TakeAnswer();
  }
  void Adopt(const std::string& job) {
    ::ordo::agent::v1::DesiredAttempt task;
    task.set_job(job);
    task.set_attempt(1);
    core_.Adopt(task);
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  bool woken_ = false;
  base::RealClock clock_;
  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  Core core_{"w", "i", "/bin/trainer"};
  Scheduler scheduler_;
  std::unique_ptr<base::RpcServer> server_;
  std::unique_ptr<Reporter> reporter_;
};

TEST_F(ReporterTest, NewsIsDueAtOnceAndThenNotForAPeriod) {
  Adopt("a");
  EXPECT_LE(reporter_->TimeLeft(core_), absl::ZeroDuration());
  reporter_->Announce(core_);
  EXPECT_EQ(reporter_->TimeLeft(core_), absl::InfiniteDuration());
  AnnounceOnce();
  EXPECT_GT(reporter_->TimeLeft(core_), kPeriod / 2);
  const AnnounceRequest seen = scheduler_.newest();
  EXPECT_EQ(seen.worker(), "w");
  EXPECT_EQ(seen.address(), "h:1");
  EXPECT_EQ(seen.observed().attempts_size(), 1);
  Adopt("b");
  EXPECT_LE(reporter_->TimeLeft(core_), absl::ZeroDuration());
}

TEST_F(ReporterTest, WhatTheSchedulerHasAlreadyIsNoNews) {
  AnnounceOnce();
  Adopt("a");
  reporter_->Reported(core_.sequence());
  EXPECT_GT(reporter_->TimeLeft(core_), kPeriod / 2);
}

TEST_F(ReporterTest, DevicesThatHaveChangedAreDueUntilTheyAreKnown) {
  AnnounceOnce();
  reporter_->Reported(core_.sequence());
  ::ordo::workers::v1::Device device;
  device.set_name("cpu:0");
  reporter_->SetDevices({device});
  EXPECT_LE(reporter_->TimeLeft(core_), absl::ZeroDuration());
  AnnounceOnce();
  EXPECT_GT(reporter_->TimeLeft(core_), kPeriod / 2);
  EXPECT_EQ(scheduler_.newest().devices(0).name(), "cpu:0");
}

TEST_F(ReporterTest, RefreshedDevicesWaitForTheNextAnnouncement) {
  AnnounceOnce();
  reporter_->Reported(core_.sequence());
  ::ordo::workers::v1::Device device;
  device.set_name("cpu:0");
  reporter_->RefreshDevices({device});
  EXPECT_GT(reporter_->TimeLeft(core_), kPeriod / 2);
  Adopt("a");
  AnnounceOnce();
  EXPECT_EQ(scheduler_.newest().devices_size(), 1);
}

TEST_F(ReporterTest, DrainIsKnownOnlyWithTheAnswer) {
  AnnounceOnce();
  core_.Drain(absl::ZeroDuration());
  reporter_->Reported(core_.sequence());
  EXPECT_LE(reporter_->TimeLeft(core_), absl::ZeroDuration());
  EXPECT_FALSE(reporter_->drain_announced());
  AnnounceOnce();
  EXPECT_TRUE(reporter_->drain_announced());
  EXPECT_TRUE(scheduler_.newest().draining());
}

TEST_F(ReporterTest, TheTimeUntilAnAnswerIsMeasured) {
  AnnounceOnce();
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_worker_announce_latency_seconds_count 1\n"));
}

TEST_F(ReporterTest, RefusalIsCountedAndTriedAgain) {
  Adopt("a");
  scheduler_.Refuse(absl::AbortedError("no"));
  AnnounceOnce();
  EXPECT_LT(reporter_->TimeLeft(core_), absl::Seconds(10));
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_worker_announce_failures_total 1"));
}

TEST_F(ReporterTest, ASchedulerWithoutMemoryToReadDoesNotRefuseTheWorker) {
  Adopt("a");
  scheduler_.Refuse(absl::ResourceExhaustedError("memory"));
  ::testing::internal::CaptureStderr();
  AnnounceOnce();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("scheduler does not answer"),
                    Not(HasSubstr("refuses this worker"))));
  EXPECT_LT(reporter_->TimeLeft(core_), absl::Seconds(10));
}

TEST_F(ReporterTest, ASchedulerThatLeavesDoesNotRefuseTheWorker) {
  Adopt("a");
  scheduler_.Refuse(absl::CancelledError("CANCELLED"));
  ::testing::internal::CaptureStderr();
  AnnounceOnce();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("scheduler does not answer"),
                    Not(HasSubstr("refuses this worker"))));
}

TEST_F(ReporterTest, SchedulersOfTheReleasesNextToThisOneAreHeeded) {
  for (const int32_t protocol :
       {base::kWorkerProtocol - 1, base::kWorkerProtocol,
        base::kWorkerProtocol + 1}) {
    scheduler_.Speak(protocol);
    Adopt("a" + std::to_string(protocol));
    AnnounceOnce();
    EXPECT_GT(reporter_->TimeLeft(core_), kPeriod / 2) << protocol;
  }
  EXPECT_EQ(scheduler_.newest().protocol(), base::kWorkerProtocol);
}

TEST_F(ReporterTest, ASchedulerThatIsTooFarIsAskedSeldom) {
  scheduler_.Speak(base::kWorkerProtocol + 2);
  Adopt("a");
  AnnounceOnce();
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_worker_announce_failures_total 1"));
  EXPECT_GT(reporter_->TimeLeft(core_), absl::Seconds(20));
}

TEST_F(ReporterTest, ARefusalForWhatTheWorkerIsIsNotHurriedAgainst) {
  Adopt("a");
  scheduler_.Refuse(absl::FailedPreconditionError("protocol"));
  AnnounceOnce();
  EXPECT_GT(reporter_->TimeLeft(core_), absl::Seconds(20));
}

}  // namespace
}  // namespace ordo::worker::agent

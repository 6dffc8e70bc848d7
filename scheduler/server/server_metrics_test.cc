#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/server/server.h"
#include "scheduler/server/testing/fake_worker.h"
#include "scheduler/server/testing/server_fixture.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using core::testing::AttemptBuilder;
using core::testing::JobBuilder;
using jobs::v1::Job;
using ::testing::ContainsRegex;
using testing::FakeWorker;
using ::testing::HasSubstr;
using testing::Later;
using ::testing::Not;

class ServerMetricsTest : public testing::ServerTest {
 protected:
  std::string Page() {
    server_->ShowState();
    return registry_.Text();
  }
};

TEST_F(ServerMetricsTest, AQuietServerShowsWhatThereIs) {
  const std::string page = Page();
  for (const char* line : {
           "queue_depth_jobs{queue=\"default\"} 0",
           "queue_active_jobs{queue=\"default\"} 0",
           "queue_oldest_wait_seconds{queue=\"default\"} 0",
           "queue_weight_ratio{queue=\"default\"} 1",
           "state_jobs{state=\"QUEUED\"} 0",
           "reason_jobs{reason=\"WAITING_FOR_DEVICE\"} 0",
           "commit_waiting_jobs 0",
       }) {
    EXPECT_THAT(page, HasSubstr(std::string("ordo_scheduler_") + line + "\n"));
  }
  EXPECT_THAT(page, ContainsRegex("ordo_scheduler_store_size_bytes[{]file="
                                  "\"database\"[}] [1-9]"));
  EXPECT_THAT(page, ContainsRegex("ordo_scheduler_store_free_bytes [1-9]"));
}

TEST_F(ServerMetricsTest, AJobThatRunsIsShownOnItsDeviceAndInItsQueue) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  ASSERT_THAT(Create({JobBuilder("b")}), IsOk());
  auto running =
      agent::v1::ObservedAttempt(AttemptBuilder("a", 1).Running().Step(5));
  running.mutable_step()->set_loss(2.5);
  running.mutable_step()->set_tokens_per_second(100);
  running.mutable_step()->set_step_seconds(0.25);
  worker.Set(running);
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::RUNNING);
  const std::string page = Page();
  const std::string device = "{device=\"cpu:0\",worker=\"w\"} ";
  for (const std::string& line : {
           "training_loss_nats" + device + "2.5\n",
           "training_rate_tokens_per_second" + device + "100\n",
           "training_step_seconds" + device + "0.25\n",
           std::string("queue_active_jobs{queue=\"default\"} 1\n"),
           std::string("queue_depth_jobs{queue=\"default\"} 1\n"),
           std::string("state_devices{kind=\"cpu\",state=\"held\"} 1\n"),
           std::string("reason_jobs{reason=\"WAITING_FOR_DEVICE\"} 1\n"),
           std::string("queue_wait_seconds_count{queue=\"default\"} 1\n"),
       }) {
    EXPECT_THAT(page, HasSubstr("ordo_scheduler_" + line));
  }
  EXPECT_THAT(page, ContainsRegex("queue_held_devices[{]kind=\"cpu\",queue="
                                  "\"default\"[}] 1\n"));
  EXPECT_THAT(page, ContainsRegex("queue_usage_device_seconds[{]kind=\"cpu\","
                                  "queue=\"default\"[}] [0-9]"));
  EXPECT_THAT(page, ContainsRegex("queue_oldest_wait_seconds[{]queue="
                                  "\"default\"[}] [0-9.e-]*[1-9]"));
  worker.Set(AttemptBuilder("a", 1).Running().Step(9).Exited(0));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::SUCCEEDED);
  EXPECT_THAT(Page(), HasSubstr("ordo_scheduler_ended_jobs_total{state="
                                "\"SUCCEEDED\"} 1\n"));
}

// tests/bench measures it with the programs themselves; here it is bounded far
// above what it takes.
TEST_F(ServerMetricsTest, APageOfManyJobsAndWorkersTakesLittle) {
  constexpr int kJobs = 10'000;
  constexpr int kWorkers = 200;
  constexpr int kDevices = 8;
  constexpr absl::Duration kLimit = absl::Seconds(2);
  for (int i = 0; i < kWorkers; ++i) {
    agent::v1::AnnounceRequest request =
        core::testing::WorkerBuilder(absl::StrCat("w", i));
    request.clear_devices();
    for (int k = 0; k < kDevices; ++k) {
      workers::v1::Device& device = *request.add_devices();
      device.set_name(absl::StrCat("cpu:", k));
      device.set_kind("cpu");
    }
    ASSERT_THAT(server_->Announce(request), IsOk());
  }
  std::vector<NewJob> jobs;
  for (int i = 0; i < kJobs; ++i) {
    jobs.push_back(JobBuilder(absl::StrCat("a", i)));
  }
  ASSERT_THAT(Create(jobs), IsOk());
  const absl::Duration start = clock_.Monotonic();
  const std::string page = Page();
  EXPECT_LT(clock_.Monotonic() - start, kLimit);
  EXPECT_THAT(page, HasSubstr("{device=\"cpu:7\",worker=\"w199\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("reason=\"WAITING_FOR_DEVICE\"} 10000\n"));
}

TEST_F(ServerMetricsTest, AWaitIsSeenBehindAnotherQueuesManyJobs) {
  constexpr int kJobs = 5000;
  queues::v1::Queue night;
  night.set_name("queues/night");
  Later<absl::StatusOr<queues::v1::Queue>> made;
  server_->CreateQueue(night, Author(), made.callback());
  ASSERT_THAT(made.Get(), IsOk());
  std::vector<NewJob> jobs;
  for (int i = 0; i < kJobs; ++i) {
    jobs.push_back(JobBuilder(absl::StrCat("a", i)));
  }
  ASSERT_THAT(Create(jobs), IsOk());
  NewJob last = JobBuilder("last");
  last.OwnSpec().set_queue("night");
  ASSERT_THAT(Create({last}), IsOk());
  for (const char* queue : {"default", "night"}) {
    EXPECT_THAT(Page(), ContainsRegex(
                            absl::StrCat("queue_oldest_wait_seconds[{]queue=\"",
                                         queue, "\"[}] [0-9.e-]*[1-9]")));
  }
}

TEST_F(ServerMetricsTest, WhatADeletedQueueShowedIsGone) {
  queues::v1::Queue night;
  night.set_name("queues/night");
  Later<absl::StatusOr<queues::v1::Queue>> made;
  server_->CreateQueue(night, Author(), made.callback());
  ASSERT_THAT(made.Get(), IsOk());
  metrics_.queue_wait.With({"night"}).Observe(1);
  EXPECT_THAT(Page(), HasSubstr("queue=\"night\""));
  Later<absl::StatusOr<queues::v1::Queue>> deleted;
  server_->DeleteQueue("night", "", Author(), deleted.callback());
  ASSERT_THAT(deleted.Get(), IsOk());
  EXPECT_THAT(Page(), Not(HasSubstr("night")));
}

}  // namespace
}  // namespace ordo::scheduler::server

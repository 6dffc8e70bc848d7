#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/server/testing/fake_worker.h"
#include "scheduler/server/testing/server_fixture.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using core::testing::JobBuilder;
using jobs::v1::Job;
using queues::v1::Queue;
using testing::FakeWorker;
using testing::Later;

class ServerAdminTest : public testing::ServerTest {
 protected:
  absl::StatusOr<Queue> CreateQueue(const Queue& queue) {
    Later<absl::StatusOr<Queue>> later;
    server_->CreateQueue(queue, Author(), later.callback());
    return later.Get();
  }
  absl::StatusOr<Queue> UpdateQueue(const Queue& queue) {
    Later<absl::StatusOr<Queue>> later;
    server_->UpdateQueue(queue, Author(), later.callback());
    return later.Get();
  }
  absl::StatusOr<Queue> DeleteQueue(const std::string& queue) {
    Later<absl::StatusOr<Queue>> later;
    server_->DeleteQueue(queue, "", Author(), later.callback());
    return later.Get();
  }
  // It may hold so many devices of the kind cpu.
  static Queue Night(int limit) {
    Queue queue;
    queue.set_name("queues/night");
    queues::v1::Quota& quota = *queue.add_quotas();
    quota.set_device("cpu");
    quota.set_limit(limit);
    return queue;
  }
  static NewJob JobOfTheNight(const std::string& id) {
    NewJob job = JobBuilder(id);
    job.OwnSpec().set_queue("night");
    return job;
  }
};

TEST_F(ServerAdminTest, ACordonedWorkerStaysClosedThroughARestart) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  Later<absl::StatusOr<workers::v1::Worker>> later;
  server_->CordonWorker("w", Author(), later.callback());
  const auto cordoned = later.Get();
  ASSERT_THAT(cordoned, IsOk());
  EXPECT_TRUE(cordoned->cordoned());
  EXPECT_EQ(cordoned->state(), workers::v1::Worker::ONLINE);
  Close();
  Open();
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  EXPECT_EQ(server_->GetJob("a")->state(), Job::QUEUED);
  EXPECT_TRUE(server_->GetWorker("w")->cordoned());
  EXPECT_EQ(server_->Explain("a")->blockers(0).reason(), "NO_WORKER");
  Later<absl::StatusOr<workers::v1::Worker>> opened;
  server_->UncordonWorker("w", Author(), opened.callback());
  ASSERT_THAT(opened.Get(), IsOk());
  WaitFor("a", Job::STARTING);
}

TEST_F(ServerAdminTest, ACordonedWorkerThatDoesNotComeBackIsLostAndShown) {
  FakeWorker("w").AnnounceTo(*server_);
  Later<absl::StatusOr<workers::v1::Worker>> cordoned;
  server_->CordonWorker("w", Author(), cordoned.callback());
  ASSERT_THAT(cordoned.Get(), IsOk());
  Close();
  Open();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto worker, server_->GetWorker("w"));
  EXPECT_EQ(worker.state(), workers::v1::Worker::LOST);
  EXPECT_TRUE(worker.cordoned());
  EXPECT_EQ(worker.changes_size(), 1);
  Later<absl::StatusOr<workers::v1::Worker>> opened;
  server_->UncordonWorker("w", Author(), opened.callback());
  ASSERT_THAT(opened.Get(), IsOk());
  EXPECT_THAT(server_->GetWorker("w"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ServerAdminTest, TokensAreThereThroughARestart) {
  access::v1::Token token;
  token.set_name("tokens/ci");
  for (const char* sha256 : {"a", "b"}) {
    Later<absl::Status> put;
    server_->PutToken(sha256, token, put.callback());
    ASSERT_THAT(put.Get(), IsOk());
  }
  Later<absl::Status> forgotten;
  server_->PutToken("a", std::nullopt, forgotten.callback());
  ASSERT_THAT(forgotten.Get(), IsOk());
  Close();
  Open();
  const auto tokens = server_->ListTokens();
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens[0].sha256, "b");
  EXPECT_EQ(tokens[0].token.name(), "tokens/ci");
  Later<absl::Status> refused;
  server_->Drain();
  server_->PutToken("c", token, refused.callback());
  EXPECT_THAT(refused.Get(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ServerAdminTest, AQueueHoldsWhatItMayThroughARestart) {
  ASSERT_THAT(CreateQueue(Night(0)), IsOk());
  ASSERT_THAT(Create({JobOfTheNight("a")}), IsOk());
  Close();
  Open();
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  EXPECT_EQ(server_->Explain("a")->blockers(0).reason(), "QUEUE_LIMIT");
  ORDO_ASSERT_OK_AND_ASSIGN(const Queue queue, server_->GetQueue("night"));
  EXPECT_EQ(queue.queued_jobs(), 1);
  Queue raised = Night(1);
  raised.set_etag(queue.etag());
  ASSERT_THAT(UpdateQueue(raised), IsOk());
  WaitFor("a", Job::STARTING);
  ORDO_ASSERT_OK_AND_ASSIGN(const Queue busy, server_->GetQueue("night"));
  EXPECT_EQ(busy.queued_jobs(), 0);
  EXPECT_EQ(busy.active_jobs(), 1);
  EXPECT_EQ(busy.held_devices().at("cpu"), 1);
  EXPECT_EQ(busy.changes_size(), 2);
}

TEST_F(ServerAdminTest, ADeletedQueueIsGoneThroughARestart) {
  ASSERT_THAT(CreateQueue(Night(1)), IsOk());
  ASSERT_THAT(DeleteQueue("night"), IsOk());
  Close();
  Open();
  EXPECT_THAT(server_->GetQueue("night"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Create({JobOfTheNight("a")}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ServerAdminTest, ALeavingServerChangesNothing) {
  server_->Drain();
  EXPECT_THAT(CreateQueue(Night(1)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(server_->GetQueue("night"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::scheduler::server

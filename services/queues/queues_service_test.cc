#include "services/queues/queues_service.h"

#include <string>

#include "gtest/gtest.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"

namespace ordo::services::queues {
namespace {

using ordo::queues::v1::CreateQueueRequest;
using ordo::queues::v1::DeleteQueueRequest;
using ordo::queues::v1::GetQueueRequest;
using ordo::queues::v1::ListQueuesRequest;
using ordo::queues::v1::ListQueuesResponse;
using ordo::queues::v1::Queue;
using ordo::queues::v1::UpdateQueueRequest;
using testing::Context;
using testing::FieldOf;

class QueuesServiceTest : public ::testing::Test {
 protected:
  explicit QueuesServiceTest(const auth::Authenticator* authenticator = nullptr)
      : loopback_(authenticator),
        stub_(ordo::queues::v1::QueuesService::NewStub(loopback_.channel())) {}

  grpc::Status Create(const std::string& id, double weight, Queue* queue) {
    Context context;
    CreateQueueRequest request;
    request.set_queue_id(id);
    request.mutable_queue()->set_weight(weight);
    request.set_reason("exams");
    return stub_->CreateQueue(&context, request, queue);
  }

  grpc::Status Get(const std::string& name, Queue* queue) {
    Context context;
    GetQueueRequest request;
    request.set_name(name);
    return stub_->GetQueue(&context, request, queue);
  }

  grpc::Status Update(const UpdateQueueRequest& request, Queue* queue,
                      const std::string& user = "ada") {
    Context context(user);
    return stub_->UpdateQueue(&context, request, queue);
  }

  grpc::Status Delete(const std::string& name, const std::string& etag,
                      Queue* queue) {
    Context context;
    DeleteQueueRequest request;
    request.set_name(name);
    request.set_etag(etag);
    return stub_->DeleteQueue(&context, request, queue);
  }

  grpc::Status List(int page_size, const std::string& token,
                    ListQueuesResponse* response) {
    Context context;
    ListQueuesRequest request;
    request.set_page_size(page_size);
    request.set_page_token(token);
    return stub_->ListQueues(&context, request, response);
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::queues::v1::QueuesService::Stub> stub_;
};

TEST_F(QueuesServiceTest, CreatedQueueHasItsDefaultsAndItsAuthor) {
  Queue queue;
  ASSERT_TRUE(Create("night", 2, &queue).ok());
  EXPECT_EQ(queue.name(), "queues/night");
  EXPECT_EQ(queue.weight(), 2);
  EXPECT_EQ(queue.max_queued_jobs(), scheduler::kDefaultMaxQueuedJobs);
  ASSERT_EQ(queue.changes_size(), 1);
  EXPECT_EQ(queue.changes(0).user(), "ada");
  EXPECT_EQ(queue.changes(0).reason(), "exams");
  Queue found;
  ASSERT_TRUE(Get("queues/night", &found).ok());
  EXPECT_EQ(found.SerializeAsString(), queue.SerializeAsString());
}

TEST_F(QueuesServiceTest, BadQueueIsInvalidByItsField) {
  Queue queue;
  EXPECT_EQ(FieldOf(Create("Night", 2, &queue)), "queue_id");
  EXPECT_EQ(FieldOf(Create("night", 0, &queue)), "queue.weight");
  EXPECT_EQ(FieldOf(Get("night", &queue)), "name");
  EXPECT_EQ(FieldOf(Delete("night", "", &queue)), "name");
  UpdateQueueRequest update;
  update.mutable_queue()->set_name("night");
  EXPECT_EQ(FieldOf(Update(update, &queue)), "queue.name");
}

TEST_F(QueuesServiceTest, TakenNameAlreadyExists) {
  Queue queue;
  ASSERT_TRUE(Create("night", 2, &queue).ok());
  EXPECT_EQ(Create("night", 2, &queue).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(QueuesServiceTest, UnknownQueueIsNotFound) {
  Queue queue;
  UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/day");
  update.mutable_queue()->set_weight(2);
  EXPECT_EQ(Get("queues/day", &queue).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Update(update, &queue).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Delete("queues/day", "", &queue).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(QueuesServiceTest, UpdateChangesWhatItsMaskNames) {
  Queue queue;
  ASSERT_TRUE(Create("night", 2, &queue).ok());
  UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/night");
  update.mutable_queue()->set_weight(3);
  update.mutable_queue()->set_max_queued_jobs(4);
  update.mutable_update_mask()->add_paths("weight");
  update.set_reason("more");
  ASSERT_TRUE(Update(update, &queue, "bob").ok());
  EXPECT_EQ(queue.weight(), 3);
  EXPECT_EQ(queue.max_queued_jobs(), scheduler::kDefaultMaxQueuedJobs);
  EXPECT_EQ(queue.changes(1).user(), "bob");
  EXPECT_EQ(queue.changes(1).reason(), "more");
}

TEST_F(QueuesServiceTest, MaskOfAnUnsetFieldGivesItsDefault) {
  Queue queue;
  ASSERT_TRUE(Create("night", 2, &queue).ok());
  UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/night");
  update.mutable_update_mask()->add_paths("weight");
  ASSERT_TRUE(Update(update, &queue).ok());
  EXPECT_EQ(queue.weight(), scheduler::kDefaultQueueWeight);
}

TEST_F(QueuesServiceTest, UpdateMeantForAnotherStateIsAborted) {
  Queue first;
  ASSERT_TRUE(Create("night", 2, &first).ok());
  UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/night");
  update.mutable_queue()->set_etag(first.etag());
  update.mutable_queue()->set_weight(3);
  Queue queue;
  ASSERT_TRUE(Update(update, &queue).ok());
  update.mutable_queue()->set_weight(4);
  EXPECT_EQ(Update(update, &queue).error_code(), grpc::StatusCode::ABORTED);
  update.mutable_queue()->set_etag(queue.etag());
  EXPECT_TRUE(Update(update, &queue).ok());
}

TEST_F(QueuesServiceTest, UpdateIsCheckedWhole) {
  Queue queue;
  ASSERT_TRUE(Create("night", 2, &queue).ok());
  UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/night");
  EXPECT_EQ(FieldOf(Update(update, &queue)), "queue");
  update.mutable_queue()->mutable_max_run_time_limit()->set_seconds(60);
  ASSERT_TRUE(Update(update, &queue).ok());
  update.mutable_queue()->clear_max_run_time_limit();
  update.mutable_queue()->mutable_default_run_time_limit()->set_seconds(61);
  EXPECT_EQ(FieldOf(Update(update, &queue)), "queue.default_run_time_limit");
}

TEST_F(QueuesServiceTest, DeletedQueueIsGone) {
  Queue queue;
  ASSERT_TRUE(Create("night", 2, &queue).ok());
  EXPECT_EQ(Delete("queues/night", "7", &queue).error_code(),
            grpc::StatusCode::ABORTED);
  ASSERT_TRUE(Delete("queues/night", queue.etag(), &queue).ok());
  EXPECT_TRUE(queue.has_delete_time());
  EXPECT_EQ(Get("queues/night", &queue).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(QueuesServiceTest, DefaultQueueIsAlwaysThere) {
  Queue queue;
  EXPECT_EQ(Delete("queues/default", "", &queue).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(Get("queues/default", &queue).ok());
}

TEST_F(QueuesServiceTest, PagesAreInOrderOfNames) {
  Queue queue;
  ASSERT_TRUE(Create("night", 2, &queue).ok());
  ASSERT_TRUE(Create("day", 2, &queue).ok());
  ListQueuesResponse first;
  ASSERT_TRUE(List(2, "", &first).ok());
  ASSERT_EQ(first.queues_size(), 2);
  EXPECT_EQ(first.queues(0).name(), "queues/day");
  EXPECT_EQ(first.queues(1).name(), "queues/default");
  ListQueuesResponse second;
  ASSERT_TRUE(List(2, first.next_page_token(), &second).ok());
  ASSERT_EQ(second.queues_size(), 1);
  EXPECT_EQ(second.queues(0).name(), "queues/night");
  EXPECT_EQ(FieldOf(List(-1, "", &second)), "page_size");
}

TEST_F(QueuesServiceTest, QueuesWithLongHistoriesAreListedInSeveralPages) {
  constexpr int kNumQueues = 300;
  constexpr int kNumChanges = 20;
  const scheduler::Author author{{}, std::string(256, 'r')};
  const auto ignore = [](const absl::StatusOr<Queue>&) {};
  for (int i = 0; i < kNumQueues; ++i) {
    Queue queue;
    queue.set_name("queues/q" + std::to_string(i));
    loopback_.scheduler().CreateQueue(queue, author, ignore);
    for (int change = 0; change < kNumChanges; ++change) {
      queue.set_etag(std::to_string(change + 1));
      queue.clear_quotas();
      // Of which the change tells, up to its limit.
      queue.add_quotas()->set_device(std::string(500, change % 2 ? 'a' : 'b'));
      loopback_.scheduler().UpdateQueue(queue, author, ignore);
    }
  }
  int num_listed = 0;
  int num_pages = 0;
  std::string token;
  do {
    ListQueuesResponse page;
    const grpc::Status status = List(1000, token, &page);
    ASSERT_TRUE(status.ok()) << status.error_message();
    num_listed += page.queues_size();
    ++num_pages;
    token = page.next_page_token();
  } while (!token.empty());
  EXPECT_EQ(num_listed, kNumQueues + 1);  // The one that is always there.
  EXPECT_GT(num_pages, 1);
}

TEST_F(QueuesServiceTest, LongReasonIsInvalid) {
  Context context;
  CreateQueueRequest request;
  request.set_queue_id("night");
  request.set_reason(std::string(257, 'r'));
  Queue queue;
  EXPECT_EQ(FieldOf(stub_->CreateQueue(&context, request, &queue)), "reason");
}

// Lets nobody administer.
class DeniedQueuesServiceTest : public QueuesServiceTest {
 protected:
  DeniedQueuesServiceTest() : QueuesServiceTest(&kUsers) {}

 private:
  static inline const services::testing::KnownUsers kUsers{};
};

TEST_F(DeniedQueuesServiceTest, WhoMayNotAdministerReadsAndChangesNothing) {
  Queue queue;
  UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/default");
  update.mutable_queue()->set_weight(2);
  for (const grpc::Status& status :
       {Create("night", 2, &queue), Update(update, &queue),
        Delete("queues/default", "", &queue)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
  ASSERT_TRUE(Get("queues/default", &queue).ok());
  EXPECT_EQ(queue.weight(), 1);
}

}  // namespace
}  // namespace ordo::services::queues

#include "services/workers/workers_service.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/loopback.h"

namespace ordo::services::workers {
namespace {

using ordo::workers::v1::GetWorkerRequest;
using ordo::workers::v1::ListWorkersRequest;
using ordo::workers::v1::ListWorkersResponse;
using ordo::workers::v1::Worker;
using testing::Context;
using testing::FieldOf;

class WorkersServiceTest : public ::testing::Test {
 protected:
  WorkersServiceTest()
      : stub_(ordo::workers::v1::WorkersService::NewStub(loopback_.channel())) {
    for (const char* name : {"workers/b", "workers/a", "workers/c"}) {
      Worker worker;
      worker.set_name(name);
      worker.set_state(Worker::ONLINE);
      loopback_.scheduler().PutWorker(worker);
    }
  }

  grpc::Status Get(const std::string& name, Worker* worker) {
    Context context;
    GetWorkerRequest request;
    request.set_name(name);
    return stub_->GetWorker(&context, request, worker);
  }

  grpc::Status List(int page_size, const std::string& token,
                    ListWorkersResponse* response) {
    Context context;
    ListWorkersRequest request;
    request.set_page_size(page_size);
    request.set_page_token(token);
    return stub_->ListWorkers(&context, request, response);
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::workers::v1::WorkersService::Stub> stub_;
};

TEST_F(WorkersServiceTest, GetGivesTheWorker) {
  Worker worker;
  ASSERT_TRUE(Get("workers/a", &worker).ok());
  EXPECT_EQ(worker.name(), "workers/a");
  EXPECT_EQ(worker.state(), Worker::ONLINE);
}

TEST_F(WorkersServiceTest, UnknownWorkerIsNotFound) {
  Worker worker;
  EXPECT_EQ(Get("workers/z", &worker).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(WorkersServiceTest, BadNameIsInvalid) {
  Worker worker;
  const grpc::Status status = Get("a", &worker);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "name");
}

TEST_F(WorkersServiceTest, PagesAreInOrderOfNames) {
  ListWorkersResponse first;
  ASSERT_TRUE(List(2, "", &first).ok());
  ASSERT_EQ(first.workers_size(), 2);
  EXPECT_EQ(first.workers(0).name(), "workers/a");
  EXPECT_EQ(first.workers(1).name(), "workers/b");
  ListWorkersResponse second;
  ASSERT_TRUE(List(2, first.next_page_token(), &second).ok());
  ASSERT_EQ(second.workers_size(), 1);
  EXPECT_EQ(second.workers(0).name(), "workers/c");
  EXPECT_EQ(second.next_page_token(), "");
}

TEST_F(WorkersServiceTest, BadPagesAreInvalid) {
  ListWorkersResponse response;
  EXPECT_EQ(FieldOf(List(-1, "", &response)), "page_size");
  EXPECT_EQ(FieldOf(List(0, "x", &response)), "page_token");
}

}  // namespace
}  // namespace ordo::services::workers

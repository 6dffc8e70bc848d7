#include "services/workers/workers_service.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"

namespace ordo::services::workers {
namespace {

using ordo::workers::v1::CordonWorkerRequest;
using ordo::workers::v1::DrainWorkerRequest;
using ordo::workers::v1::GetWorkerRequest;
using ordo::workers::v1::ListWorkersRequest;
using ordo::workers::v1::ListWorkersResponse;
using ordo::workers::v1::ReleaseDeviceRequest;
using ordo::workers::v1::UncordonWorkerRequest;
using ordo::workers::v1::Worker;
using testing::Context;
using testing::FieldOf;

class WorkersServiceTest : public ::testing::Test {
 protected:
  explicit WorkersServiceTest(
      const auth::Authenticator* authenticator = nullptr)
      : loopback_(authenticator),
        stub_(ordo::workers::v1::WorkersService::NewStub(loopback_.channel())) {
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

  grpc::Status Cordon(const std::string& name, Worker* worker,
                      const std::string& reason = "") {
    Context context;
    CordonWorkerRequest request;
    request.set_name(name);
    request.set_reason(reason);
    return stub_->CordonWorker(&context, request, worker);
  }

  // `at` in seconds since 1970; 0: left out.
  grpc::Status Drain(const std::string& name, int64_t at, Worker* worker) {
    Context context;
    DrainWorkerRequest request;
    request.set_name(name);
    if (at != 0) request.mutable_drain_time()->set_seconds(at);
    return stub_->DrainWorker(&context, request, worker);
  }

  grpc::Status Uncordon(const std::string& name, Worker* worker) {
    Context context;
    UncordonWorkerRequest request;
    request.set_name(name);
    return stub_->UncordonWorker(&context, request, worker);
  }

  grpc::Status Release(const std::string& name, const std::string& device,
                       Worker* worker) {
    Context context;
    ReleaseDeviceRequest request;
    request.set_name(name);
    request.set_device(device);
    request.set_reason("new cable");
    return stub_->ReleaseDevice(&context, request, worker);
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

TEST_F(WorkersServiceTest, CordonSaysWhoAndWhy) {
  Worker worker;
  ASSERT_TRUE(Cordon("workers/a", &worker, "new disks").ok());
  EXPECT_EQ(worker.name(), "workers/a");
  EXPECT_TRUE(worker.cordoned());
  EXPECT_EQ(worker.closed_reason(), "new disks");
  ASSERT_EQ(worker.changes_size(), 1);
  EXPECT_EQ(worker.changes(0).user(), "ada");
  ASSERT_TRUE(Uncordon("workers/a", &worker).ok());
  EXPECT_FALSE(worker.cordoned());
}

TEST_F(WorkersServiceTest, DrainIsAtItsTimeOrNow) {
  const int64_t later =
      absl::ToUnixSeconds(loopback_.clock().Now() + absl::Hours(1));
  Worker worker;
  ASSERT_TRUE(Drain("workers/a", later, &worker).ok());
  EXPECT_EQ(worker.drain_time().seconds(), later);
  ASSERT_TRUE(Drain("workers/b", 0, &worker).ok());
  EXPECT_EQ(worker.drain_time().seconds(),
            absl::ToUnixSeconds(loopback_.clock().Now()));
}

TEST_F(WorkersServiceTest, DrainInMoreThanAYearIsInvalid) {
  const absl::Time last = loopback_.clock().Now() + 366 * absl::Hours(24);
  Worker worker;
  EXPECT_TRUE(Drain("workers/a", absl::ToUnixSeconds(last), &worker).ok());
  EXPECT_EQ(FieldOf(Drain("workers/a", absl::ToUnixSeconds(last) + 1, &worker)),
            "drain_time");
}

TEST_F(WorkersServiceTest, ReleaseEndsAQuarantineAndSaysWhoAndWhy) {
  Worker worker;
  worker.set_name("workers/a");
  worker.add_devices()->set_name("cuda:0");
  worker.mutable_devices(0)->mutable_quarantine()->set_reason("XID 79");
  loopback_.scheduler().PutWorker(worker);
  ASSERT_TRUE(Get("workers/a", &worker).ok());
  EXPECT_TRUE(worker.devices(0).has_quarantine());
  EXPECT_EQ(Release("workers/a", "cuda:1", &worker).error_code(),
            grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(Release("workers/a", "cuda:0", &worker).ok());
  EXPECT_FALSE(worker.devices(0).has_quarantine());
  ASSERT_EQ(worker.changes_size(), 1);
  EXPECT_EQ(worker.changes(0).user(), "ada");
  EXPECT_EQ(worker.changes(0).reason(), "new cable");
}

TEST_F(WorkersServiceTest, ReleaseWithoutADeviceIsInvalid) {
  Worker worker;
  EXPECT_EQ(FieldOf(Release("workers/a", "", &worker)), "device");
  EXPECT_EQ(FieldOf(Release("workers/a", std::string(65, 'x'), &worker)),
            "device");
}

TEST_F(WorkersServiceTest, ChangeOfAnUnknownWorkerIsNotFound) {
  Worker worker;
  for (const grpc::Status& status :
       {Cordon("workers/z", &worker), Drain("workers/z", 0, &worker),
        Uncordon("workers/z", &worker),
        Release("workers/z", "cuda:0", &worker)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  }
}

TEST_F(WorkersServiceTest, ChangeOfABadNameIsInvalid) {
  Worker worker;
  EXPECT_EQ(FieldOf(Cordon("a", &worker)), "name");
  EXPECT_EQ(FieldOf(Drain("a", 0, &worker)), "name");
  EXPECT_EQ(FieldOf(Uncordon("a", &worker)), "name");
  EXPECT_EQ(FieldOf(Release("a", "cuda:0", &worker)), "name");
}

// Lets nobody administer.
class DeniedWorkersServiceTest : public WorkersServiceTest {
 protected:
  DeniedWorkersServiceTest() : WorkersServiceTest(&kUsers) {}

 private:
  static inline const services::testing::KnownUsers kUsers{};
};

TEST_F(DeniedWorkersServiceTest, WhoMayNotAdministerChangesNothing) {
  Worker worker;
  for (const grpc::Status& status :
       {Cordon("workers/a", &worker), Drain("workers/a", 0, &worker),
        Uncordon("workers/a", &worker),
        Release("workers/a", "cuda:0", &worker)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
  ASSERT_TRUE(Get("workers/a", &worker).ok());
  EXPECT_FALSE(worker.cordoned());
}

}  // namespace
}  // namespace ordo::services::workers

#include "services/all_services.h"

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/empty.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "proto/ordo/access/v1/access.grpc.pb.h"
#include "proto/ordo/agent/v1/agent.grpc.pb.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "proto/ordo/data/v1/data.grpc.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "proto/ordo/queues/v1/queues.grpc.pb.h"
#include "proto/ordo/reports/v1/reports.grpc.pb.h"
#include "proto/ordo/usage/v1/usage.grpc.pb.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"
#include "services/limits/limits.h"
#include "services/testing/loopback.h"

namespace ordo::services {
namespace {

using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobsService;
using ordo::jobs::v1::ReadLogsRequest;
using ordo::jobs::v1::ReadLogsResponse;
using testing::Context;

TEST(AllServicesTest, EachServiceAnswers) {
  testing::Loopback loopback;
  const auto channel = loopback.channel();
  {
    Context context;
    ordo::jobs::v1::ListJobsResponse response;
    EXPECT_TRUE(
        JobsService::NewStub(channel)->ListJobs(&context, {}, &response).ok());
  }
  {
    Context context;
    ordo::checkpoints::v1::ListCheckpointsRequest request;
    request.set_parent("jobs/-");
    ordo::checkpoints::v1::ListCheckpointsResponse response;
    EXPECT_TRUE(ordo::checkpoints::v1::CheckpointsService::NewStub(channel)
                    ->ListCheckpoints(&context, request, &response)
                    .ok());
  }
  {
    Context context;
    ordo::data::v1::ListDataResponse response;
    EXPECT_TRUE(ordo::data::v1::DataService::NewStub(channel)
                    ->ListData(&context, {}, &response)
                    .ok());
  }
  {
    Context context;
    ordo::reports::v1::ListReportsRequest request;
    request.set_parent("jobs/-");
    ordo::reports::v1::ListReportsResponse response;
    EXPECT_TRUE(ordo::reports::v1::ReportsService::NewStub(channel)
                    ->ListReports(&context, request, &response)
                    .ok());
  }
  {
    Context context;
    ordo::queues::v1::ListQueuesResponse response;
    EXPECT_TRUE(ordo::queues::v1::QueuesService::NewStub(channel)
                    ->ListQueues(&context, {}, &response)
                    .ok());
  }
  {
    Context context;
    ordo::usage::v1::ReportUsageResponse response;
    EXPECT_TRUE(ordo::usage::v1::UsageService::NewStub(channel)
                    ->ReportUsage(&context, {}, &response)
                    .ok());
  }
  {
    Context context;
    ordo::workers::v1::ListWorkersResponse response;
    EXPECT_TRUE(ordo::workers::v1::WorkersService::NewStub(channel)
                    ->ListWorkers(&context, {}, &response)
                    .ok());
  }
  {
    Context context;
    ordo::access::v1::WhoAmIResponse response;
    EXPECT_TRUE(ordo::access::v1::AccessService::NewStub(channel)
                    ->WhoAmI(&context, {}, &response)
                    .ok());
  }
  {
    Context context;
    ordo::agent::v1::AnnounceRequest request;
    request.set_worker("local");
    request.set_protocol(base::kWorkerProtocol);
    ordo::agent::v1::AnnounceResponse response;
    EXPECT_TRUE(ordo::agent::v1::SchedulerAgentService::NewStub(channel)
                    ->Announce(&context, request, &response)
                    .ok());
  }
}

// Calls a method, such as "/ordo.jobs.v1.JobsService/GetJob", with a request of
// which nothing is set.
grpc::Status CallWithNothing(const std::shared_ptr<grpc::Channel>& channel,
                             const std::string& method) {
  using google::protobuf::Empty;
  grpc::TemplatedGenericStub<Empty, Empty> stub(channel);
  Context context;
  const Empty request;
  Empty response;
  std::promise<grpc::Status> status;
  stub.UnaryCall(
      &context, method, grpc::StubOptions(), &request, &response,
      [&status](grpc::Status got) { status.set_value(std::move(got)); });
  return status.get_future().get();
}

TEST(AllServicesTest, EveryUnaryCallOfAUserCounts) {
  limits::LimitsOptions one;
  one.calls_per_second = 1;
  one.burst_seconds = 1;
  testing::Loopback loopback(nullptr, one);
  EXPECT_TRUE(CallWithNothing(loopback.channel(),
                              "/ordo.workers.v1.WorkersService/ListWorkers")
                  .ok());
  for (const std::string name :
       {"ordo.jobs.v1.JobsService", "ordo.checkpoints.v1.CheckpointsService",
        "ordo.data.v1.DataService", "ordo.reports.v1.ReportsService",
        "ordo.queues.v1.QueuesService", "ordo.usage.v1.UsageService",
        "ordo.workers.v1.WorkersService", "ordo.access.v1.AccessService"}) {
    const auto* service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
            name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i) {
      if (service->method(i)->server_streaming()) continue;
      const std::string method = "/" + name + "/" + service->method(i)->name();
      EXPECT_EQ(CallWithNothing(loopback.channel(), method).error_code(),
                grpc::StatusCode::RESOURCE_EXHAUSTED)
          << method;
    }
  }
}

TEST(AllServicesTest, WhatIsNestedDeepIsRefusedAndHarmsNobody) {
  testing::Loopback loopback;
  const auto stub = JobsService::NewStub(loopback.channel());
  // What can still be read, and what cannot.
  for (const int depth : {40, 5000}) {
    ordo::jobs::v1::CreateJobRequest request;
    auto* spec = request.mutable_job()->mutable_spec();
    spec->set_name("a");
    for (int i = 0; i < depth; ++i) {
      spec->set_kind(ordo::jobs::v1::JobSpec::SWEEP);
      spec = spec->mutable_sweep()->mutable_run();
    }
    Context context;
    Job job;
    EXPECT_FALSE(stub->CreateJob(&context, request, &job).ok()) << depth;
  }
  Context context;
  ordo::jobs::v1::ListJobsResponse response;
  EXPECT_TRUE(stub->ListJobs(&context, {}, &response).ok());
  EXPECT_TRUE(response.jobs().empty());
}

TEST(AllServicesTest, CallsThatWaitForFilesHaveALimit) {
  limits::LimitsOptions none;
  none.file_calls = 0;
  testing::Loopback loopback(nullptr, none);
  for (const char* method :
       {"/ordo.usage.v1.UsageService/ReportUsage",
        "/ordo.checkpoints.v1.CheckpointsService/CreateUpload",
        "/ordo.data.v1.DataService/ListData"}) {
    const grpc::Status refused = CallWithNothing(loopback.channel(), method);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED)
        << method;
    EXPECT_THAT(refused.error_message(),
                ::testing::HasSubstr("limit file_calls"));
  }
  EXPECT_TRUE(CallWithNothing(loopback.channel(),
                              "/ordo.workers.v1.WorkersService/ListWorkers")
                  .ok());
}

TEST(AllServicesTest, APartThatIsTooLargeWaitsForNoFile) {
  limits::LimitsOptions none;
  none.file_calls = 0;
  testing::Loopback loopback(nullptr, none);
  const auto stub =
      ordo::checkpoints::v1::CheckpointsService::NewStub(loopback.channel());
  const auto write = [&stub](size_t data_bytes, size_t path_bytes) {
    ordo::checkpoints::v1::WriteUploadRequest request;
    request.set_name("uploads/" + std::string(64, 'a'));
    request.set_path(std::string(path_bytes, 'p'));
    request.set_data(std::string(data_bytes, 'd'));
    Context context;
    ordo::checkpoints::v1::WriteUploadResponse response;
    return stub->WriteUpload(&context, request, &response);
  };
  constexpr size_t kMiB = 1 << 20;
  EXPECT_EQ(testing::FieldOf(write(kMiB + 1, 10)), "data");
  EXPECT_EQ(testing::FieldOf(write(0, 10)), "data");
  EXPECT_EQ(testing::FieldOf(write(1, kMiB + (64 << 10))), "path");
  EXPECT_EQ(write(kMiB, 10).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(AllServicesTest, ARequestThatNestsTooDeepIsRefusedAndOthersAreServed) {
  testing::Loopback loopback;
  const auto stub = JobsService::NewStub(loopback.channel());
  ordo::jobs::v1::CreateJobRequest request;
  auto& spec = *request.mutable_job()->mutable_spec();
  google::protobuf::Value* value =
      &(*spec.mutable_encoding()->mutable_params())["deep"];
  // More than a parser takes that calls itself for each.
  for (int i = 0; i < 1000; ++i) {
    value = value->mutable_list_value()->add_values();
  }
  Context context;
  Job job;
  EXPECT_FALSE(stub->CreateJob(&context, request, &job).ok());
  EXPECT_TRUE(loopback.scheduler().created().empty());
  Context next;
  ordo::jobs::v1::ListJobsResponse response;
  EXPECT_TRUE(stub->ListJobs(&next, {}, &response).ok());
}

TEST(AllServicesTest, LeavingEndsWatchesAndLogsSoThatClientsCallAgain) {
  testing::Loopback loopback;
  Job job;
  job.set_name("jobs/a");
  job.set_state(Job::RUNNING);
  job.add_attempts()->set_number(1);
  loopback.Append("jobs/a/attempts/1/rank-0.log", "text");
  loopback.scheduler().PutJob(job);
  const auto stub = JobsService::NewStub(loopback.channel());

  Context watch_context;
  ordo::jobs::v1::WatchJobRequest watch_request;
  watch_request.set_name("jobs/a");
  const auto watch = stub->WatchJob(&watch_context, watch_request);
  ordo::jobs::v1::WatchJobResponse watched;
  ASSERT_TRUE(watch->Read(&watched));
  Context logs_context;
  ReadLogsRequest logs_request;
  logs_request.set_name("jobs/a");
  logs_request.set_follow(true);
  const auto logs = stub->ReadLogs(&logs_context, logs_request);
  ReadLogsResponse read;
  ASSERT_TRUE(logs->Read(&read));

  loopback.scheduler().Leave();
  loopback.services().EndStreams();
  // Nothing is left that would have to be cut off.
  loopback.server().Drain(absl::Seconds(20));

  while (watch->Read(&watched)) {
  }
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(logs->Read(&read));
  EXPECT_EQ(logs->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ordo::services

#include "services/auth/view.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "proto/ordo/reports/v1/reports.grpc.pb.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"

namespace ordo::services::auth {
namespace {

using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobsService;
using services::testing::Context;
using services::testing::KnownUsers;
using services::testing::Loopback;

// The job `secret` of the queue `night`, which `eve` does not see.
class ViewTest : public ::testing::Test {
 protected:
  ViewTest() {
    Job job;
    job.set_name("jobs/secret");
    job.set_state(Job::SUCCEEDED);
    job.mutable_spec()->set_queue("night");
    job.add_attempts()->set_number(1);
    loopback_.Append("jobs/secret/attempts/1/rank-0.log", "text");
    loopback_.scheduler().PutJob(job);
    ordo::checkpoints::v1::Checkpoint checkpoint;
    checkpoint.set_name("jobs/secret/checkpoints/1-1");
    checkpoint.set_state(ordo::checkpoints::v1::Checkpoint::AVAILABLE);
    *checkpoint.add_files() =
        loopback_.Write("jobs/secret/checkpoints/1-1/a", "bytes");
    loopback_.scheduler().PutCheckpoint(checkpoint);
  }

  // How a read of what `job` logged ends.
  grpc::Status ReadLogs(const std::string& user, const std::string& job) {
    Context context(user);
    ordo::jobs::v1::ReadLogsRequest request;
    request.set_name(job);
    const auto reader =
        JobsService::NewStub(loopback_.channel())->ReadLogs(&context, request);
    ordo::jobs::v1::ReadLogsResponse response;
    while (reader->Read(&response)) {
    }
    return reader->Finish();
  }
  grpc::Status ReadFile(const std::string& user, const std::string& job) {
    Context context(user);
    ordo::checkpoints::v1::ReadFileRequest request;
    request.set_name(job + "/checkpoints/1-1");
    request.set_path("a");
    const auto reader =
        ordo::checkpoints::v1::CheckpointsService::NewStub(loopback_.channel())
            ->ReadFile(&context, request);
    ordo::checkpoints::v1::ReadFileResponse response;
    while (reader->Read(&response)) {
    }
    return reader->Finish();
  }
  grpc::Status Watch(const std::string& user, const std::string& job) {
    Context context(user);
    ordo::jobs::v1::WatchJobRequest request;
    request.set_name(job);
    const auto reader =
        JobsService::NewStub(loopback_.channel())->WatchJob(&context, request);
    ordo::jobs::v1::WatchJobResponse response;
    while (reader->Read(&response)) {
    }
    return reader->Finish();
  }

  const KnownUsers users_{{{"eve", {"default"}}, {"ada", {"night"}}}};
  Loopback loopback_{&users_};
};

TEST_F(ViewTest, LogsFilesAndWatchesAreOfTheQueuesThatTheCallerSees) {
  using Read =
      std::function<grpc::Status(const std::string&, const std::string&)>;
  const std::vector<Read> reads = {
      [this](const auto& user, const auto& job) { return ReadLogs(user, job); },
      [this](const auto& user, const auto& job) { return ReadFile(user, job); },
      [this](const auto& user, const auto& job) { return Watch(user, job); }};
  for (const Read& read : reads) {
    EXPECT_TRUE(read("ada", "jobs/secret").ok());
    EXPECT_TRUE(read("bob", "jobs/secret").ok());
    const grpc::Status hidden = read("eve", "jobs/secret");
    EXPECT_EQ(hidden.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_EQ(hidden.error_message(),
              "there is no job secret; see: ordo list jobs");
    const grpc::Status none = read("eve", "jobs/none");
    EXPECT_EQ(none.error_message(),
              "there is no job none; see: ordo list jobs");
  }
}

TEST_F(ViewTest, AnswersOfChangesAndWatchesNameNoJobThatTheCallerDoesNotSee) {
  Job job;
  job.set_name("jobs/mine");
  job.set_state(Job::QUEUED);
  job.mutable_spec()->set_queue("default");
  job.mutable_owner()->set_user("eve");
  job.set_message("it made room for secret");
  loopback_.scheduler().PutJob(job);
  const auto stub = JobsService::NewStub(loopback_.channel());
  const std::string masked = "it made room for another";
  Job answer;
  {
    Context context("eve");
    ordo::jobs::v1::HoldJobRequest request;
    request.set_name("jobs/mine");
    ASSERT_TRUE(stub->HoldJob(&context, request, &answer).ok());
    EXPECT_EQ(answer.message(), masked);
  }
  {
    Context context("eve");
    ordo::jobs::v1::ReleaseJobRequest request;
    request.set_name("jobs/mine");
    ASSERT_TRUE(stub->ReleaseJob(&context, request, &answer).ok());
    EXPECT_EQ(answer.message(), masked);
  }
  {
    Context context("eve");
    ordo::jobs::v1::SetJobPriorityRequest request;
    request.set_name("jobs/mine");
    request.set_priority(1);
    ASSERT_TRUE(stub->SetJobPriority(&context, request, &answer).ok());
    EXPECT_EQ(answer.message(), masked);
  }
  for (const std::string user : {"eve", "bob"}) {
    Context context(user);
    ordo::jobs::v1::WatchJobRequest request;
    request.set_name("jobs/mine");
    const auto reader = stub->WatchJob(&context, request);
    ordo::jobs::v1::WatchJobResponse response;
    ASSERT_TRUE(reader->Read(&response));
    EXPECT_EQ(response.job().message(),
              user == "eve" ? masked : "it made room for secret");
    context.TryCancel();
  }
  Context context("eve");
  ordo::jobs::v1::CancelJobRequest request;
  request.set_name("jobs/mine");
  ASSERT_TRUE(stub->CancelJob(&context, request, &answer).ok());
  EXPECT_EQ(answer.message(), masked);
}

}  // namespace
}  // namespace ordo::services::auth

#include "scheduler/main/run.h"

#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "scheduler/main/config.h"

namespace ordo::scheduler {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::HasSubstr;

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    config::v1::SchedulerConfig config;
    config.set_listen("127.0.0.1:0");
    config.set_store(folder_.Path("scheduler/ordo.db"));
    config.set_storage_root(folder_.Path("storage"));
    config.set_endpoints_file(folder_.Path("scheduler/endpoints.json"));
    auto resolved = ResolveConfig(config, folder_.path());
    EXPECT_THAT(resolved, IsOk());
    config_ = *resolved;
  }
  // A port of the endpoints file.
  std::string Endpoint(const std::string& name) {
    const auto text = base::ReadFile(files_, config_.endpoints_file(), 1 << 16);
    EXPECT_THAT(text, IsOk());
    google::protobuf::Struct endpoints;
    EXPECT_TRUE(
        google::protobuf::util::JsonStringToMessage(*text, &endpoints).ok())
        << *text;
    return endpoints.fields().at(name).string_value();
  }
  int NumJobs() {
    auto stub = jobs::v1::JobsService::NewStub(base::Connect(Endpoint("api")));
    grpc::ClientContext context;
    base::PrepareCall({}, &context);
    jobs::v1::ListJobsResponse response;
    EXPECT_THAT(base::FromGrpcStatus(stub->ListJobs(&context, {}, &response)),
                IsOk());
    return response.jobs_size();
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  config::v1::SchedulerConfig config_;
};

TEST_F(RunTest, TheApiAnswersAtTheWrittenEndpointUntilTheEnd) {
  EXPECT_THAT(scheduler::Run(config_,
                             [this] {
                               EXPECT_EQ(NumJobs(), 0);
                               EXPECT_FALSE(Endpoint("metrics").empty());
                             }),
              IsOk());
}

TEST_F(RunTest, ASecondSchedulerOnTheStoreIsRefused) {
  EXPECT_THAT(
      scheduler::Run(config_,
                     [this] {
                       EXPECT_THAT(
                           scheduler::Run(config_,
                                          [] { ADD_FAILURE() << "it serves"; }),
                           StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr(config_.store())));
                     }),
      IsOk());
}

TEST_F(RunTest, APortInUseIsRefused) {
  EXPECT_THAT(
      scheduler::Run(config_,
                     [this] {
                       config::v1::SchedulerConfig other = config_;
                       other.set_store(folder_.Path("other.db"));
                       other.set_listen(Endpoint("api"));
                       EXPECT_THAT(
                           scheduler::Run(other,
                                          [] { ADD_FAILURE() << "it serves"; }),
                           StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr(Endpoint("api"))));
                     }),
      IsOk());
}

}  // namespace
}  // namespace ordo::scheduler

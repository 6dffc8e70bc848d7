#include "tests/bench/jobs_client.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/rpc/client.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using ::ordo::base::testing::IsOk;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

using Requests = std::vector<jobs::v1::CreateJobRequest>;

// Creates nothing, and keeps what it was asked for.
class Recorder final : public jobs::v1::JobsService::CallbackService {
 public:
  // Those since the last call.
  Requests Take() {
    base::MutexLock lock(mutex_);
    Requests taken;
    taken.swap(requests_);
    return taken;
  }

 private:
  grpc::ServerUnaryReactor* CreateJob(grpc::CallbackServerContext* context,
                                      const jobs::v1::CreateJobRequest* request,
                                      jobs::v1::Job*) override {
    base::MutexLock lock(mutex_);
    requests_.push_back(*request);
    return base::Finish(context, absl::OkStatus());
  }
  grpc::ServerUnaryReactor* BatchCreateJobs(
      grpc::CallbackServerContext* context,
      const jobs::v1::BatchCreateJobsRequest* request,
      jobs::v1::BatchCreateJobsResponse*) override {
    base::MutexLock lock(mutex_);
    requests_.insert(requests_.end(), request->requests().begin(),
                     request->requests().end());
    return base::Finish(context, absl::OkStatus());
  }

  base::Mutex mutex_;
  Requests requests_ ORDO_GUARDED_BY(mutex_);
};

class JobsClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ORDO_ASSERT_OK_AND_ASSIGN(server_,
                              base::RpcServer::Start({}, {&recorder_}));
    stub_ =
        jobs::v1::JobsService::NewStub(base::ConnectAlone(server_->address()));
  }

  // By each call, twelve jobs.
  std::vector<Requests> CreateByAll(Specs specs) {
    std::vector<Requests> all;
    EXPECT_THAT(CreateEach(*stub_, "each", 12, specs), IsOk());
    all.push_back(recorder_.Take());
    ORDO_EXPECT_OK(CreateQueued(*stub_, {"stored", 3, 4, specs}));
    all.push_back(recorder_.Take());
    Clients clients(server_->address(), 2);
    EXPECT_THAT(clients.CreateOutstanding("outstanding", 12, 3, specs), IsOk());
    all.push_back(recorder_.Take());
    EXPECT_THAT(clients.CreateBatches("batch", 2, 3, specs), IsOk());
    all.push_back(recorder_.Take());
    return all;
  }

  Recorder recorder_;
  std::unique_ptr<base::RpcServer> server_;
  std::unique_ptr<jobs::v1::JobsService::Stub> stub_;
};

std::set<std::string> NamesOf(const Requests& requests) {
  std::set<std::string> names;
  for (const auto& request : requests)
    names.insert(request.job().spec().name());
  return names;
}

// What they ask for, whatever their names are.
std::set<std::string> SpecsOf(const Requests& requests) {
  std::set<std::string> specs;
  for (const auto& request : requests) {
    jobs::v1::JobSpec spec = request.job().spec();
    spec.clear_name();
    specs.insert(spec.SerializeAsString());
  }
  return specs;
}

std::set<std::string> RequestIdsOf(const Requests& requests) {
  std::set<std::string> ids;
  for (const auto& request : requests) ids.insert(request.request_id());
  return ids;
}

TEST_F(JobsClientTest, JobsAskForTheSame) {
  for (const Requests& requests : CreateByAll(Specs::kShared)) {
    EXPECT_THAT(NamesOf(requests), SizeIs(12));
    EXPECT_THAT(SpecsOf(requests), SizeIs(1));
  }
}

TEST_F(JobsClientTest, EachJobHasASpecOfItsOwn) {
  Requests together;
  for (const Requests& requests : CreateByAll(Specs::kOwn)) {
    together.insert(together.end(), requests.begin(), requests.end());
  }
  EXPECT_THAT(NamesOf(together), SizeIs(48));
  EXPECT_THAT(SpecsOf(together), SizeIs(48));
}

TEST_F(JobsClientTest, EachSubmissionHasARequestIdAsOfTheCommandLine) {
  Requests together;
  for (const Requests& requests : CreateByAll(Specs::kShared)) {
    together.insert(together.end(), requests.begin(), requests.end());
  }
  const std::set<std::string> ids = RequestIdsOf(together);
  EXPECT_THAT(ids, SizeIs(48));
  for (const std::string& id : ids) {
    EXPECT_THAT(id.substr(0, 32), MatchesRegex("[0-9a-f]+"));
    EXPECT_TRUE(id.size() == 32 || id[32] == '/') << id;
  }
  ORDO_ASSERT_OK(CreateBatch(
      *stub_, {TrainingJob("first", "cpu"), TrainingJob("second", "cpu")}));
  const Requests batch = recorder_.Take();
  ASSERT_THAT(batch, SizeIs(2));
  EXPECT_EQ(batch[0].request_id(), RequestIdOf("first") + "/1");
  EXPECT_EQ(batch[1].request_id(), RequestIdOf("first") + "/2");
}

}  // namespace
}  // namespace ordo::tests::bench

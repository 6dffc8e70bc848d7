#include "services/jobs/watch_reactor.h"

#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "services/testing/loopback.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::Job;
using ordo::jobs::v1::WatchJobRequest;
using ordo::jobs::v1::WatchJobResponse;
using testing::Context;
using testing::FieldOf;

class WatchReactorTest : public ::testing::Test {
 protected:
  using Reader = std::unique_ptr<grpc::ClientReader<WatchJobResponse>>;

  WatchReactorTest()
      : stub_(ordo::jobs::v1::JobsService::NewStub(loopback_.channel())) {
    Job job;
    job.set_name("jobs/a");
    job.set_state(Job::QUEUED);
    loopback_.scheduler().PutJob(job);
  }

  Reader Watch(Context* context, int64_t from_version,
               const std::string& name = "jobs/a") {
    WatchJobRequest request;
    request.set_name(name);
    request.set_from_version(from_version);
    return stub_->WatchJob(context, request);
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::jobs::v1::JobsService::Stub> stub_;
};

TEST_F(WatchReactorTest, GivesTheJobNowAndEachChangeUntilItsEnd) {
  Context context;
  const Reader reader = Watch(&context, 0);
  WatchJobResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.job().state(), Job::QUEUED);
  loopback_.scheduler().SetState("a", Job::RUNNING);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.job().state(), Job::RUNNING);
  loopback_.scheduler().SetState("a", Job::SUCCEEDED);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.job().state(), Job::SUCCEEDED);
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(loopback_.scheduler().WaitForWatches(0));
}

TEST_F(WatchReactorTest, ResumesWithTheFirstVersionThatIsNotKnown) {
  const Job known = loopback_.scheduler().SetState("a", Job::STARTING);
  Context context;
  const Reader reader = Watch(&context, known.version());
  ASSERT_TRUE(loopback_.scheduler().WaitForWatches(1));
  loopback_.scheduler().SetState("a", Job::RUNNING);
  WatchJobResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.job().state(), Job::RUNNING);
  EXPECT_EQ(response.job().version(), known.version() + 1);
  context.TryCancel();
}

TEST_F(WatchReactorTest, OldVersionGetsTheJobAtOnce) {
  loopback_.scheduler().SetState("a", Job::STARTING);
  Context context;
  const Reader reader = Watch(&context, 1);
  WatchJobResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.job().state(), Job::STARTING);
  context.TryCancel();
}

TEST_F(WatchReactorTest, EndedJobOfKnownVersionEndsAtOnce) {
  const Job ended = loopback_.scheduler().SetState("a", Job::FAILED);
  Context context;
  const Reader reader = Watch(&context, ended.version());
  WatchJobResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(WatchReactorTest, ProgressIsToldWithoutANewVersion) {
  Context context;
  const Reader reader = Watch(&context, 1);
  ASSERT_TRUE(loopback_.scheduler().WaitForWatches(1));
  ordo::jobs::v1::Progress progress;
  progress.set_step(7);
  loopback_.scheduler().PutProgress("a", progress);
  WatchJobResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.job().progress().step(), 7);
  context.TryCancel();
}

TEST_F(WatchReactorTest, ClientThatReadsLateGetsTheNewestAndTheEnd) {
  Context context;
  const Reader reader = Watch(&context, 0);
  WatchJobResponse response;
  ASSERT_TRUE(reader->Read(&response));
  ordo::jobs::v1::Progress progress;
  constexpr int kNumChanges = 2000;
  for (int i = 1; i <= kNumChanges; ++i) {
    progress.set_step(i);
    loopback_.scheduler().PutProgress("a", progress);
  }
  loopback_.scheduler().SetState("a", Job::SUCCEEDED);
  int64_t last_step = 0;
  Job::State state = Job::STATE_UNSPECIFIED;
  while (reader->Read(&response)) {
    EXPECT_GE(response.job().progress().step(), last_step);
    last_step = response.job().progress().step();
    state = response.job().state();
  }
  EXPECT_EQ(last_step, kNumChanges);
  EXPECT_EQ(state, Job::SUCCEEDED);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(WatchReactorTest, ClientThatGoesAwayEndsTheWatch) {
  Context context;
  const Reader reader = Watch(&context, 0);
  ASSERT_TRUE(loopback_.scheduler().WaitForWatches(1));
  context.TryCancel();
  EXPECT_TRUE(loopback_.scheduler().WaitForWatches(0));
}

TEST_F(WatchReactorTest, SchedulerThatLeavesEndsTheWatchAsUnavailable) {
  Context context;
  const Reader reader = Watch(&context, 0);
  WatchJobResponse response;
  ASSERT_TRUE(reader->Read(&response));
  loopback_.scheduler().Leave();
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(loopback_.scheduler().WaitForWatches(0));
}

TEST_F(WatchReactorTest, DrainOfTheServerEndsTheWatch) {
  Context context;
  const Reader reader = Watch(&context, 0);
  WatchJobResponse response;
  ASSERT_TRUE(reader->Read(&response));
  loopback_.server().Drain(absl::ZeroDuration());
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_TRUE(loopback_.scheduler().WaitForWatches(0));
}

TEST_F(WatchReactorTest, ManyWatchesOfOneJobAreAllTold) {
  constexpr int kNumWatches = 50;
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<Reader> readers;
  for (int i = 0; i < kNumWatches; ++i) {
    contexts.push_back(std::make_unique<Context>());
    readers.push_back(Watch(contexts.back().get(), 1));
  }
  ASSERT_TRUE(loopback_.scheduler().WaitForWatches(kNumWatches));
  loopback_.scheduler().SetState("a", Job::SUCCEEDED);
  for (const Reader& reader : readers) {
    WatchJobResponse response;
    ASSERT_TRUE(reader->Read(&response));
    EXPECT_EQ(response.job().state(), Job::SUCCEEDED);
    EXPECT_FALSE(reader->Read(&response));
    EXPECT_TRUE(reader->Finish().ok());
  }
  EXPECT_TRUE(loopback_.scheduler().WaitForWatches(0));
}

TEST_F(WatchReactorTest, BadRequestsAreRefused) {
  const auto status = [this](const std::string& name, int64_t version) {
    Context context;
    const Reader reader = Watch(&context, version, name);
    WatchJobResponse response;
    EXPECT_FALSE(reader->Read(&response));
    return reader->Finish();
  };
  EXPECT_EQ(status("jobs/b", 0).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(FieldOf(status("a", 0)), "name");
  EXPECT_EQ(FieldOf(status("jobs/a", -1)), "from_version");
}

}  // namespace
}  // namespace ordo::services::jobs

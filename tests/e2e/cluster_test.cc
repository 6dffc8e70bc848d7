// Workers closed and opened by people, what makes room for others, and what was
// used.
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "base/units/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/queues/v1/queues.grpc.pb.h"
#include "proto/ordo/usage/v1/usage.grpc.pb.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using queues::v1::Queue;
using queues::v1::QueuesService;
using workers::v1::Worker;
using workers::v1::WorkersService;

class ClusterTest : public Scenario {
 protected:
  // Makes a call of the API.
  template <typename Stub, typename Method, typename Request, typename Response>
  absl::Status Call(Stub& stub, const Method& method, const Request& request,
                    Response* response) {
    base::CallOptions options;
    options.user = base::LocalUser();
    options.wait_for_ready = true;
    grpc::ClientContext context;
    base::PrepareCall(options, &context);
    return base::FromGrpcStatus((stub.*method)(&context, request, response));
  }

  std::unique_ptr<WorkersService::Stub> Workers() {
    return WorkersService::NewStub(base::Connect(deployment_->api_address()));
  }

  std::unique_ptr<QueuesService::Stub> Queues() {
    return QueuesService::NewStub(base::Connect(deployment_->api_address()));
  }

  // A queue with this quota of processors.
  absl::StatusOr<Queue> CreateQueue(const std::string& id,
                                    const queues::v1::Quota& quota) {
    queues::v1::CreateQueueRequest request;
    request.set_queue_id(id);
    *request.mutable_queue()->add_quotas() = quota;
    request.mutable_queue()->mutable_quotas(0)->set_device("cpu");
    Queue queue;
    ORDO_RETURN_IF_ERROR(
        Call(*Queues(), &QueuesService::Stub::CreateQueue, request, &queue));
    return queue;
  }

  // The only worker, once it is there.
  Worker GetWorker() {
    const auto stub = Workers();
    workers::v1::ListWorkersResponse response;
    EXPECT_TRUE(WaitFor([&] {
      response.Clear();
      const absl::Status status =
          Call(*stub, &WorkersService::Stub::ListWorkers,
               workers::v1::ListWorkersRequest(), &response);
      return status.ok() && response.workers_size() == 1;
    }));
    return response.workers_size() == 1 ? response.workers(0) : Worker();
  }

  // One of the deployment's logs has this text.
  bool LogHas(const std::string& text) {
    const auto names = files_.List(folder_.Path("log"));
    if (!names.ok()) return false;
    for (const std::string& name : *names) {
      const auto log =
          base::ReadFile(files_, folder_.Path("log/" + name), 16 << 20);
      if (log.ok() && absl::StrContains(*log, text)) return true;
    }
    return false;
  }

  absl::StatusOr<Worker> Cordon() {
    workers::v1::CordonWorkerRequest request;
    request.set_name(GetWorker().name());
    request.set_reason("new disks");
    Worker worker;
    ORDO_RETURN_IF_ERROR(Call(*Workers(), &WorkersService::Stub::CordonWorker,
                              request, &worker));
    return worker;
  }

  // At once, unless a time is given.
  absl::StatusOr<Worker> Drain(std::optional<absl::Time> at = std::nullopt) {
    workers::v1::DrainWorkerRequest request;
    request.set_name(GetWorker().name());
    if (at.has_value()) *request.mutable_drain_time() = base::ToTimestamp(*at);
    Worker worker;
    ORDO_RETURN_IF_ERROR(
        Call(*Workers(), &WorkersService::Stub::DrainWorker, request, &worker));
    return worker;
  }

  absl::StatusOr<Worker> Uncordon() {
    workers::v1::UncordonWorkerRequest request;
    request.set_name(GetWorker().name());
    Worker worker;
    ORDO_RETURN_IF_ERROR(Call(*Workers(), &WorkersService::Stub::UncordonWorker,
                              request, &worker));
    return worker;
  }

  absl::StatusOr<Worker> ReleaseDevice(const std::string& device) {
    workers::v1::ReleaseDeviceRequest request;
    request.set_name(GetWorker().name());
    request.set_device(device);
    request.set_reason("new cable");
    Worker worker;
    ORDO_RETURN_IF_ERROR(Call(*Workers(), &WorkersService::Stub::ReleaseDevice,
                              request, &worker));
    return worker;
  }

  absl::StatusOr<usage::v1::ReportUsageResponse> Usage() {
    const auto stub = usage::v1::UsageService::NewStub(
        base::Connect(deployment_->api_address()));
    usage::v1::ReportUsageResponse response;
    ORDO_RETURN_IF_ERROR(Call(*stub,
                              &usage::v1::UsageService::Stub::ReportUsage,
                              usage::v1::ReportUsageRequest(), &response));
    return response;
  }
};

TEST_F(ClusterTest, NothingStartsOnACordonedWorkerUntilItIsUncordoned) {
  Start("");
  ORDO_ASSERT_OK_AND_ASSIGN(const Worker cordoned, Cordon());
  EXPECT_TRUE(cordoned.cordoned());
  EXPECT_EQ(cordoned.changes(0).user(), base::LocalUser());
  KillScheduler();
  EXPECT_EQ(GetWorker().closed_reason(), "new disks");
  Submit(Spec("job"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain("job"));
  ASSERT_GE(explained.blockers_size(), 1);
  EXPECT_EQ(explained.blockers(0).reason(), "NO_WORKER");
  ORDO_ASSERT_OK(Uncordon());
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
}

TEST_F(ClusterTest, TheSchedulersLogSaysWhoChangedWhatAndWhy) {
  Start("");
  ORDO_ASSERT_OK_AND_ASSIGN(const Worker cordoned, Cordon());
  const std::string line = absl::StrCat(
      "changed name=", cordoned.name(), " user=", base::LocalUser(),
      " verified=false action=cordon reason=\"new disks\"");
  EXPECT_TRUE(WaitFor([&] { return LogHas(line); })) << line;
}

TEST_F(ClusterTest, QueueHoldsNoMoreThanItMayUntilItsLimitIsLifted) {
  Start("");
  queues::v1::Quota quota;
  quota.set_limit(0);
  ORDO_ASSERT_OK_AND_ASSIGN(Queue queue, CreateQueue("night", quota));
  JobSpec spec = Spec("job");
  spec.set_queue("night");
  Submit(spec);
  KillScheduler();
  // It is back, and there is a worker that could run the job.
  EXPECT_EQ(GetWorker().state(), Worker::ONLINE);
  Submit(Spec("other"));
  ASSERT_TRUE(WaitForState("other", Job::SUCCEEDED).has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain("job"));
  ASSERT_GE(explained.blockers_size(), 1);
  EXPECT_EQ(explained.blockers(0).reason(), "QUEUE_LIMIT");

  queues::v1::UpdateQueueRequest update;
  update.mutable_queue()->set_name("queues/night");
  update.mutable_queue()->set_etag(queue.etag());
  update.mutable_update_mask()->add_paths("quotas");
  ORDO_ASSERT_OK(
      Call(*Queues(), &QueuesService::Stub::UpdateQueue, update, &queue));
  EXPECT_EQ(queue.changes_size(), 2);
  EXPECT_EQ(queue.changes(1).user(), base::LocalUser());
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
}

TEST_F(ClusterTest, WhatADrainStopsGoesOnFromThere) {
  Start("job:hold_at=30");
  Submit(Spec("undisturbed"));
  ASSERT_TRUE(WaitForState("undisturbed", Job::SUCCEEDED).has_value());
  Submit(Spec("job"));
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 29; }));
  ORDO_ASSERT_OK(Drain());
  const auto queued = WaitForState("job", Job::QUEUED);
  ASSERT_TRUE(queued.has_value());
  EXPECT_EQ(queued->attempts(0).reason(), "STOPPED");
  EXPECT_GE(queued->attempts(0).end_step(), 29);

  Release("job");
  ORDO_ASSERT_OK(Uncordon());

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->failed_attempts(), 0);
  EXPECT_EQ(job->attempts(1).start_step(), job->attempts(0).end_step());
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

TEST_F(ClusterTest, BeforeADrainOnlyWhatEndsInTimeIsStarted) {
  Start("");
  ORDO_ASSERT_OK(Drain(absl::Now() + absl::Minutes(10)));
  JobSpec crossing = Spec("crossing");
  crossing.mutable_run_time_limit()->set_seconds(3600);
  Submit(crossing);
  Submit(Spec("endless"));
  JobSpec in_time = Spec("in-time");
  in_time.mutable_run_time_limit()->set_seconds(60);
  Submit(in_time);
  // The others came earlier, and would have gone first.
  ASSERT_TRUE(WaitForState("in-time", Job::SUCCEEDED).has_value());
  for (const char* waiting : {"crossing", "endless"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const Job job, deployment_->Get(waiting));
    EXPECT_EQ(job.state(), Job::QUEUED) << waiting;
    EXPECT_EQ(job.attempts_size(), 0) << waiting;
  }
  ORDO_ASSERT_OK(Uncordon());
  EXPECT_TRUE(WaitForState("crossing", Job::SUCCEEDED).has_value());
  EXPECT_TRUE(WaitForState("endless", Job::SUCCEEDED).has_value());
}

TEST_F(ClusterTest, WhatIsPreemptedGoesOnFromItsCheckpoint) {
  harness::DeploymentOptions options =
      Options("job:hold_at=30;urgent:hold_at=5");
  options.scheduler.mutable_min_run_time()->set_seconds(0);
  Start(options);
  Submit(Spec("undisturbed"));
  ASSERT_TRUE(WaitForState("undisturbed", Job::SUCCEEDED).has_value());
  // It can afford neither a failure nor an interruption.
  JobSpec spec = Spec("job");
  spec.mutable_retry()->set_max_attempts(1);
  spec.mutable_retry()->set_max_interruptions(1);
  Submit(spec);
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 29; }));
  JobSpec urgent = Spec("urgent");
  urgent.set_priority(10);
  Submit(urgent);
  ASSERT_TRUE(WaitForState("urgent", Job::RUNNING).has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const Job preempted, deployment_->Get("job"));
  EXPECT_EQ(preempted.state(), Job::QUEUED);
  ASSERT_EQ(preempted.attempts_size(), 1);
  EXPECT_EQ(preempted.attempts(0).reason(), "PREEMPTED");
  EXPECT_GE(preempted.attempts(0).end_step(), 29);

  // An attempt that stopped at 29 leaves the hold to the next.
  Release("job");
  Release("urgent");
  EXPECT_TRUE(WaitForState("urgent", Job::SUCCEEDED).has_value());
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->failed_attempts(), 0);
  EXPECT_EQ(job->interruptions(), 0);
  EXPECT_EQ(job->attempts(0).lost_steps(), 0);
  EXPECT_EQ(job->attempts(1).start_step(), job->attempts(0).end_step());
  EXPECT_EQ(job->attempts(1).start_digest(), job->attempts(0).end_digest());
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

TEST_F(ClusterTest, WhatAQueueBorrowedIsTakenBackAndGoesOnFromItsCheckpoint) {
  harness::DeploymentOptions options =
      Options("job:hold_at=30;kept:hold_at=30;owed:hold_at=5");
  options.scheduler.mutable_min_run_time()->set_seconds(0);
  options.worker.add_devices("cpu:0");
  options.worker.add_devices("cpu:1");
  Start(options);
  queues::v1::Quota one;
  one.set_guaranteed(1);
  ORDO_ASSERT_OK(CreateQueue("day", one));
  ORDO_ASSERT_OK(CreateQueue("night", one));
  Submit(Spec("undisturbed"));
  ASSERT_TRUE(WaitForState("undisturbed", Job::SUCCEEDED).has_value());
  // The queue of these two has one device of its own.
  JobSpec kept = Spec("kept");
  kept.set_queue("night");
  kept.set_priority(10);
  Submit(kept);
  JobSpec spec = Spec("job");
  spec.set_queue("night");
  // It can afford neither a failure nor an interruption.
  spec.mutable_retry()->set_max_attempts(1);
  spec.mutable_retry()->set_max_interruptions(1);
  Submit(spec);
  ASSERT_TRUE(WaitForState("kept", Job::RUNNING).has_value());
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 29; }));

  // No more urgent than what it takes the place of.
  JobSpec owed = Spec("owed");
  owed.set_queue("day");
  Submit(owed);
  ASSERT_TRUE(WaitForState("owed", Job::RUNNING).has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const Job preempted, deployment_->Get("job"));
  EXPECT_EQ(preempted.state(), Job::QUEUED);
  ASSERT_EQ(preempted.attempts_size(), 1);
  EXPECT_EQ(preempted.attempts(0).reason(), "PREEMPTED");
  EXPECT_GE(preempted.attempts(0).end_step(), 29);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto latest, LatestCheckpoint("job"));
  EXPECT_EQ(latest.step(), preempted.attempts(0).end_step());

  for (const char* held : {"job", "kept", "owed"}) Release(held);
  for (const char* other : {"kept", "owed"}) {
    const auto ended = WaitForState(other, Job::SUCCEEDED);
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(ended->attempts_size(), 1) << other;
  }
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->failed_attempts(), 0);
  EXPECT_EQ(job->interruptions(), 0);
  EXPECT_EQ(job->attempts(0).lost_steps(), 0);
  EXPECT_EQ(job->attempts(1).start_step(), job->attempts(0).end_step());
  EXPECT_EQ(job->attempts(1).start_digest(), job->attempts(0).end_digest());
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

TEST_F(ClusterTest, ADeviceThatFailsJobsIsUsedAgainWhenItIsReleased) {
  Start("bad-a:exit_at=1,exit_code=15;bad-b:exit_at=1,exit_code=15");
  Submit(Spec("bad-a"));
  Submit(Spec("bad-b"));
  const auto is_in_quarantine = [this] {
    const Worker worker = GetWorker();
    return worker.state() == Worker::ONLINE && worker.devices_size() == 1 &&
           worker.devices(0).has_quarantine();
  };
  ASSERT_TRUE(WaitFor(is_in_quarantine));
  KillScheduler();
  // It is back, and the worker with it.
  ASSERT_TRUE(WaitFor(is_in_quarantine));
  Submit(Spec("job"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain("job"));
  EXPECT_THAT(explained.summary(),
              ::testing::HasSubstr("cpu:0 of " + GetWorker().name().substr(8) +
                                   " is in quarantine since "));
  ORDO_ASSERT_OK_AND_ASSIGN(const Worker worker, ReleaseDevice("cpu:0"));
  EXPECT_EQ(worker.changes(0).action(), "release cpu:0");
  EXPECT_EQ(worker.changes(0).user(), base::LocalUser());
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
}

TEST_F(ClusterTest, UsageIsOfWhoSubmitted) {
  Start("");
  Submit(Spec("job"));
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const auto usage, Usage());
  ASSERT_EQ(usage.rows_size(), 1);
  EXPECT_EQ(usage.rows(0).key(), base::LocalUser());
  EXPECT_EQ(usage.rows(0).attempts(), 1);
  EXPECT_GT(usage.rows(0).used_device_seconds(), 0);
  EXPECT_EQ(usage.rows(0).lost_device_seconds(), 0);
  EXPECT_NEAR(
      usage.total().used_device_seconds() + usage.total().idle_device_seconds(),
      job->attempts(0).device_seconds(), 1e-6);
}

}  // namespace
}  // namespace ordo::tests::e2e

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/metrics/testing/scrape.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/status.h"
#include "base/version/worker_protocol.h"
#include "proto/ordo/agent/v1/agent.grpc.pb.h"
#include "tests/bench/jobs_client.h"
#include "tests/bench/measure.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

using harness::Deployment;
using harness::DeploymentOptions;

constexpr int kJobs = 10'000;
constexpr int kWorkers = 200;
constexpr int kDevices = 8;
constexpr int kBatchSize = 1000;
constexpr int kRounds = 3;
constexpr int kScrapes = 30;
constexpr absl::Duration kDeadline = absl::Minutes(2);

// Answers for any number of workers: all that is desired of them runs.
class PretendWorkers : public agent::v1::WorkerAgentService::CallbackService {
 public:
  grpc::ServerUnaryReactor* SetDesired(
      grpc::CallbackServerContext* context,
      const agent::v1::SetDesiredRequest* request,
      agent::v1::SetDesiredResponse* response) override {
    agent::v1::ObservedSet& set = *response->mutable_observed();
    // Larger than that of any answer before.
    set.set_sequence(++sequence_);
    for (const agent::v1::DesiredAttempt& desired : request->attempts()) {
      agent::v1::ObservedAttempt& attempt = *set.add_attempts();
      attempt.set_job(desired.job());
      attempt.set_attempt(desired.attempt());
      attempt.set_rank(desired.rank());
      attempt.set_phase(agent::v1::ObservedAttempt::RUNNING);
      attempt.mutable_started();
      attempt.mutable_step()->set_step(10);
      attempt.mutable_step()->set_loss(2.5);
      attempt.mutable_step()->set_tokens_per_second(12345.5);
      attempt.mutable_step()->set_step_seconds(0.25);
    }
    return base::Finish(context, absl::OkStatus());
  }

 private:
  std::atomic<int64_t> sequence_{1};
};

absl::Status AnnounceAll(const std::string& scheduler,
                         const std::string& address, int num_workers) {
  const auto stub =
      agent::v1::SchedulerAgentService::NewStub(base::Connect(scheduler));
  for (int i = 0; i < num_workers; ++i) {
    agent::v1::AnnounceRequest request;
    request.set_worker(absl::StrCat("worker-", i));
    request.set_incarnation("first");
    request.set_address(address);
    request.set_protocol(base::kWorkerProtocol);
    for (int k = 0; k < kDevices; ++k) {
      workers::v1::Device& device = *request.add_devices();
      device.set_name(absl::StrCat("cpu:", k));
      device.set_kind("cpu");
    }
    request.mutable_observed()->set_sequence(1);
    grpc::ClientContext context;
    base::PrepareCall({absl::Seconds(10), "", true}, &context);
    agent::v1::AnnounceResponse response;
    ORDO_RETURN_IF_ERROR(
        base::FromGrpcStatus(stub->Announce(&context, request, &response)));
  }
  return absl::OkStatus();
}

// Jobs that run on every device of the workers, and others that wait.
absl::Status Fill(Deployment& deployment, int num_running, int num_jobs) {
  std::vector<jobs::v1::JobSpec> batch;
  for (int i = 0; i < num_running; ++i) {
    batch.push_back(TrainingJob(absl::StrCat("running-", i), "cpu"));
    if (static_cast<int>(batch.size()) < kBatchSize && i + 1 < num_running) {
      continue;
    }
    ORDO_RETURN_IF_ERROR(CreateBatch(deployment.jobs(), batch));
    batch.clear();
  }
  const int num_waiting = num_jobs - num_running;
  const int size = std::min(kBatchSize, num_waiting);
  return CreateQueued(deployment.jobs(),
                      {"waiting", num_waiting / size, size, Specs::kShared});
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkScrape(
    const BenchmarkOptions& options) {
  const int num_workers = options.Count(kWorkers, 2);
  const int num_running = num_workers * kDevices;
  const int num_jobs = options.Count(kJobs, 2 * num_running);
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.start_workers = false;
  deploy.scheduler.set_calls_per_second(0);
  deploy.worker.set_trainer(harness::Program("noop_trainer"));
  ORDO_ASSIGN_OR_RETURN(const auto deployment, Deployment::Start(deploy));
  PretendWorkers service;
  ORDO_ASSIGN_OR_RETURN(const auto server,
                        base::RpcServer::Start({}, {&service}));
  ORDO_RETURN_IF_ERROR(
      AnnounceAll(deployment->api_address(), server->address(), num_workers));
  ORDO_RETURN_IF_ERROR(Fill(*deployment, num_running, num_jobs));

  const std::string all_run = absl::StrCat(
      "ordo_scheduler_state_jobs{state=\"RUNNING\"} ", num_running, "\n");
  std::string page;
  const absl::Time deadline = absl::Now() + kDeadline;
  while (!absl::StrContains(page, all_run)) {
    if (absl::Now() > deadline) {
      return absl::DeadlineExceededError("the jobs do not all run");
    }
    harness::Pass(absl::Milliseconds(50));
    page = base::testing::ScrapeMetrics(deployment->scheduler_metrics());
  }
  Latencies latencies;
  for (int round = 0; round < options.Count(kRounds, 1); ++round) {
    std::vector<double> times;
    for (int i = 0; i < options.Count(kScrapes, 3); ++i) {
      const absl::Time start = absl::Now();
      page = base::testing::ScrapeMetrics(deployment->scheduler_metrics());
      times.push_back(absl::ToDoubleSeconds(absl::Now() - start));
      if (!absl::StrContains(page, "ordo_scheduler_state_jobs")) {
        return absl::InternalError("a page without the metrics");
      }
    }
    latencies.AddRound(times);
  }
  std::vector<Measurement> out;
  latencies.AddTo({"scrape",
                   "scrape_latency",
                   0,
                   "s",
                   {{"jobs", absl::StrCat(num_jobs)},
                    {"workers", absl::StrCat(num_workers)},
                    {"devices", absl::StrCat(num_running)},
                    {"page_bytes", absl::StrCat(page.size())}},
                   "",
                   0,
                   0},
                  &out);
  return out;
}

}  // namespace ordo::tests::bench

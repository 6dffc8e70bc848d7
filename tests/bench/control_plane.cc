#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "google/protobuf/util/time_util.h"
#include "tests/bench/measure.h"
#include "tests/bench/system.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

using harness::Deployment;
using harness::DeploymentOptions;
using jobs::v1::JobSpec;
using jobs::v1::JobsService;

constexpr int kRounds = 5;
constexpr int kCallsOfOneClient = 200;
constexpr int kClients = 16;
constexpr int kCallsPerClient = 50;
constexpr int kBatchSize = 1000;
constexpr int kBatchesOfARound = 2;
constexpr int kDispatchesOfARound = 40;
constexpr int kStoredJobs = 10000;
constexpr int kRestarts = 5;

// A small training job. One that asks for a GPU stays queued in a deployment
// without workers that have one.
JobSpec TrainingJob(const std::string& name, const std::string& device) {
  JobSpec spec;
  spec.set_kind(JobSpec::TRAIN);
  spec.set_name(name);
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(1);
  spec.mutable_resources()->set_device(device);
  return spec;
}

double Milliseconds(absl::Duration duration) {
  return absl::ToDoubleMilliseconds(duration);
}

// Creates `count` jobs one after the other; milliseconds of each call.
absl::StatusOr<std::vector<double>> CreateEach(JobsService::Stub& stub,
                                               const std::string& prefix,
                                               int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    grpc::ClientContext context;
    base::PrepareCall({}, &context);
    jobs::v1::CreateJobRequest request;
    *request.mutable_job()->mutable_spec() =
        TrainingJob(absl::StrCat(prefix, "-", i), "cuda");
    jobs::v1::Job job;
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(
        base::FromGrpcStatus(stub.CreateJob(&context, request, &job)));
    times.push_back(Milliseconds(absl::Now() - start));
  }
  return times;
}

struct Batches {
  int count = 1;
  int size = 1;
};

// Creates batches; jobs per second of each.
absl::StatusOr<std::vector<double>> CreateBatches(JobsService::Stub& stub,
                                                  const std::string& prefix,
                                                  Batches batches) {
  std::vector<double> rates;
  for (int b = 0; b < batches.count; ++b) {
    grpc::ClientContext context;
    base::CallOptions call;
    call.timeout = absl::Minutes(1);
    base::PrepareCall(call, &context);
    jobs::v1::BatchCreateJobsRequest request;
    for (int i = 0; i < batches.size; ++i) {
      *request.add_requests()->mutable_job()->mutable_spec() =
          TrainingJob(absl::StrCat(prefix, "-", b, "-", i), "cuda");
    }
    jobs::v1::BatchCreateJobsResponse response;
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
        stub.BatchCreateJobs(&context, request, &response)));
    rates.push_back(batches.size / absl::ToDoubleSeconds(absl::Now() - start));
  }
  return rates;
}

// Clients with a connection each.
class Clients {
 public:
  explicit Clients(const std::string& address) {
    for (int c = 0; c < kClients; ++c) {
      stubs_.push_back(JobsService::NewStub(base::ConnectAlone(address)));
    }
  }

  // Latencies of all clients at once, and their rate together.
  absl::StatusOr<std::pair<std::vector<double>, double>> CreateAtOnce(
      const std::string& prefix, int calls_of_each) {
    std::vector<absl::StatusOr<std::vector<double>>> results(kClients);
    std::vector<std::thread> threads;
    const absl::Time start = absl::Now();
    for (int c = 0; c < kClients; ++c) {
      threads.emplace_back([&, c] {
        results[c] =
            CreateEach(*stubs_[c], absl::StrCat(prefix, "-", c), calls_of_each);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    std::vector<double> all;
    for (const auto& result : results) {
      ORDO_RETURN_IF_ERROR(result.status());
      all.insert(all.end(), result->begin(), result->end());
    }
    return std::make_pair(all, kClients * calls_of_each / seconds);
  }

 private:
  std::vector<std::unique_ptr<JobsService::Stub>> stubs_;
};

// A sample of each round.
struct Latencies {
  std::vector<double> p50;
  std::vector<double> p99;

  void AddRound(const std::vector<double>& times) {
    p50.push_back(Quantile(times, 0.5));
    p99.push_back(Quantile(times, 0.99));
  }
};

void AddLatencies(Measurement about, const Latencies& latencies,
                  std::vector<Measurement>* out) {
  about.unit = "ms";
  const std::string metric = about.metric;
  about.metric = metric + "_p50";
  out->push_back(MedianOf(about, latencies.p50));
  about.metric = metric + "_p99";
  out->push_back(MedianOf(about, latencies.p99));
}

Measurement JobsPerSecond(const std::map<std::string, std::string>& params) {
  return {"submit", "jobs_per_second", 0, "1/s", params, "", 0, 0};
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkSubmit(
    const BenchmarkOptions& options) {
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.start_worker = false;
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
  Clients clients(deployment->api_address());
  ORDO_RETURN_IF_ERROR(
      CreateEach(deployment->jobs(), "warm", options.Count(50, 1)));
  // The deployment's own has called by now.
  ORDO_ASSIGN_OR_RETURN(const int connections,
                        ConnectionsTo(deployment->api_address()));
  ORDO_RETURN_IF_ERROR(
      clients.CreateAtOnce("warm", options.Count(5, 1)).status());
  ORDO_RETURN_IF_ERROR(
      CheckNewConnections(deployment->api_address(), connections, kClients));

  Latencies one, many;
  std::vector<double> rates_of_many, rates_of_batches;
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    ORDO_ASSIGN_OR_RETURN(
        const auto times,
        CreateEach(deployment->jobs(), absl::StrCat("one-", round),
                   options.Count(kCallsOfOneClient, 2)));
    one.AddRound(times);
    ORDO_ASSIGN_OR_RETURN(
        const auto at_once,
        clients.CreateAtOnce(absl::StrCat("many-", round),
                             options.Count(kCallsPerClient, 2)));
    many.AddRound(at_once.first);
    rates_of_many.push_back(at_once.second);
    ORDO_ASSIGN_OR_RETURN(
        const auto rates,
        CreateBatches(deployment->jobs(), absl::StrCat("batch-", round),
                      {options.Count(kBatchesOfARound, 1),
                       options.Count(kBatchSize, 2)}));
    rates_of_batches.insert(rates_of_batches.end(), rates.begin(), rates.end());
  }
  const std::map<std::string, std::string> of_many = {
      {"clients", absl::StrCat(kClients)},
      {"connections", absl::StrCat(kClients)}};
  std::vector<Measurement> out;
  AddLatencies({"submit", "acknowledged", 0, "", {{"clients", "1"}}, "", 0, 0},
               one, &out);
  AddLatencies({"submit", "acknowledged", 0, "", of_many, "", 0, 0}, many,
               &out);
  out.push_back(MedianOf(JobsPerSecond(of_many), rates_of_many));
  const int batch = options.Count(kBatchSize, 2);
  out.push_back(MedianOf(JobsPerSecond({{"batch", absl::StrCat(batch)}}),
                         rates_of_batches));
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkDispatch(
    const BenchmarkOptions& options) {
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.worker.set_trainer(harness::Program("fake_trainer"));
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
  Latencies latencies;
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    std::vector<double> times;
    for (int i = 0; i < options.Count(kDispatchesOfARound, 2); ++i) {
      const std::string name = absl::StrCat("dispatch-", round, "-", i);
      ORDO_RETURN_IF_ERROR(
          deployment->Create(TrainingJob(name, "cpu")).status());
      ORDO_ASSIGN_OR_RETURN(const auto job,
                            deployment->WaitForEnd(name, absl::Seconds(30)));
      if (job.state() != jobs::v1::Job::SUCCEEDED) {
        return absl::InternalError("job failed: " + job.message());
      }
      // Both times are of this machine's one clock: the record of the
      // submission and the first record that the trainer wrote.
      times.push_back(google::protobuf::util::TimeUtil::DurationToMicroseconds(
                          job.attempts(0).run_time() - job.create_time()) /
                      1000.0);
    }
    latencies.AddRound(times);
  }
  std::vector<Measurement> out;
  AddLatencies(
      {"dispatch", "queued_to_started", 0, "", {{"trainer", "fake"}}, "", 0, 0},
      latencies, &out);
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkRestart(
    const BenchmarkOptions& options) {
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.start_worker = false;
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
  const int stored = options.Count(kStoredJobs, 2);
  const int batch = options.Count(kBatchSize, 2);
  ORDO_RETURN_IF_ERROR(
      CreateBatches(deployment->jobs(), "stored", {stored / batch, batch})
          .status());
  std::vector<double> times;
  for (int i = 0; i < options.Count(kRestarts, 2); ++i) {
    ORDO_RETURN_IF_ERROR(deployment->EndScheduler(SIGKILL).status());
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(deployment->StartScheduler());
    ORDO_RETURN_IF_ERROR(deployment->Get("stored-0-0").status());
    times.push_back(Milliseconds(absl::Now() - start));
  }
  return std::vector<Measurement>{MedianOf({"restart",
                                            "killed_to_serving",
                                            0,
                                            "ms",
                                            {{"jobs", absl::StrCat(stored)}},
                                            "",
                                            0,
                                            0},
                                           times)};
}

}  // namespace ordo::tests::bench

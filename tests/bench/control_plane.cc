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
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

using harness::Deployment;
using harness::DeploymentOptions;
using jobs::v1::JobSpec;
using jobs::v1::JobsService;

constexpr int kCallsOfOneClient = 1000;
constexpr int kClients = 16;
constexpr int kCallsPerClient = 250;
constexpr int kBatchSize = 1000;
constexpr int kBatches = 10;
constexpr int kDispatches = 100;
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

std::unique_ptr<JobsService::Stub> Client(const Deployment& deployment) {
  return JobsService::NewStub(base::Connect(deployment.api_address()));
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

// Creates batches; jobs per second of each.
absl::StatusOr<std::vector<double>> CreateBatches(JobsService::Stub& stub,
                                                  const std::string& prefix,
                                                  int batches) {
  std::vector<double> rates;
  for (int b = 0; b < batches; ++b) {
    grpc::ClientContext context;
    base::CallOptions call;
    call.timeout = absl::Minutes(1);
    base::PrepareCall(call, &context);
    jobs::v1::BatchCreateJobsRequest request;
    for (int i = 0; i < kBatchSize; ++i) {
      *request.add_requests()->mutable_job()->mutable_spec() =
          TrainingJob(absl::StrCat(prefix, "-", b, "-", i), "cuda");
    }
    jobs::v1::BatchCreateJobsResponse response;
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
        stub.BatchCreateJobs(&context, request, &response)));
    rates.push_back(kBatchSize / absl::ToDoubleSeconds(absl::Now() - start));
  }
  return rates;
}

// Latencies of several clients at once, and their rate together.
absl::StatusOr<std::pair<std::vector<double>, double>> CreateAtOnce(
    const Deployment& deployment) {
  std::vector<absl::StatusOr<std::vector<double>>> results(kClients);
  std::vector<std::thread> threads;
  const absl::Time start = absl::Now();
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&deployment, &results, c] {
      results[c] = CreateEach(*Client(deployment), absl::StrCat("many-", c),
                              kCallsPerClient);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  std::vector<double> all;
  for (const auto& result : results) {
    ORDO_RETURN_IF_ERROR(result.status());
    all.insert(all.end(), result->begin(), result->end());
  }
  return std::make_pair(all, kClients * kCallsPerClient / seconds);
}

void AddLatencies(const std::string& benchmark, const std::string& metric,
                  const std::map<std::string, std::string>& params,
                  const std::vector<double>& times,
                  std::vector<Measurement>* out) {
  for (const auto& [name, q] :
       {std::pair("p50", 0.5), std::pair("p99", 0.99)}) {
    const double value = Quantile(times, q);
    out->push_back({benchmark, absl::StrCat(metric, "_", name), value, "ms",
                    params, "", value, value});
  }
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkSubmit(
    const std::string& folder) {
  DeploymentOptions options;
  options.folder = folder;
  options.start_worker = false;
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(options));
  ORDO_RETURN_IF_ERROR(CreateEach(deployment->jobs(), "warm", 50));

  std::vector<Measurement> out;
  ORDO_ASSIGN_OR_RETURN(
      const auto one, CreateEach(deployment->jobs(), "one", kCallsOfOneClient));
  AddLatencies("submit", "acknowledged", {{"clients", "1"}}, one, &out);
  ORDO_ASSIGN_OR_RETURN(const auto many, CreateAtOnce(*deployment));
  AddLatencies("submit", "acknowledged", {{"clients", "16"}}, many.first, &out);
  out.push_back({"submit",
                 "jobs_per_second",
                 many.second,
                 "1/s",
                 {{"clients", "16"}},
                 "",
                 many.second,
                 many.second});
  ORDO_ASSIGN_OR_RETURN(const auto rates,
                        CreateBatches(deployment->jobs(), "batch", kBatches));
  out.push_back(MedianOf({"submit",
                          "jobs_per_second",
                          0,
                          "1/s",
                          {{"batch", absl::StrCat(kBatchSize)}},
                          "",
                          0,
                          0},
                         rates));
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkDispatch(
    const std::string& folder) {
  DeploymentOptions options;
  options.folder = folder;
  options.worker.set_trainer(harness::Program("fake_trainer"));
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(options));
  std::vector<double> times;
  for (int i = 0; i < kDispatches; ++i) {
    const std::string name = absl::StrCat("dispatch-", i);
    ORDO_RETURN_IF_ERROR(deployment->Create(TrainingJob(name, "cpu")).status());
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
  std::vector<Measurement> out;
  AddLatencies("dispatch", "queued_to_started", {{"trainer", "fake"}}, times,
               &out);
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkRestart(
    const std::string& folder) {
  DeploymentOptions options;
  options.folder = folder;
  options.start_worker = false;
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(options));
  ORDO_RETURN_IF_ERROR(
      CreateBatches(deployment->jobs(), "stored", kStoredJobs / kBatchSize)
          .status());
  std::vector<double> times;
  for (int i = 0; i < kRestarts; ++i) {
    ORDO_RETURN_IF_ERROR(deployment->EndScheduler(SIGKILL).status());
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(deployment->StartScheduler());
    ORDO_RETURN_IF_ERROR(deployment->Get("stored-0-0").status());
    times.push_back(Milliseconds(absl::Now() - start));
  }
  return std::vector<Measurement>{
      MedianOf({"restart",
                "killed_to_serving",
                0,
                "ms",
                {{"jobs", absl::StrCat(kStoredJobs)}},
                "",
                0,
                0},
               times)};
}

}  // namespace ordo::tests::bench

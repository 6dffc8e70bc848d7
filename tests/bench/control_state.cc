#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/process/use.h"
#include "base/rpc/client.h"
#include "base/status/status.h"
#include "tests/bench/jobs_client.h"
#include "tests/bench/measure.h"
#include "tests/harness/deployment.h"
#include "tests/sim/scale.h"

namespace ordo::tests::bench {
namespace {

using harness::Deployment;
using harness::DeploymentOptions;

constexpr int kBatchSize = 1000;
constexpr int kStoredJobs = 100000;
constexpr int kRestarts = 5;
// As `ordo list` asks.
constexpr int kPageSize = 100;
constexpr int kSubmissionsPerSecond = 500;
constexpr int kIdleJobs = 10000;
constexpr absl::Duration kIdle = absl::Seconds(20);
constexpr absl::Duration kShortIdle = absl::Milliseconds(500);

// A scheduler without workers, and queued jobs in its store.
absl::StatusOr<std::unique_ptr<Deployment>> StartWithJobs(
    const BenchmarkOptions& options, int stored, Specs specs) {
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.start_workers = false;
  // What is measured is how many calls there can be.
  deploy.scheduler.set_calls_per_second(0);
  deploy.worker.set_trainer(harness::Program("noop_trainer"));
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
  const int batch = options.Count(kBatchSize, 2);
  ORDO_RETURN_IF_ERROR(CreateQueued(deployment->jobs(),
                                    {"stored", stored / batch, batch, specs}));
  return deployment;
}

// Submits jobs "<prefix>-<n>-0" at an even rate until it goes.
class SteadySubmitter {
 public:
  SteadySubmitter(const std::string& address, std::string prefix, Specs specs)
      : stub_(jobs::v1::JobsService::NewStub(base::ConnectAlone(address))),
        prefix_(std::move(prefix)),
        specs_(specs),
        thread_([this] { Run(); }) {}
  ~SteadySubmitter() {
    stop_ = true;
    thread_.join();
  }

  int submitted() const { return submitted_; }
  int failed() const { return failed_; }

 private:
  void Run() {
    const absl::Time start = absl::Now();
    const absl::Duration period = absl::Seconds(1) / kSubmissionsPerSecond;
    while (!stop_) {
      const std::string prefix = absl::StrCat(prefix_, "-", submitted_.load());
      const bool made = CreateEach(*stub_, prefix, 1, specs_).ok();
      made ? ++submitted_ : ++failed_;
      harness::Pass(start + period * submitted_.load() - absl::Now());
    }
  }

  const std::unique_ptr<jobs::v1::JobsService::Stub> stub_;
  const std::string prefix_;
  const Specs specs_;
  std::atomic<bool> stop_{false};
  std::atomic<int> submitted_{0};
  std::atomic<int> failed_{0};
  std::thread thread_;
};

// A folder for each, so that stores do not meet.
BenchmarkOptions InFolderOf(Specs specs, BenchmarkOptions options) {
  options.folder = absl::StrCat(options.folder, "/", NameOf(specs));
  return options;
}

absl::StatusOr<Measurement> MeasureRestart(const BenchmarkOptions& options,
                                           Specs specs) {
  const int stored = options.Count(kStoredJobs, 2);
  ORDO_ASSIGN_OR_RETURN(
      auto deployment,
      StartWithJobs(InFolderOf(specs, options), stored, specs));
  std::vector<double> times;
  for (int i = 0; i < options.Count(kRestarts, 2); ++i) {
    ORDO_RETURN_IF_ERROR(deployment->EndScheduler(SIGKILL).status());
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(deployment->StartScheduler());
    ORDO_RETURN_IF_ERROR(deployment->Get("stored-0-0").status());
    times.push_back(absl::ToDoubleSeconds(absl::Now() - start));
  }
  return MedianOf({"restart",
                   "restart_100k",
                   0,
                   "s",
                   {{"jobs", absl::StrCat(stored)}, {"specs", NameOf(specs)}},
                   "",
                   0,
                   0},
                  times);
}

absl::Status MeasureList(const BenchmarkOptions& options, Specs specs,
                         std::vector<Measurement>* out) {
  const int stored = options.Count(kStoredJobs, 2);
  ORDO_ASSIGN_OR_RETURN(
      auto deployment,
      StartWithJobs(InFolderOf(specs, options), stored, specs));
  Latencies pages;
  double submitted = 0;
  for (int round = 0; round < options.Count(3, 1); ++round) {
    const absl::Time start = absl::Now();
    SteadySubmitter submitter(deployment->api_address(),
                              absl::StrCat("steady-", round), specs);
    ORDO_ASSIGN_OR_RETURN(const auto times,
                          ListAll(deployment->jobs(), kPageSize,
                                  [](const jobs::v1::ListJobsResponse&) {}));
    pages.AddRound(times);
    if (submitter.failed() > 0) {
      return absl::InternalError("a submission failed");
    }
    submitted =
        submitter.submitted() / absl::ToDoubleSeconds(absl::Now() - start);
  }
  pages.AddTo(
      {"list",
       "list_page",
       0,
       "s",
       {{"jobs", absl::StrCat(stored)},
        {"page", absl::StrCat(kPageSize)},
        {"specs", NameOf(specs)},
        {"submissions_per_second", absl::StrCat(static_cast<int>(submitted))}},
       "",
       0,
       0},
      out);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkRestart(
    const BenchmarkOptions& options) {
  std::vector<Measurement> out;
  for (const Specs specs : kAllSpecs) {
    ORDO_ASSIGN_OR_RETURN(Measurement restart, MeasureRestart(options, specs));
    out.push_back(std::move(restart));
  }
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkList(
    const BenchmarkOptions& options) {
  std::vector<Measurement> out;
  for (const Specs specs : kAllSpecs) {
    ORDO_RETURN_IF_ERROR(MeasureList(options, specs, &out));
  }
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkIdle(
    const BenchmarkOptions& options) {
  const int queued = options.Count(kIdleJobs, 2);
  ORDO_ASSIGN_OR_RETURN(auto deployment,
                        StartWithJobs(options, queued, Specs::kShared));
  ORDO_RETURN_IF_ERROR(deployment->StartWorker());
  const pid_t scheduler = deployment->scheduler_process().pid;
  std::vector<double> shares;
  for (int i = 0; i < 2; ++i) {
    ORDO_ASSIGN_OR_RETURN(const auto before, base::UseOf(scheduler));
    const absl::Time start = absl::Now();
    harness::Pass(options.quick ? kShortIdle : kIdle);
    ORDO_ASSIGN_OR_RETURN(const auto after, base::UseOf(scheduler));
    shares.push_back((after.cpu_seconds - before.cpu_seconds) /
                     absl::ToDoubleSeconds(absl::Now() - start));
  }
  return std::vector<Measurement>{
      MedianOf({"idle",
                "idle_cpu_share",
                0,
                "1",
                {{"queued", absl::StrCat(queued)}, {"workers", "1"}},
                "",
                0,
                0},
               shares)};
}

absl::StatusOr<std::vector<Measurement>> BenchmarkCore(
    const BenchmarkOptions& options) {
  sim::ScaleOptions scale;
  scale.num_workers = options.Count(scale.num_workers, 2);
  scale.num_jobs = options.Count(scale.num_jobs, 40);
  const sim::ScaleResult result = sim::RunScale(scale);
  ORDO_RETURN_IF_ERROR(result.status);
  const Params params = {{"jobs", absl::StrCat(scale.num_jobs)},
                         {"workers", absl::StrCat(scale.num_workers)}};
  return std::vector<Measurement>{
      MedianOf({"core", "sim_decisions_rate", 0, "1/s", params, "", 0, 0},
               {result.decisions_per_second}),
      MedianOf({"core", "bytes_per_queued_job", 0, "B", params, "", 0, 0},
               {result.bytes_per_queued_job})};
}

}  // namespace ordo::tests::bench

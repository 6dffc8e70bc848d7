#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "google/protobuf/util/time_util.h"
#include "tests/bench/jobs_client.h"
#include "tests/bench/measure.h"
#include "tests/bench/slurm.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

using google::protobuf::util::TimeUtil;
using harness::Deployment;
using harness::DeploymentOptions;
using jobs::v1::Job;

constexpr int kRounds = 5;
constexpr int kStartsOfARound = 40;
constexpr int kNoopRounds = 3;
constexpr int kNoopJobs = 2000;
constexpr int kNoopBatch = 500;
constexpr int kCancels = 20;
constexpr int kSlurmJobs = 1000;
constexpr absl::Duration kDeadline = absl::Minutes(5);
constexpr absl::Duration kLook = absl::Milliseconds(20);

double Seconds(const google::protobuf::Timestamp& from,
               const google::protobuf::Timestamp& to) {
  return static_cast<double>(TimeUtil::TimestampToNanoseconds(to) -
                             TimeUtil::TimestampToNanoseconds(from)) *
         1e-9;
}

// From the first submission to the last end; INTERNAL if a job did not
// succeed. Nothing while some have not ended.
absl::StatusOr<std::optional<double>> SecondsOfAll(Deployment& deployment,
                                                   int count) {
  int succeeded = 0;
  absl::Status failed;
  google::protobuf::Timestamp first, last;
  const auto look = [&](const jobs::v1::ListJobsResponse& page) {
    for (const Job& job : page.jobs()) {
      if (!harness::HasEnded(job)) continue;
      if (job.state() != Job::SUCCEEDED) {
        failed.Update(absl::InternalError(
            absl::StrCat(job.name(), " failed: ", job.message())));
      }
      if (succeeded++ == 0 || job.create_time() < first) {
        first = job.create_time();
      }
      if (last < job.end_time()) last = job.end_time();
    }
  };
  ORDO_RETURN_IF_ERROR(ListAll(deployment.jobs(), 1000, look).status());
  ORDO_RETURN_IF_ERROR(failed);
  if (succeeded < count) return std::optional<double>();
  return std::optional<double>(Seconds(first, last));
}

absl::Status Cancel(Deployment& deployment, const std::string& job) {
  grpc::ClientContext context;
  base::PrepareCall({}, &context);
  jobs::v1::CancelJobRequest request;
  request.set_name("jobs/" + job);
  Job answer;
  return base::FromGrpcStatus(
      deployment.jobs().CancelJob(&context, request, &answer));
}

// The trainer of a job that is running.
absl::StatusOr<base::ProcessId> TrainerOf(const Deployment& deployment,
                                          const std::string& job) {
  for (const auto& process : base::FindProcesses(
           absl::StrCat(deployment.storage_root(), "/jobs/", job, " "))) {
    if (process.arguments[0] == harness::Program("fake_trainer")) {
      return process.id;
    }
  }
  return absl::NotFoundError("no trainer of " + job);
}

// Cancels a running job behind which another waits for the same device.
// Seconds until the process is gone, and until the other has the device.
absl::Status CancelOne(Deployment& deployment, int number,
                       std::vector<double>* gone, std::vector<double>* free) {
  const std::string job = absl::StrCat("cancelled-", number);
  const std::string next = absl::StrCat("next-", number);
  ORDO_RETURN_IF_ERROR(deployment.Create(TrainingJob(job, "cpu")).status());
  ORDO_RETURN_IF_ERROR(
      deployment
          .WaitFor(job, kDeadline,
                   [](const Job& seen) { return seen.state() == Job::RUNNING; })
          .status());
  ORDO_RETURN_IF_ERROR(deployment.Create(TrainingJob(next, "cpu")).status());
  ORDO_ASSIGN_OR_RETURN(const auto trainer, TrainerOf(deployment, job));
  const absl::Time start = absl::Now();
  ORDO_RETURN_IF_ERROR(Cancel(deployment, job));
  ORDO_RETURN_IF_ERROR(base::WaitUntilGone(trainer, kDeadline));
  gone->push_back(absl::ToDoubleSeconds(absl::Now() - start));
  ORDO_ASSIGN_OR_RETURN(
      const Job taken, deployment.WaitFor(next, kDeadline, [](const Job& seen) {
        return seen.attempts_size() > 0;
      }));
  free->push_back(static_cast<double>(TimeUtil::TimestampToNanoseconds(
                                          taken.attempts(0).start_time()) -
                                      absl::ToUnixNanos(start)) *
                  1e-9);
  ORDO_RETURN_IF_ERROR(Cancel(deployment, next));
  return deployment.WaitForEnd(next, kDeadline).status();
}

// The same program for Slurm, which then has no shell to start either; its word
// of what it can do is the only one that needs no folder of an attempt.
std::string SlurmJob() {
  return absl::StrCat("#!", harness::Program("noop_trainer"), " probe\n");
}

absl::StatusOr<double> NoopRate(const BenchmarkOptions& options, int slots) {
  ORDO_RETURN_IF_ERROR(base::PosixFilesystem().MakeFolders(options.folder));
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.worker.set_trainer(harness::Program("noop_trainer"));
  for (int slot = 0; slot < slots; ++slot) {
    deploy.worker.add_devices(absl::StrCat("cpu:", slot));
  }
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
  const int count = options.Count(kNoopJobs, 4);
  const int batch = options.Count(kNoopBatch, 2);
  for (int first = 0; first < count; first += batch) {
    std::vector<jobs::v1::JobSpec> specs;
    for (int i = first; i < first + batch; ++i) {
      specs.push_back(TrainingJob(absl::StrCat("noop-", i), "cpu"));
    }
    ORDO_RETURN_IF_ERROR(CreateBatch(deployment->jobs(), specs));
  }
  // The last in order ends last, or nearly.
  ORDO_RETURN_IF_ERROR(
      deployment->WaitForEnd(absl::StrCat("noop-", count - 1), kDeadline)
          .status());
  const absl::Time deadline = absl::Now() + kDeadline;
  while (absl::Now() < deadline) {
    ORDO_ASSIGN_OR_RETURN(const auto seconds, SecondsOfAll(*deployment, count));
    if (seconds.has_value()) return count / *seconds;
    harness::Pass(kLook);
  }
  return absl::DeadlineExceededError("jobs did not end");
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkStart(
    const BenchmarkOptions& options) {
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.worker.set_trainer(harness::Program("noop_trainer"));
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
  Latencies latencies;
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    std::vector<double> times;
    for (int i = 0; i < options.Count(kStartsOfARound, 2); ++i) {
      const std::string name = absl::StrCat("start-", round, "-", i);
      ORDO_RETURN_IF_ERROR(
          deployment->Create(TrainingJob(name, "cpu"), RequestIdOf(name))
              .status());
      ORDO_ASSIGN_OR_RETURN(const auto job,
                            deployment->WaitForEnd(name, kDeadline));
      if (job.state() != Job::SUCCEEDED) {
        return absl::InternalError("job failed: " + job.message());
      }
      // Both times are of this machine's one clock: the record of the
      // submission and the first thing that the trainer did.
      times.push_back(Seconds(job.create_time(), job.attempts(0).run_time()));
    }
    latencies.AddRound(times);
  }
  std::vector<Measurement> out;
  latencies.AddTo(
      {"start", "start_latency", 0, "s", {{"trainer", "static"}}, "", 0, 0},
      &out);
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkNoop(
    const BenchmarkOptions& options) {
  const int slots =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // Its daemons take longer than what a quick run is for.
  bool beside_slurm = !options.quick;
  std::vector<double> rates, slurm_rates, ratios;
  for (int round = 0; round < options.Count(kNoopRounds, 2); ++round) {
    BenchmarkOptions in_folder = options;
    in_folder.folder = absl::StrCat(options.folder, "/", round);
    ORDO_ASSIGN_OR_RETURN(const double rate, NoopRate(in_folder, slots));
    rates.push_back(rate);
    if (!beside_slurm) continue;
    const absl::StatusOr<double> slurm =
        SlurmNoopRate(in_folder.folder, slots, SlurmJob(), kSlurmJobs);
    if (absl::IsNotFound(slurm.status())) {
      Say(std::string(slurm.status().message()));
      beside_slurm = false;
      continue;
    }
    ORDO_RETURN_IF_ERROR(slurm.status());
    slurm_rates.push_back(*slurm);
    ratios.push_back(rate / *slurm);
  }
  const Params params = {{"slots", absl::StrCat(slots)}};
  std::vector<Measurement> out = {
      MedianOf({"noop", "noop_rate", 0, "1/s", params, "", 0, 0}, rates)};
  if (!beside_slurm) return out;
  out.push_back(MedianOf(
      {"noop", "slurm_noop_rate", 0, "1/s", params, "", 0, 0}, slurm_rates));
  out.push_back(MedianOf(
      {"noop", "noop_rate_vs_slurm", 0, "1", params, "slurm_noop_rate", 0, 0},
      ratios));
  return out;
}

absl::StatusOr<std::vector<Measurement>> BenchmarkCancel(
    const BenchmarkOptions& options) {
  std::vector<Measurement> out;
  for (const bool obeys : {true, false}) {
    DeploymentOptions deploy;
    deploy.folder = absl::StrCat(options.folder, obeys ? "/obeys" : "/grace");
    ORDO_RETURN_IF_ERROR(base::PosixFilesystem().MakeFolders(deploy.folder));
    deploy.worker.set_trainer(harness::Program("fake_trainer"));
    (*deploy.worker.mutable_trainer_environment())["ORDO_FAKE"] =
        obeys ? "*:hold_at=1" : "*:hold_at=1,ignore_term=1";
    ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
    std::vector<double> gone, free;
    const int count = obeys ? options.Count(kCancels, 2) : 2;
    for (int i = 0; i < count; ++i) {
      ORDO_RETURN_IF_ERROR(CancelOne(*deployment, i, &gone, &free));
    }
    const Params params = {{"trainer", obeys ? "obeys" : "ignores"}};
    out.push_back(
        MedianOf({"cancel", "cancel_to_gone", 0, "s", params, "", 0, 0}, gone));
    out.push_back(
        MedianOf({"cancel", "cancel_to_free", 0, "s", params, "", 0, 0}, free));
  }
  return out;
}

}  // namespace ordo::tests::bench

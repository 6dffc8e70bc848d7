#include <cstdint>
#include <ctime>
#include <deque>
#include <malloc.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "scheduler/core/apply.h"
#include "scheduler/policy/table.h"
#include "tests/bench/measure.h"

namespace ordo::tests::bench {
namespace {

using agent::v1::ObservedAttempt;
using scheduler::core::Effects;
using scheduler::core::JobPtr;

constexpr int kRounds = 3;
constexpr int kJobs = 100000;
constexpr int kWorkers = 1000;
constexpr int kDevicesOfAWorker = 8;
constexpr int kBatch = 1000;
// Recipes that differ, of which each job has one.
constexpr int kRecipes = 200;

double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

scheduler::NewJob MakeJob(int number) {
  scheduler::NewJob job;
  jobs::v1::JobSpec& spec = job.spec;
  spec.set_kind(jobs::v1::JobSpec::TRAIN);
  spec.set_name(absl::StrCat("job-", number));
  spec.set_queue("default");
  spec.mutable_model()->set_preset("tiny");
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(1 + number % kRecipes);
  spec.mutable_checkpoint()->set_keep(3);
  spec.mutable_retry()->set_max_attempts(3);
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(600);
  spec.mutable_resources()->set_device("cpu");
  spec.mutable_resources()->set_ranks(1);
  job.request_id = absl::StrCat("request-", number);
  job.fingerprint = std::string(64, 'f');
  job.owner.set_user("ada");
  return job;
}

scheduler::core::Options CoreOptions() {
  scheduler::core::Options options;
  options.place =
      scheduler::policy::FindPolicy(scheduler::policy::kDefaultPolicy)->place;
  return options;
}

// The core with nothing around it: workers that end what they are given at
// once, a store that takes everything, time that stands still.
class Cluster {
 public:
  explicit Cluster(int num_workers) : state_(CoreOptions()) {
    for (int i = 0; i < num_workers; ++i) {
      agent::v1::AnnounceRequest request;
      request.set_worker(WorkerOf(i));
      request.set_incarnation("i");
      request.set_address("127.0.0.1:1");
      for (int d = 0; d < kDevicesOfAWorker; ++d) {
        request.add_devices()->set_name(absl::StrCat("cuda:", d));
      }
      request.mutable_observed()->set_sequence(1);
      Apply(scheduler::core::Announced{std::move(request)});
    }
  }

  // Jobs of a kind of device that no worker has: nothing starts yet.
  void Submit(int num_jobs) {
    for (int first = 0; first < num_jobs; first += kBatch) {
      scheduler::core::Submit event;
      for (int i = first; i < std::min(first + kBatch, num_jobs); ++i) {
        event.jobs.push_back(MakeJob(i));
      }
      Apply(std::move(event));
    }
  }

  // The workers come back with cpus, and all jobs run to their ends; how many
  // attempts were started.
  int64_t RunAll(int num_workers) {
    for (int i = 0; i < num_workers; ++i) {
      agent::v1::AnnounceRequest request;
      request.set_worker(WorkerOf(i));
      request.set_incarnation("i");
      request.set_address("127.0.0.1:1");
      for (int d = 0; d < kDevicesOfAWorker; ++d) {
        request.add_devices()->set_name(absl::StrCat("cpu:", d));
      }
      request.mutable_observed()->set_sequence(++sequence_);
      Apply(scheduler::core::Announced{std::move(request)});
    }
    while (!started_.empty()) {
      const JobPtr job = std::move(started_.front());
      started_.pop_front();
      scheduler::core::Observed event{job->newest_attempt().worker(), "i", {}};
      event.observed.set_sequence(++sequence_);
      ObservedAttempt& attempt = *event.observed.add_attempts();
      attempt.set_job(job->id());
      attempt.set_attempt(job->attempt_number());
      attempt.set_phase(ObservedAttempt::EXITED);
      attempt.set_cause(ObservedAttempt::EXIT);
      attempt.mutable_run_time()->set_seconds(1);
      attempt.mutable_finished()->set_step(1);
      Apply(std::move(event));
    }
    return num_started_;
  }

  bool AllEnded() const {
    for (const auto& [id, entry] : state_.jobs) {
      if (entry.job->state != jobs::v1::Job::SUCCEEDED) return false;
    }
    return true;
  }

 private:
  static std::string WorkerOf(int number) {
    return absl::StrCat("worker-", number);
  }

  void Apply(scheduler::core::Event event) {
    const Effects effects =
        scheduler::core::Apply(state_, std::move(event), now_);
    for (const auto& effect : effects) {
      const auto* record = std::get_if<scheduler::core::Record>(&effect);
      if (record == nullptr) continue;
      const auto* job = std::get_if<JobPtr>(&record->value);
      if (job == nullptr || (*job)->state != jobs::v1::Job::STARTING) continue;
      started_.push_back(*job);
      ++num_started_;
    }
  }

  scheduler::core::State state_;
  const scheduler::core::Moment now_{absl::FromUnixSeconds(1'700'000'000),
                                     absl::Seconds(1)};
  int64_t sequence_ = 1;
  int64_t num_started_ = 0;
  std::deque<JobPtr> started_;
};

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkCore(
    const BenchmarkOptions& options) {
  const int num_jobs = options.Count(kJobs, 40);
  const int num_workers = options.Count(kWorkers, 2);
  std::vector<double> rates;
  std::vector<double> bytes;
  for (int round = 0; round < options.Count(kRounds, 1); ++round) {
    Cluster cluster(num_workers);
    const double heap = HeapBytes();
    cluster.Submit(num_jobs);
    bytes.push_back((HeapBytes() - heap) / num_jobs);
    const double start = ProcessorSeconds();
    const int64_t num_started = cluster.RunAll(num_workers);
    rates.push_back(static_cast<double>(num_started) /
                    (ProcessorSeconds() - start));
    if (num_started != num_jobs || !cluster.AllEnded()) {
      return absl::InternalError("not every job ended, once");
    }
  }
  const std::map<std::string, std::string> params = {
      {"jobs", absl::StrCat(num_jobs)},
      {"workers", absl::StrCat(num_workers)},
      {"recipes", absl::StrCat(kRecipes)}};
  return std::vector<Measurement>{
      MedianOf({"core", "sim_decisions_rate", 0, "1/s", params, "", 0, 0},
               rates),
      MedianOf({"core", "bytes_per_queued_job", 0, "B", params, "", 0, 0},
               bytes)};
}

}  // namespace ordo::tests::bench

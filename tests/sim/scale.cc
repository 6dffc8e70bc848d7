#include "tests/sim/scale.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <jemalloc/jemalloc.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "scheduler/core/apply.h"
#include "scheduler/core/invariants.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/policy/table.h"
#include "scheduler/scheduler.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;
using core::testing::AttemptBuilder;
using core::testing::JobBuilder;
using core::testing::WorkerBuilder;

constexpr int kBatch = 1000;

core::Options CoreOptions() {
  core::Options options;
  options.place =
      scheduler::policy::FindPolicy(scheduler::policy::kDefaultPolicy)->place;
  return options;
}

// 24 characters, more than a string has room for in itself.
std::string NameOf(int job) { return absl::StrFormat("job-%020d", job); }
int NumberOf(const std::string& name) { return std::stoi(name.substr(4)); }

core::SpecPtr CommonSpec() {
  auto spec = std::make_shared<jobs::v1::JobSpec>(
      *scheduler::NewJob(JobBuilder("any")).spec);
  (*spec->mutable_labels())["team"] = "language-models";
  (*spec->mutable_labels())["project"] = "small-vocabularies-2026";
  return spec;
}

// Where specs are read that have left memory. Those of jobs are alike but for
// their seeds, which are their numbers.
class Specs : public core::SpecSource {
 public:
  explicit Specs(bool distinct) : distinct_(distinct), common_(CommonSpec()) {}

  absl::StatusOr<core::SpecPtr> ReadSpec(int64_t id) override {
    if (!distinct_) return common_;
    auto spec = std::make_shared<jobs::v1::JobSpec>(*common_);
    spec->mutable_training()->set_seed(static_cast<uint64_t>(id));
    return core::SpecPtr(std::move(spec));
  }

 private:
  const bool distinct_;
  const core::SpecPtr common_;
};

double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

class Scale {
 public:
  explicit Scale(const ScaleOptions& options)
      : options_(options),
        state_(CoreOptions()),
        specs_(std::make_shared<Specs>(options.distinct_specs)) {}

  ScaleResult Run() {
    // Jobs first: a waiting job's memory is then all there is.
    Submit();
    const double begin = ProcessorSeconds();
    check_seconds_ = 0;
    AnnounceWorkers();
    while (!running_.empty() && result_.status.ok()) EndOldest();
    const double seconds = ProcessorSeconds() - begin - check_seconds_;
    Check();
    result_.decisions_per_second =
        static_cast<double>(result_.num_decisions) / seconds;
    if (result_.status.ok() && result_.num_decisions != options_.num_jobs) {
      result_.status = absl::InternalError(
          absl::StrCat(result_.num_decisions, " jobs were started"));
    }
    return result_;
  }

 private:
  struct Given {
    int worker;
    std::string job;
    int attempt;
  };

  void Submit() {
    // As the command line asks for jobs: with an id of 32 digits, known again
    // by a SHA-256.
    const std::string fingerprint(64, 'f');
    const int64_t bytes = Bytes();
    const double begin = ProcessorSeconds();
    for (int first = 0; first < options_.num_jobs; first += kBatch) {
      core::Submit submit;
      const int last = std::min(options_.num_jobs, first + kBatch);
      for (int i = first; i < last; ++i) {
        scheduler::NewJob job = JobBuilder(NameOf(i)).RequestId(
            absl::StrFormat("%032x", i), fingerprint);
        // Its sequence.
        job.spec = *specs_->ReadSpec(i + 1);
        submit.jobs.push_back(std::move(job));
      }
      Apply(std::move(submit));
    }
    result_.submissions_per_second =
        options_.num_jobs / (ProcessorSeconds() - begin - check_seconds_);
    result_.bytes_per_queued_job =
        static_cast<double>(Bytes() - bytes) / options_.num_jobs;
  }

  int64_t Bytes() {
    // What jemalloc tells is of its last epoch.
    uint64_t epoch = 1;
    size_t bytes = 0;
    size_t size = sizeof(bytes);
    if (mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch)) != 0 ||
        mallctl("stats.allocated", &bytes, &size, nullptr, 0) != 0) {
      result_.status = absl::InternalError("jemalloc has no statistics");
    }
    return static_cast<int64_t>(bytes);
  }

  void AnnounceWorkers() {
    std::vector<std::string> devices;
    for (int i = 0; i < options_.num_devices; ++i) {
      devices.push_back(absl::StrCat("cpu:", i));
    }
    sequences_.resize(options_.num_workers, 1);
    for (int i = 0; i < options_.num_workers; ++i) {
      agent::v1::AnnounceRequest request =
          WorkerBuilder(absl::StrCat("worker-", i)).Devices(devices);
      request.mutable_observed()->set_sequence(1);
      core::Observed answer{request.worker(), request.incarnation(),
                            request.observed()};
      Apply(core::Announced{std::move(request)});
      Apply(std::move(answer));
    }
  }

  // The attempt that began first ends.
  void EndOldest() {
    const Given given = std::move(running_.front());
    running_.pop_front();
    core::Observed observed;
    observed.worker = absl::StrCat("worker-", given.worker);
    observed.incarnation = state_.workers.at(observed.worker).incarnation;
    observed.observed.set_sequence(++sequences_[given.worker]);
    *observed.observed.add_attempts() =
        AttemptBuilder(given.job, given.attempt)
            .Running()
            .Exited(training::v1::ExitCode::FINISHED);
    Apply(std::move(observed));
  }

  void Apply(core::Event event) {
    ++result_.num_events;
    // Time stands still but for its order: no lease ends.
    now_.monotonic += absl::Nanoseconds(1);
    now_.wall += absl::Nanoseconds(1);
    for (const core::Effect& effect :
         core::Apply(state_, std::move(event), now_)) {
      Take(effect);
    }
    if (result_.num_events % options_.check_period == 0) Check();
  }

  // As a shell does with what is stored.
  void Store(const core::Record& record) {
    const auto* job = std::get_if<core::JobPtr>(&record.value);
    if (job == nullptr) return;
    const core::JobFacts& facts = *(*job)->facts;
    if (facts.spec->IdIn(specs_.get()).has_value()) return;
    facts.spec->NoteStored(facts.sequence, specs_);
    facts.spec->LetGo();
  }

  void Take(const core::Effect& effect) {
    if (const auto* record = std::get_if<core::Record>(&effect)) Store(*record);
    const auto* desired = std::get_if<core::SetDesired>(&effect);
    if (desired == nullptr) return;
    const std::string& worker = desired->request->worker();
    const int index = std::stoi(worker.substr(worker.find('-') + 1));
    for (const auto& attempt : desired->request->attempts()) {
      // Sets are repeated until their attempts are observed.
      const int job = NumberOf(attempt.job());
      if (started_.size() <= static_cast<size_t>(job)) {
        started_.resize(job + 1);
      }
      if (started_[job]) continue;
      started_[job] = true;
      ++result_.num_decisions;
      running_.push_back({index, attempt.job(), attempt.attempt()});
    }
  }

  void Check() {
    const double begin = ProcessorSeconds();
    if (result_.status.ok()) result_.status = core::CheckInvariants(state_);
    check_seconds_ += ProcessorSeconds() - begin;
  }

  const ScaleOptions options_;
  ScaleResult result_;
  core::State state_;
  const std::shared_ptr<Specs> specs_;
  core::Moment now_{absl::FromUnixSeconds(1'700'000'000), absl::Seconds(1)};
  std::vector<int64_t> sequences_;
  std::vector<bool> started_;
  std::deque<Given> running_;
  double check_seconds_ = 0;
};

}  // namespace

ScaleResult RunScale(const ScaleOptions& options) {
  return Scale(options).Run();
}

std::string Describe(const ScaleResult& result, const ScaleOptions& options) {
  return absl::StrFormat(
      "%d workers x %d devices, %d jobs with %s: %s, %d events, %d decisions, "
      "%.0f decisions/s, %.0f submissions/s, %.0f bytes a queued job",
      options.num_workers, options.num_devices, options.num_jobs,
      options.distinct_specs ? "specs of their own" : "shared specs",
      result.status.ok() ? "ok"
                         : absl::StrCat("FAILED: ", result.status.ToString()),
      result.num_events, result.num_decisions, result.decisions_per_second,
      result.submissions_per_second, result.bytes_per_queued_job);
}

}  // namespace ordo::tests::sim

// Random but repeatable event sequences over the core: after every event
// TestShell checks the invariants and that the records which left are the
// durable part of the state. A failure prints its seed.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using testing::AttemptBuilder;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

constexpr int kNumWorkers = 3;
constexpr int kNumEvents = 400;

// A worker as the walk drives it: it takes desired sets, lets attempts go on by
// chance, dies and comes back. Messages are lost, late and repeated, since the
// walk delivers them when it likes.
struct WalkWorker {
  std::string id;
  int start = 0;
  int64_t sequence = 1;
  bool draining = false;
  bool silent = false;
  // A kernel, on its first device.
  bool lacks_x = false;
  std::map<std::pair<std::string, int>, ObservedAttempt> attempts;

  std::string incarnation() const { return absl::StrCat(id, "-", start); }
};

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed, "walk"), shell_(WalkOptions()) {
    for (int i = 0; i < kNumWorkers; ++i) {
      workers_.emplace_back();
      workers_.back().id = absl::StrCat("w", i);
    }
  }

  void Run() {
    for (int i = 0; i < kNumEvents && !::testing::Test::HasFailure(); ++i) {
      Step();
    }
    Settle();
  }

 private:
  // What is lost comes again with the heartbeat.
  static Options WalkOptions() {
    Options options = TestShell::DefaultOptions();
    options.heartbeat = absl::Seconds(2);
    return options;
  }
  bool Chance(int percent) { return random_.Int(100) < uint64_t(percent); }
  WalkWorker& AnyWorker() { return workers_[random_.Int(kNumWorkers)]; }
  std::string AnyJob() {
    return absl::StrCat("job-", random_.Int(num_jobs_ + 1));
  }

  void Step() {
    switch (random_.Int(10)) {
      case 0:
      case 1:
        Submit();
        break;
      case 2:
        shell_.CancelJob(AnyJob()).IgnoreError();
        break;
      case 3:
        shell_.Advance(absl::Milliseconds(random_.Int(3000)));
        break;
      case 4:
        Disturb(AnyWorker());
        break;
      case 5:
        if (Chance(20)) shell_.Restart();
        break;
      default:
        Talk(AnyWorker());
    }
    Deliver(/*percent=*/70);
  }

  void Submit() {
    JobBuilder job(absl::StrCat("job-", num_jobs_++));
    job.MaxAttempts(1 + random_.Int(3)).Keep(1 + random_.Int(2));
    if (Chance(10)) job.Device("cuda");
    if (Chance(30)) job.RequestId(absl::StrCat("r", num_jobs_));
    if (Chance(20)) job.StartFrom(absl::StrCat("jobs/", AnyJob()));
    if (Chance(20)) job.Evaluates({absl::StrCat("jobs/", AnyJob())});
    NewJob made = job;
    if (Chance(20)) made.spec.mutable_training()->set_kernel("x");
    shell_.Submit(made).status().IgnoreError();
  }

  // A crash, a drain, a silence.
  void Disturb(WalkWorker& worker) {
    worker.silent = Chance(30);
    worker.draining = Chance(20);
    worker.lacks_x = Chance(50);
    if (!Chance(40)) return;
    ++worker.start;
    worker.sequence = 1;
    for (auto it = worker.attempts.begin(); it != worker.attempts.end();) {
      it = Chance(30) ? worker.attempts.erase(it) : std::next(it);
    }
  }

  // Its attempts go on, then it announces itself.
  void Talk(WalkWorker& worker) {
    for (auto& [key, attempt] : worker.attempts) GoOn(attempt);
    ++worker.sequence;
    if (!worker.silent) Announce(worker);
  }

  void Announce(const WalkWorker& worker) {
    WorkerBuilder builder(worker.id);
    builder.Incarnation(worker.incarnation()).Sequence(worker.sequence);
    builder.Devices({"cpu:0", "cpu:1"});
    if (worker.draining) builder.Draining();
    for (const auto& [key, attempt] : worker.attempts) builder.Runs(attempt);
    agent::v1::AnnounceRequest request = builder;
    if (worker.lacks_x) {
      request.mutable_devices(0)->mutable_probe()->add_failed()->set_kernel(
          "attention/x");
    }
    EXPECT_THAT(shell_.Announce(request), base::testing::IsOk());
  }

  void GoOn(ObservedAttempt& attempt) {
    if (attempt.phase() == ObservedAttempt::EXITED) return;
    AttemptBuilder next(attempt.job(), attempt.attempt());
    const int64_t step = attempt.step().step() + random_.Int(5);
    next.Running().Step(step);
    int64_t number = attempt.records_size();
    ObservedAttempt observed = next;
    *observed.mutable_records() = attempt.records();
    if (Chance(40)) {
      AttemptBuilder more(attempt.job(), attempt.attempt());
      more.Checkpoint(++number, step);
      if (Chance(30)) more.Report(++number, absl::StrCat("r-", step));
      observed.MergeFrom(more);
      observed.set_phase(ObservedAttempt::RUNNING);
    }
    if (Chance(15)) {
      observed.set_phase(ObservedAttempt::EXITED);
      constexpr int kCodes[] = {0, 0, 1, 2, 10, 11, 70};
      observed.set_cause(ObservedAttempt::Cause(1 + random_.Int(6)));
      observed.set_exit_code(kCodes[random_.Int(std::size(kCodes))]);
    }
    attempt = observed;
  }

  // Some of the effects reach their workers; the rest is lost.
  void Deliver(int percent) {
    for (WalkWorker& worker : workers_) {
      if (!shell_.HasDesired(worker.id)) continue;
      const auto desired = shell_.TakeDesired(worker.id);
      if (worker.silent || !Chance(percent) ||
          desired.incarnation() != worker.incarnation()) {
        continue;
      }
      Take(worker, desired);
    }
    shell_.Ignore();
  }

  void Take(WalkWorker& worker, const agent::v1::SetDesiredRequest& desired) {
    std::map<std::pair<std::string, int>, ObservedAttempt> attempts;
    for (const auto& each : desired.attempts()) {
      const std::pair<std::string, int> key(each.job(), each.attempt());
      const auto known = worker.attempts.find(key);
      ObservedAttempt observed =
          known != worker.attempts.end()
              ? known->second
              : ObservedAttempt(AttemptBuilder(each.job(), each.attempt()));
      if (each.action() != agent::v1::DesiredAttempt::RUN &&
          observed.phase() != ObservedAttempt::EXITED) {
        observed.set_phase(ObservedAttempt::EXITED);
        observed.set_cause(ObservedAttempt::KILLED);
      }
      attempts[key] = observed;
    }
    worker.attempts = std::move(attempts);
    ++worker.sequence;
  }

  // Faults stop: everything that can end, ends.
  void Settle() {
    for (WalkWorker& worker : workers_) {
      worker.silent = worker.draining = false;
    }
    for (int round = 0; round < 200; ++round) {
      for (WalkWorker& worker : workers_) {
        for (auto& [key, attempt] : worker.attempts) {
          attempt.set_phase(ObservedAttempt::EXITED);
          attempt.set_cause(ObservedAttempt::EXIT);
          attempt.set_exit_code(0);
        }
        ++worker.sequence;
        Announce(worker);
        Deliver(/*percent=*/100);
      }
      shell_.Advance(absl::Seconds(1));
      Deliver(/*percent=*/100);
    }
    for (const auto& [id, entry] : shell_.state().jobs) {
      if (DeviceKind(*entry.job) == "cuda") continue;  // Nobody has one.
      EXPECT_TRUE(IsTerminal(entry.job->state()))
          << entry.job->ShortDebugString();
    }
  }

  base::RandomSequence random_;
  TestShell shell_;
  std::vector<WalkWorker> workers_;
  int num_jobs_ = 0;
};

class RandomWalkTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomWalkTest, InvariantsHoldAndEverythingEnds) {
  SCOPED_TRACE(absl::StrCat("seed ", GetParam()));
  Walk(GetParam()).Run();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWalkTest,
                         ::testing::Range<uint64_t>(1, 41));

}  // namespace
}  // namespace ordo::scheduler::core

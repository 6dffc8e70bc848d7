// Every kind of process is killed (SIGKILL) again and again while jobs come in:
// then each job has ended once, with the right result, and nothing is left.
// The kills are drawn from a seed, which is printed; which process runs what
// at such a moment depends on the machine. Once more with a seed:
//   bazel test //tests/e2e:storm_test --test_env=ORDO_STORM_SEED=7
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <signal.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/files/file_util.h"
#include "base/random/random.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/history.h"
#include "tests/e2e/scenario.h"
#include "tests/fake/checkpoint.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;

constexpr int kWorkers = 4;
constexpr int kSteps = 60;
constexpr int kEverySteps = 5;
// Every so many-th job has two ranks.
constexpr int kGang = 5;
constexpr absl::Duration kLease = absl::Seconds(3);
constexpr absl::Duration kLook = absl::Milliseconds(100);
// After the last kill, for the jobs that are left.
constexpr absl::Duration kRest = absl::Minutes(3);

struct Storm {
  int jobs = 0;
  absl::Duration length;
};

enum Victim {
  kScheduler,
  kWorker,
  kSupervisor,
  kTrainer,
  kLauncher,
  kNumVictims
};
// Of eleven, so that each kind has its turn however short the storm is.
constexpr Victim kVictims[] = {kScheduler,  kWorker,     kWorker,  kSupervisor,
                               kSupervisor, kSupervisor, kTrainer, kTrainer,
                               kTrainer,    kTrainer,    kLauncher};

uint64_t Seed() {
  const char* text = std::getenv("ORDO_STORM_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10)
                         : absl::ToUnixMicros(absl::Now());
}

class StormTest : public Scenario {
 protected:
  void StartAll() {
    harness::DeploymentOptions options = Options("*:step_ms=20,claim=1");
    options.num_workers = kWorkers;
    options.scheduler.mutable_lease()->set_seconds(
        absl::ToInt64Seconds(kLease));
    Start(options);
  }

  jobs::v1::JobSpec SpecOf(int number) const {
    jobs::v1::JobSpec spec = Spec(absl::StrCat("job-", number));
    spec.mutable_training()->set_seed(number);
    spec.mutable_training()->set_steps(kSteps);
    spec.mutable_checkpoint()->set_every_steps(kEverySteps);
    spec.mutable_retry()->set_max_attempts(100);
    if (number % kGang == 0) spec.mutable_resources()->set_ranks(2);
    return spec;
  }

  // Each job once, over two thirds of the storm, whatever becomes of the calls.
  void SubmitAll(const Storm& storm) {
    for (int i = 0; i < storm.jobs; ++i) {
      absl::Status status;
      do {
        status = deployment_->Create(SpecOf(i), absl::StrCat("request-", i))
                     .status();
      } while (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status));
      ORDO_EXPECT_OK(status) << "job-" << i;
      harness::Pass(storm.length * 2 / 3 / storm.jobs);
    }
  }

  absl::StatusOr<std::vector<Job>> ListAll() {
    std::vector<Job> jobs;
    jobs::v1::ListJobsRequest request;
    request.set_page_size(50);
    do {
      grpc::ClientContext context;
      base::PrepareCall({}, &context);
      jobs::v1::ListJobsResponse response;
      ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
          deployment_->jobs().ListJobs(&context, request, &response)));
      for (Job& job : *response.mutable_jobs()) jobs.push_back(std::move(job));
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return jobs;
  }

  // Looks at all jobs until `jobs` of them have ended, or until the deadline;
  // how many have.
  int WatchUntil(absl::Time deadline, int jobs) {
    int ended = 0;
    while (ended < jobs && absl::Now() < deadline) {
      const auto all = ListAll();
      harness::Pass(kLook);
      // A scheduler that is away is what this test is about.
      if (!all.ok()) continue;
      ended = 0;
      for (const Job& job : *all) {
        ORDO_EXPECT_OK(history_.See(job));
        ended += harness::HasEnded(job) ? 1 : 0;
      }
    }
    return ended;
  }

  // A running supervisor, trainer or launcher; nothing when there is none.
  std::optional<base::ProcessId> AnyTask(Victim victim) {
    std::vector<base::ProcessId> found;
    for (const auto& process : deployment_->Processes()) {
      const auto& arguments = process.arguments;
      if (arguments.size() < 2) continue;
      const std::string& how = arguments[1];
      const bool hit = victim == kTrainer
                           ? arguments[0] == trainer_ && how == "train"
                           : absl::EndsWith(arguments[0], "ordo-supervisor") &&
                                 (how == "--launcher") == (victim == kLauncher);
      if (hit) found.push_back(process.id);
    }
    if (found.empty()) return std::nullopt;
    return found[dice_.Int(found.size())];
  }

  Victim NextVictim() {
    if (victims_.empty()) {
      victims_.assign(std::begin(kVictims), std::end(kVictims));
      dice_.Shuffle(&victims_);
    }
    const Victim victim = victims_.back();
    victims_.pop_back();
    return victim;
  }

  void KillOne() {
    const Victim victim = NextVictim();
    if (victim == kScheduler) {
      KillScheduler();
    } else if (victim == kWorker) {
      const int number = 1 + static_cast<int>(dice_.Int(kWorkers));
      if (away_.count(number) > 0) return;
      ORDO_ASSERT_OK(deployment_->EndWorker(SIGKILL, number));
      // One of four stays away until its jobs have been given to others.
      away_[number] = absl::Now() + (dice_.Int(4) == 0 ? kLease * 3 / 2
                                                       : absl::ZeroDuration());
    } else {
      const auto process = AnyTask(victim);
      // It may end by itself meanwhile.
      if (!process || !base::SignalProcess(*process, SIGKILL).ok()) return;
    }
    ++kills_[victim];
  }

  void BringBack(absl::Time now) {
    for (auto it = away_.begin(); it != away_.end();) {
      if (it->second > now) {
        ++it;
        continue;
      }
      ORDO_ASSERT_OK(deployment_->StartWorker(it->first));
      it = away_.erase(it);
    }
  }

  void KillUntil(absl::Time end) {
    while (absl::Now() < end && !HasFatalFailure()) {
      harness::Pass(absl::Milliseconds(20 + dice_.Int(500)));
      KillOne();
      BringBack(absl::Now());
    }
    BringBack(absl::InfiniteFuture());
  }

  void ExpectRightResult(const Job& job) {
    ORDO_EXPECT_OK(CheckSucceeded(job));
    fake::State state = fake::InitialState(job.spec().training().seed());
    while (state.step < kSteps) fake::Advance(state);
    const auto checkpoint = LatestCheckpoint(job.spec().name());
    ORDO_ASSERT_OK(checkpoint);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const fake::State kept,
        fake::ReadCheckpoint(
            files_,
            base::JoinPath(deployment_->storage_root(), checkpoint->name()),
            checkpoint->manifest_sha256()));
    EXPECT_EQ(fake::DigestOf(kept), fake::DigestOf(state)) << job.name();
  }

  bool NoTaskIsLeft() {
    return !AnyTask(kSupervisor).has_value() && !AnyTask(kTrainer).has_value();
  }

  void ExpectNoDoubleBooking(const std::vector<Job>& jobs) {
    ORDO_EXPECT_OK(CheckDevices(jobs));
    for (int worker = 1; worker <= kWorkers; ++worker) {
      const std::string folder = deployment_->WorkerFolder(worker);
      EXPECT_TRUE(base::Exists(files_, folder + "/device"))
          << "no trainer of worker " << worker << " has claimed its device";
      EXPECT_EQ(base::ReadFile(files_, folder + "/double_booked", 1 << 20)
                    .value_or(""),
                "");
    }
  }

  // What a scheduler says that knows nothing but the store's file.
  std::vector<Job> ReadStore() {
    for (int worker = 1; worker <= kWorkers; ++worker) {
      ORDO_EXPECT_OK(deployment_->EndWorker(SIGTERM, worker));
    }
    KillScheduler();
    absl::StatusOr<std::vector<Job>> jobs;
    // The connection to the one before breaks only when used.
    EXPECT_TRUE(WaitFor([&] { return (jobs = ListAll()).ok(); }));
    return jobs.value_or(std::vector<Job>());
  }

  void Play(const Storm& storm) {
    StartAll();
    if (HasFatalFailure()) return;
    std::thread submitter([&] { SubmitAll(storm); });
    const absl::Time end = absl::Now() + storm.length;
    int ended = 0;
    std::thread watcher([&] { ended = WatchUntil(end + kRest, storm.jobs); });
    KillUntil(end);
    submitter.join();
    watcher.join();
    EXPECT_EQ(ended, storm.jobs);
    std::printf(
        "seed %llu: killed %s (scheduler, worker, supervisor, trainer, "
        "launcher)\n",
        static_cast<unsigned long long>(seed_),
        absl::StrJoin(kills_, ", ").c_str());
    EXPECT_THAT(kills_, ::testing::Each(::testing::Gt(0)));
    EXPECT_TRUE(WaitFor([this] { return NoTaskIsLeft(); }));

    const std::vector<Job> jobs = ReadStore();
    EXPECT_EQ(jobs.size(), static_cast<size_t>(storm.jobs));
    for (const Job& job : jobs) {
      ORDO_EXPECT_OK(history_.See(job));
      ExpectRightResult(job);
    }
    ExpectNoDoubleBooking(jobs);
  }

  const uint64_t seed_ = Seed();
  base::RandomSequence dice_{seed_, "storm"};
  History history_;
  std::vector<Victim> victims_;
  std::array<int, kNumVictims> kills_{};
  // Workers that are not there, and when they come back.
  std::map<int, absl::Time> away_;
};

class ShortStormTest : public StormTest {};
class LongStormTest : public StormTest {};

TEST_F(ShortStormTest, EveryJobEndsOnceAndRight) {
  Play({32, absl::Seconds(16)});
}

TEST_F(LongStormTest, EveryJobEndsOnceAndRight) {
  Play({200, absl::Minutes(3)});
}

}  // namespace
}  // namespace ordo::tests::e2e

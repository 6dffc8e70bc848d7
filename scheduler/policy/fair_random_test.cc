// Random boards over hours of virtual time, beside a slow and obvious judge.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "gtest/gtest.h"
#include "scheduler/policy/fair.h"
#include "scheduler/policy/testing/boards.h"
#include "scheduler/policy/why.h"

namespace ordo::scheduler::policy {
namespace {

using testing::TestBoard;
using testing::Waiter;

constexpr absl::Duration kMaxLimit = absl::Minutes(60);
constexpr int kNumEvents = 400;
constexpr int kNumClusters = 60;

// What the judge knows of an attempt.
struct Attempt {
  std::vector<Part> parts;
  // When it ends of itself.
  absl::Duration ends;
  absl::Duration ends_by;
};

class Cluster {
 public:
  explicit Cluster(uint64_t seed) : random_(seed, "cluster") {
    const int num_queues = 1 + static_cast<int>(random_.Int(3));
    for (int i = 0; i < num_queues; ++i) {
      queues_.push_back(absl::StrCat("q", i));
      TestBoard::Limits limits;
      limits.weight = 1.0 + static_cast<double>(random_.Int(3));
      if (random_.Int(2) == 0) limits.guaranteed = Draw(1, 6);
      if (random_.Int(2) == 0) limits.limit = limits.guaranteed + Draw(1, 12);
      if (random_.Int(3) == 0) limits.max_per_owner = Draw(2, 10);
      limits_[queues_.back()] = limits;
      test_.PutQueue(queues_.back(), limits);
    }
    const int num_workers = Draw(1, 6);
    for (int i = 0; i < num_workers; ++i) PutWorker(i);
    all_limited_ = random_.Int(2) == 0;
  }

  // What went wrong, empty: nothing.
  std::string Run() {
    for (int i = 0; i < kNumEvents && wrong_.empty(); ++i) {
      Step();
      PlaceAndJudge();
    }
    return wrong_;
  }

  // No more comes: all that can start has ended after a while.
  std::string RunToTheEnd() {
    for (auto& [id, worker] : workers_) {
      worker.takes_work = true;
      worker.drain_at = absl::InfiniteDuration();
      for (Device& device : worker.devices) device.offered = true;
      test_.board.PutWorker(worker);
    }
    kept_.clear();
    const absl::Duration bound =
        (2.0 * static_cast<double>(waiting_.size() + running_.size()) + 2) *
        (kMaxLimit + test_.board.options().grace);
    const absl::Duration begin = test_.now;
    PlaceAndJudge();
    while (!running_.empty() && wrong_.empty()) {
      absl::Duration next = absl::InfiniteDuration();
      for (const auto& [job, run] : running_) next = std::min(next, run.ends);
      test_.now = std::max(test_.now, next);
      EndWhatIsDue();
      PlaceAndJudge();
    }
    if (!wrong_.empty()) return wrong_;
    for (const auto& [job, waiter] : waiting_) {
      const Constraint constraint = Why(test_.board, job, test_.now).constraint;
      const bool can_never = constraint == Constraint::kUnoffered ||
                             constraint == Constraint::kQueueLimit ||
                             constraint == Constraint::kOwnerLimit;
      if (!can_never) {
        return absl::StrCat("job ", job, " waits for ever, constraint ",
                            static_cast<int>(constraint));
      }
    }
    if (test_.now - begin > bound) return "the end came too late";
    return "";
  }

  int num_started() const { return num_started_; }
  int num_preempted() const { return num_preempted_; }
  int num_reserved() const { return num_reserved_; }
  int num_backfilled() const { return num_backfilled_; }

 private:
  int Draw(int least, int most) {
    return least + static_cast<int>(random_.Int(most - least + 1));
  }

  void Fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  void PutWorker(int i) {
    const std::string id = absl::StrCat("w", i);
    const bool is_new = workers_.count(id) == 0;
    Worker& worker = workers_[id];
    if (is_new) {
      worker = testing::WorkerWith(id, Draw(1, 8));
      worker.cpus = Draw(4, 32);
      worker.memory_bytes = Draw(10, 100);
      if (random_.Int(2) == 0) worker.labels = {{"zone", "a"}};
      for (Device& device : worker.devices) {
        if (random_.Int(6) == 0) device.lacking = {"attention/a"};
        if (random_.Int(8) == 0) device.memory_bytes = 50;
      }
    } else {
      worker.takes_work = random_.Int(3) != 0;
      worker.drain_at = absl::InfiniteDuration();
      if (random_.Int(4) == 0) {
        worker.drain_at = test_.now + absl::Minutes(Draw(1, 90));
      }
      worker.devices[0].offered = random_.Int(3) != 0;
    }
    test_.board.PutWorker(worker);
    kept_.clear();
  }

  Waiter DrawWaiter() {
    Waiter waiter;
    waiter.shape = testing::Gang(Draw(1, 3), Draw(1, 3));
    if (random_.Int(2) == 0) waiter.shape = testing::Cpus(1);
    Shape& shape = waiter.shape;
    if (random_.Int(5) == 0) shape.cpus = Draw(1, 8);
    if (random_.Int(8) == 0) shape.memory_bytes = Draw(1, 40);
    if (random_.Int(8) == 0) shape.labels = {{"zone", "a"}};
    if (random_.Int(8) == 0) shape.kernels = {"attention/a"};
    if (random_.Int(8) == 0) shape.device_memory_bytes = 80;
    if (random_.Int(20) == 0) shape.exclusive = true;
    if (all_limited_ || random_.Int(2) == 0) {
      shape.run_time_limit = absl::Minutes(5 * Draw(1, 12));
    }
    waiter.queue = queues_[random_.Int(queues_.size())];
    waiter.owner = random_.Int(2) == 0 ? "ann" : "bob";
    waiter.priority = random_.Int(4) == 0 ? Draw(-5, 20) : 0;
    if (random_.Int(4) == 0) {
      waiter.max_parallel = Draw(1, 3);
      waiter.parent = absl::StrCat("parent-", waiter.max_parallel);
    }
    return waiter;
  }

  void Step() {
    switch (random_.Int(8)) {
      case 0:
      case 1:
      case 2: {
        const Waiter waiter = DrawWaiter();
        waiting_.emplace(test_.Wait(waiter), waiter);
        return;
      }
      case 3:
        if (!waiting_.empty() && random_.Int(4) == 0) {
          const int64_t job = waiting_.begin()->first;
          test_.board.StopWaiting(job);
          waiting_.erase(job);
          kept_.erase(job);
        }
        return;
      case 4:
        if (random_.Int(6) == 0) PutWorker(Draw(0, workers_.size() - 1));
        return;
      case 5:
        if (!running_.empty()) {
          test_.board.NoteCheckpoint(running_.begin()->first, test_.now);
        }
        return;
      default:
        test_.now += absl::Seconds(Draw(1, 600));
        EndWhatIsDue();
    }
  }

  // In the order in which they end, each at its time.
  void EndWhatIsDue() {
    const absl::Duration until = test_.now;
    while (true) {
      auto due = running_.end();
      for (auto it = running_.begin(); it != running_.end(); ++it) {
        if (it->second.ends > until) continue;
        if (due == running_.end() || it->second.ends < due->second.ends) {
          due = it;
        }
      }
      if (due == running_.end()) break;
      test_.now = std::min(until, std::max(due->second.ends, last_));
      last_ = test_.now;
      End(due->first);
      PlaceAndJudge();
    }
    test_.now = until;
    last_ = until;
  }

  void End(int64_t job) {
    const bool again = stopped_.erase(job) > 0;
    running_.erase(job);
    if (again) {
      test_.Requeue(job);
      waiting_.emplace(job, waiters_.at(job));
    } else {
      test_.End(job);
    }
  }

  void PlaceAndJudge() {
    // Those that others stop for or that have room kept.
    std::set<int64_t> claimants;
    AddReserved(&claimants);
    const Decisions decisions = test_.Place();
    for (const Reservation& reservation : decisions.reservations) {
      ++num_reserved_;
      const auto kept = kept_.find(reservation.job);
      if (kept != kept_.end() && kept->second < reservation.at) {
        Fail(absl::StrCat("the reservation of ", reservation.job, " moved"));
      }
      kept_[reservation.job] = reservation.at;
    }
    for (const Start& start : decisions.starts) JudgeStart(start);
    for (const Preemption& preemption : decisions.preemptions) {
      claimants.insert(preemption.job);
    }
    AddReserved(&claimants);
    for (const Preemption& preemption : decisions.preemptions) {
      JudgePreemption(preemption, claimants.size() == 1);
    }
    JudgeWhatWaits();
  }

  void AddReserved(std::set<int64_t>* jobs) const {
    for (const Reservation& reservation : test_.board.Reservations()) {
      jobs->insert(reservation.job);
    }
  }

  void JudgeStart(const Start& start) {
    ++num_started_;
    const auto it = waiting_.find(start.job);
    if (it == waiting_.end()) {
      return Fail(absl::StrCat("job ", start.job, " did not wait"));
    }
    const Waiter waiter = it->second;
    waiting_.erase(it);
    if (!kept_.empty() && kept_.begin()->first < start.job) ++num_backfilled_;
    kept_.erase(start.job);
    waiters_.insert({start.job, waiter});
    const Shape& shape = waiter.shape;
    Attempt attempt;
    attempt.parts = start.parts;
    attempt.ends_by = absl::InfiniteDuration();
    attempt.ends = test_.now + absl::Minutes(Draw(1, 60));
    if (shape.run_time_limit > absl::ZeroDuration()) {
      attempt.ends_by =
          test_.now + shape.run_time_limit + test_.board.options().grace;
      attempt.ends = random_.Int(2) == 0
                         ? attempt.ends_by
                         : test_.now + shape.run_time_limit / Draw(1, 4);
    }
    if (static_cast<int>(start.parts.size()) != shape.ranks) {
      Fail(absl::StrCat("job ", start.job, " is not whole"));
    }
    for (const Part& part : start.parts) JudgePart(part, attempt, waiter);
    running_[start.job] = attempt;
    JudgeWorkers();
    JudgeLimits(waiter);
  }

  void JudgePart(const Part& part, const Attempt& attempt,
                 const Waiter& waiter) {
    const Worker& worker = workers_.at(part.worker);
    const Shape& shape = waiter.shape;
    if (!worker.takes_work || attempt.ends_by > worker.drain_at) {
      Fail(absl::StrCat(part.worker, " takes no such work"));
    }
    for (const auto& label : shape.labels) {
      if (worker.labels.count(label.first) == 0) Fail("a label is missing");
    }
    if (static_cast<int>(part.devices.size()) != shape.devices) {
      Fail("too few devices");
    }
    for (const Device& device : worker.devices) {
      if (std::count(part.devices.begin(), part.devices.end(), device.name) ==
          0) {
        continue;
      }
      if (!device.offered || device.memory_bytes < shape.device_memory_bytes) {
        Fail(absl::StrCat(device.name, " is not for it"));
      }
      for (const std::string& kernel : shape.kernels) {
        if (device.lacking.count(kernel) > 0) Fail("a kernel is lacking");
      }
    }
  }

  void JudgeWorkers() {
    for (const auto& [id, worker] : workers_) {
      std::set<std::string> taken;
      std::set<int64_t> jobs;
      int cpus = 0;
      int64_t memory = 0;
      bool exclusive = false;
      for (const auto& [job, attempt] : running_) {
        for (const Part& part : attempt.parts) {
          if (part.worker != id) continue;
          const Shape& shape = waiters_.at(job).shape;
          jobs.insert(job);
          cpus += shape.cpus;
          memory += shape.memory_bytes;
          exclusive |= shape.exclusive;
          for (const std::string& device : part.devices) {
            if (!taken.insert(device).second) Fail(device + " is given twice");
          }
        }
      }
      if (cpus > worker.cpus || memory > worker.memory_bytes) {
        Fail(id + " is overcommitted");
      }
      if (exclusive && jobs.size() > 1) Fail(id + " is shared");
    }
  }

  void JudgeLimits(const Waiter& waiter) {
    const TestBoard::Limits& limits = limits_.at(waiter.queue);
    int held = 0;
    int held_by = 0;
    int num_parts = 0;
    for (const auto& [job, attempt] : running_) {
      const Waiter& other = waiters_.at(job);
      num_parts += other.parent == waiter.parent ? 1 : 0;
      if (other.queue != waiter.queue) continue;
      held += other.shape.num_devices();
      if (other.owner == waiter.owner) held_by += other.shape.num_devices();
    }
    if (!waiter.parent.empty() && num_parts > waiter.max_parallel) {
      Fail("too many parts of a parent run");
    }
    if (limits.limit >= 0 && held > limits.limit) Fail("a quota is exceeded");
    if (limits.max_per_owner >= 0 && held_by > limits.max_per_owner) {
      Fail("an owner has too much");
    }
  }

  // `is_only`: no other job has any stopped, or room kept for it.
  void JudgePreemption(const Preemption& preemption, bool is_only) {
    ++num_preempted_;
    const Waiter& victim = waiters_.at(preemption.victim);
    const bool waits = waiting_.count(preemption.job) > 0;
    // What stops may leave room at once beside what is kept for others.
    if (!waits && is_only) {
      return Fail(absl::StrCat("job ", preemption.victim, " stops for ",
                               preemption.job, ", which had room"));
    }
    const Waiter& other = (waits ? waiting_ : waiters_).at(preemption.job);
    const bool is_own = victim.queue == other.queue;
    if (is_own && victim.priority >= other.priority) {
      Fail("an equal was preempted");
    }
    stopped_.insert(preemption.victim);
    running_.at(preemption.victim).ends =
        test_.now + absl::Seconds(Draw(1, 30));
    if (is_own) return;
    int held = 0;
    for (const auto& [job, attempt] : running_) {
      if (waiters_.at(job).queue == victim.queue && stopped_.count(job) == 0) {
        held += waiters_.at(job).shape.num_devices();
      }
    }
    if (held < limits_.at(victim.queue).guaranteed) {
      Fail("a queue was pushed below its guarantee");
    }
  }

  void JudgeWhatWaits() {
    for (const Reservation& reservation : test_.board.Reservations()) {
      if (reservation.at < test_.now) {
        Fail(absl::StrCat("job ", reservation.job,
                          " did not start when it was to"));
      }
    }
    for (const auto& [job, waiter] : waiting_) {
      if (Why(test_.board, job, test_.now).constraint == Constraint::kNone) {
        Fail(absl::StrCat("nothing holds job ", job, ", which waits"));
      }
    }
  }

  base::RandomSequence random_;
  TestBoard test_;
  std::vector<std::string> queues_;
  std::map<std::string, TestBoard::Limits> limits_;
  std::map<std::string, Worker> workers_;
  bool all_limited_ = false;
  std::map<int64_t, Waiter> waiting_;
  std::map<int64_t, Waiter> waiters_;
  std::map<int64_t, Attempt> running_;
  std::set<int64_t> stopped_;
  // When reserved jobs start at the latest.
  std::map<int64_t, absl::Duration> kept_;
  absl::Duration last_;
  std::string wrong_;
  int num_started_ = 0;
  int num_preempted_ = 0;
  int num_reserved_ = 0;
  int num_backfilled_ = 0;
};

TEST(FairRandomTest, KeepsAllItsPromises) {
  // Clusters in which it came up.
  int num_preempting = 0;
  int num_reserving = 0;
  int num_backfilling = 0;
  for (uint64_t seed = 1; seed <= kNumClusters; ++seed) {
    Cluster cluster(seed);
    ASSERT_EQ(cluster.Run(), "") << "seed " << seed;
    ASSERT_EQ(cluster.RunToTheEnd(), "") << "seed " << seed;
    EXPECT_GT(cluster.num_started(), 0) << "seed " << seed;
    num_preempting += cluster.num_preempted() > 0 ? 1 : 0;
    num_reserving += cluster.num_reserved() > 0 ? 1 : 0;
    num_backfilling += cluster.num_backfilled() > 0 ? 1 : 0;
  }
  // What seldom comes up is not shown to be right.
  EXPECT_GE(num_preempting, kNumClusters / 4);
  EXPECT_GE(num_reserving, kNumClusters / 4);
  EXPECT_GE(num_backfilling, kNumClusters / 4);
}

}  // namespace
}  // namespace ordo::scheduler::policy

// What placement costs at full size: the board and the policy alone, without
// jobs' records, until all jobs have ended.
//
//   bazel run //tests/bench:placement -- --workers 10000 --jobs 1000000
//
// Two kinds of work: `plain`, one device each and no limits, and `mixed`, 32
// shapes in 16 queues with quotas, 4 owners each: gangs, limits of time,
// priorities, cores.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <iostream>
#include <malloc.h>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random/random.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/fair.h"

ABSL_FLAG(int, workers, 10000, "Workers, of eight devices each.");
ABSL_FLAG(int, jobs, 1000000, "Jobs.");
ABSL_FLAG(int, reservations, 16,
          "Blocked jobs that room is kept for; 0: nobody is preempted either.");

namespace ordo::tests::bench {
namespace {

using scheduler::policy::Board;
using scheduler::policy::Decisions;
using scheduler::policy::PlaceFair;
using scheduler::policy::Shape;

constexpr int kDevices = 8;
constexpr int kQueues = 16;
constexpr int kShapes = 32;
constexpr int kOwners = 4;

double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Result {
  double bytes_per_job = 0;
  double submissions_per_second = 0;
  double decisions_per_second = 0;
  double place_us = 0;
  int64_t calls = 0;
  int64_t starts = 0;
  int64_t reservations = 0;
  int64_t preemptions = 0;
};

class Run {
 public:
  explicit Run(bool mixed) : mixed_(mixed), board_(Options()) {
    for (int i = 0; i < kShapes; ++i) shapes_.push_back(ShapeOf(i));
    for (int i = 0; i < kQueues; ++i) {
      scheduler::policy::Queue queue;
      queue.name = absl::StrCat("queue-", i);
      queue.weight = 1 + i % 4;
      if (mixed) {
        queue.quotas["cpu"].guaranteed = i % 3 * 100;
        if (i % 2 == 0) {
          queue.quotas["cpu"].limit = absl::GetFlag(FLAGS_workers);
        }
      }
      board_.PutQueue(queue);
    }
  }

  Result Measure() {
    Submit();
    PutWorkers();
    const double begin = ProcessorSeconds();
    Place();
    while (!ends_.empty()) {
      const auto [end, job] = ends_.top();
      ends_.pop();
      now_ = std::max(now_, end);
      // Preempted ones have ended before.
      if (!board_.IsRunning(job)) continue;
      board_.End(job, now_);
      Place();
    }
    const double seconds = ProcessorSeconds() - begin;
    result_.decisions_per_second =
        static_cast<double>(result_.starts + result_.preemptions) / seconds;
    result_.place_us = place_s_ * 1e6 / static_cast<double>(result_.starts);
    return result_;
  }

 private:
  static scheduler::policy::BoardOptions Options() {
    scheduler::policy::BoardOptions options;
    options.max_reservations = absl::GetFlag(FLAGS_reservations);
    return options;
  }

  Shape ShapeOf(int i) const {
    Shape shape;
    shape.kind = "cpu";
    if (!mixed_) return shape;
    if (i % 4 == 1) shape.devices = 1 + i % 8;
    if (i % 8 == 3) shape.ranks = 2 + i / 4;
    if (i % 3 == 0) shape.run_time_limit = absl::Minutes(10 * (1 + i));
    if (i % 5 == 0) shape.cpus = 1 + i % 4;
    return shape;
  }

  void Submit() {
    const size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd;
    const double begin = ProcessorSeconds();
    const int jobs = absl::GetFlag(FLAGS_jobs);
    for (int i = 1; i <= jobs; ++i) Wait(i);
    result_.submissions_per_second = jobs / (ProcessorSeconds() - begin);
    result_.bytes_per_job =
        static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd - bytes) /
        jobs;
  }

  // The same job each time it is asked.
  void Wait(int64_t job) {
    const base::RandomStream draw(job, "job");
    const int queue = static_cast<int>(draw.Int(0, kQueues));
    const int priority = mixed_ ? static_cast<int>(draw.Int(1, 4)) : 0;
    board_.Wait({job, absl::StrCat("queue-", queue),
                 absl::StrCat("owner-", draw.Int(2, kOwners)),
                 shapes_[draw.Int(3, kShapes)], priority,
                 absl::UnixEpoch() + absl::Milliseconds(job)});
  }

  void PutWorkers() {
    for (int i = 0; i < absl::GetFlag(FLAGS_workers); ++i) {
      scheduler::policy::Worker worker;
      worker.id = absl::StrCat("worker-", i);
      worker.cpus = 16;
      worker.labels = {{"host", worker.id}};
      for (int j = 0; j < kDevices; ++j) {
        worker.devices.push_back({absl::StrCat("cpu:", j), "cpu", 0, {}, true});
      }
      board_.PutWorker(worker);
    }
  }

  void Place() {
    for (bool more = true; more;) {
      const double begin = ProcessorSeconds();
      const Decisions decisions = PlaceFair(board_, now_);
      place_s_ += ProcessorSeconds() - begin;
      more = decisions.more;
      ++result_.calls;
      result_.starts += static_cast<int64_t>(decisions.starts.size());
      result_.reservations +=
          static_cast<int64_t>(decisions.reservations.size());
      result_.preemptions += static_cast<int64_t>(decisions.preemptions.size());
      for (const auto& start : decisions.starts) {
        board_.Start(start.job, {start.parts, now_, now_});
        const base::RandomStream draw(start.job, "end");
        const absl::Duration length =
            absl::Milliseconds(60000 + draw.Int(result_.starts, 540000));
        ends_.push({now_ + length, start.job});
      }
      for (const auto& reservation : decisions.reservations) {
        board_.Reserve(reservation);
      }
      for (const auto& preemption : decisions.preemptions) {
        board_.NoteStopping(preemption.victim, now_ + absl::Seconds(30));
        stopped_.push_back(preemption.victim);
      }
      board_.NoteAskAgain(decisions.ask_again_at);
    }
    // Victims obey at once, and wait again.
    if (stopped_.empty()) return;
    for (const int64_t job : std::exchange(stopped_, {})) {
      board_.End(job, now_);
      Wait(job);
    }
    Place();
  }

  const bool mixed_;
  std::vector<Shape> shapes_;
  Board board_;
  absl::Duration now_ = absl::Seconds(1000);
  using End = std::pair<absl::Duration, int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<int64_t> stopped_;
  double place_s_ = 0;
  Result result_;
};

void Print(const char* name, const Result& result) {
  std::cout << absl::StrFormat(
      "%s: %.0f decisions/s, %.2f us a start in the policy, %d calls, %d "
      "starts, %d reservations, %d preemptions, %.0f bytes a waiting job, %.0f "
      "submissions/s\n",
      name, result.decisions_per_second, result.place_us, result.calls,
      result.starts, result.reservations, result.preemptions,
      result.bytes_per_job, result.submissions_per_second);
}

}  // namespace
}  // namespace ordo::tests::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  ordo::tests::bench::Print("plain", ordo::tests::bench::Run(false).Measure());
  ordo::tests::bench::Print("mixed", ordo::tests::bench::Run(true).Measure());
  return 0;
}

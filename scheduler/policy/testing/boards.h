#ifndef ORDO_SCHEDULER_POLICY_TESTING_BOARDS_H_
#define ORDO_SCHEDULER_POLICY_TESTING_BOARDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/decisions.h"

// Boards for tests, told in few words.

namespace ordo::scheduler::policy::testing {

// One rank with so many CPU devices; several ranks of as many each.
Shape Cpus(int devices);
Shape Gang(int ranks, int devices);
// The shape with a limit of time.
Shape Within(Shape shape, absl::Duration limit);

// A worker with devices cpu:0, cpu:1, ... and 1000 cores and bytes.
Worker WorkerWith(const std::string& id, int devices);

struct Waiter {
  Shape shape = Cpus(1);
  std::string queue = "default";
  std::string owner = "ann";
  int priority = 0;
  DevicesByWorker avoided = {};
  // As WaitingJob.parent and max_parallel.
  std::string parent = {};
  int max_parallel = 0;
};

// A board with the queue `default`, at second 1000. Each job that comes is
// submitted a second after the one before it. Tests read and change `board` and
// `now` as they like.
class TestBoard {
 public:
  explicit TestBoard(const BoardOptions& options = BoardOptions());

  Board board;
  absl::Duration now = absl::Seconds(1000);

  void PutWorker(const std::string& id, int devices);
  // Of devices "cpu".
  struct Limits {
    int guaranteed = 0;
    int limit = -1;
    int max_per_owner = -1;
    double weight = 1;
  };
  void PutQueue(const std::string& name, const Limits& limits);

  // Its sequence, from 1.
  int64_t Wait(const Waiter& waiter = Waiter());
  int64_t Wait(const Shape& shape);
  // As many, the first one's sequence.
  int64_t WaitMany(int count, const Waiter& waiter = Waiter());

  // Asks and carries out until there is no more to decide, and then once more,
  // which must give nothing; all that was decided. Attempts that are preempted
  // have been told to stop.
  Decisions Place();
  // As Place; the sequences of the jobs that started, in their order.
  std::vector<int64_t> Started();
  // The job starts on the worker, on its first free devices, and runs.
  void Run(int64_t job, const std::string& worker);
  // An attempt ends; its job does not wait again.
  void End(int64_t job) { board.End(job, now); }
  // It waits again.
  void Requeue(int64_t job);

  // Devices that are not free, over all workers.
  int NumHeld() const;

 private:
  struct Submitted {
    Waiter waiter;
    absl::Time since;
  };

  void Wait(int64_t job, const Submitted& submitted);

  std::map<int64_t, Submitted> jobs_;
};

// Carries decisions out; victims get the board's grace.
void CarryOut(const Decisions& decisions, absl::Duration now, Board* board);

// "3: w1[cpu:0 cpu:1] w2[cpu:0]".
std::string ToText(const Start& start);

}  // namespace ordo::scheduler::policy::testing

#endif  // ORDO_SCHEDULER_POLICY_TESTING_BOARDS_H_

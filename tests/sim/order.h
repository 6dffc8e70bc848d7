#ifndef ORDO_TESTS_SIM_ORDER_H_
#define ORDO_TESTS_SIM_ORDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "scheduler/core/state.h"
#include "tests/sim/durable.h"
#include "tests/sim/world.h"

namespace ordo::tests::sim {

// Whose turn it is, by the jobs alone: a point of priority is worth so much age
// (BoardOptions.aging). Fails the world when
// - a job starts for which no room was kept, and one of its queue, owner,
//   parent and shape that comes earlier waits on: one that came before it and
//   has no lower priority, and, while the scheduler's wall clock has never gone
//   back between two jobs, one that is older by more than the priority between
//   them;
// - the first of those that wait in a queue has been that for longer than it
// may
//   be.
class Order {
 public:
  // `world` outlives it.
  explicit Order(World& world) : world_(world) {}

  // How long a job may be the first of its queue, where that is known.
  void ExpectFirstWithin(absl::Duration bound) { bound_ = bound; }

  // The scheduler starts anew: what it kept is forgotten.
  void AfterLoad(const scheduler::core::State& state);
  // A job's record left the core; jobs that are new come in their order.
  void TakeJob(const scheduler::core::JobFacts& job);
  // A job has begun in the event that led to the state.
  void CheckStart(const scheduler::core::State& state, const JobView& job);
  // After each event, and after all its starts.
  void AfterApply(const scheduler::core::State& state);

  // How long a job was the first of its queue, the longest.
  absl::Duration longest_first() const { return longest_first_; }

 private:
  struct First {
    int64_t sequence;
    absl::Duration since;
  };

  // Whether a job that waits comes before one that starts.
  bool ComesFirst(const scheduler::core::State& state,
                  const scheduler::core::JobFacts& waiting,
                  const JobView& starting) const;
  // A job that has been the first of its queue since then.
  void CheckFirst(const scheduler::core::JobFacts& job, absl::Duration since);

  World& world_;
  absl::Duration bound_ = absl::InfiniteDuration();
  // For whom room was kept before the event. By sequence, here and below.
  std::set<int64_t> reserved_;
  // The newest job, and when it was created by the scheduler's wall clock.
  int64_t newest_ = 0;
  int64_t newest_ns_ = 0;
  bool clock_went_back_ = false;
  // The first of those that wait, by queue.
  std::map<std::string, First> first_;
  absl::Duration longest_first_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_ORDER_H_

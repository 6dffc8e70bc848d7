#ifndef ORDO_SCHEDULER_POLICY_DECISIONS_H_
#define ORDO_SCHEDULER_POLICY_DECISIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"

// What a policy answers. Jobs are known by their sequence, times are moments of
// the scheduler's monotonic clock.

namespace ordo::scheduler::policy {

// No call decides more starts than this; the caller calls again.
inline constexpr size_t kMaxStarts = 1024;

// One rank of an attempt, and what it occupies.
struct Part {
  std::string worker;
  int rank = 0;
  // By name, in the worker's order.
  std::vector<std::string> devices;
};

inline bool operator==(const Part& a, const Part& b) {
  return std::tie(a.worker, a.rank, a.devices) ==
         std::tie(b.worker, b.rank, b.devices);
}

// A job starts now.
struct Start {
  int64_t job = 0;
  // All its ranks, in their order.
  std::vector<Part> parts;
};

inline bool operator==(const Start& a, const Start& b) {
  return a.job == b.job && a.parts == b.parts;
}

// Ranks that a reservation keeps room for on one worker.
struct Reserved {
  std::string worker;
  int ranks = 0;
};

inline bool operator==(const Reserved& a, const Reserved& b) {
  return a.worker == b.worker && a.ranks == b.ranks;
}

// Room that is kept for a job that waits.
struct Reservation {
  int64_t job = 0;
  // When it is free at the latest unless something fails: attempts that end
  // before may use it. Infinite: nobody knows, and what comes free is kept.
  absl::Duration at = absl::InfiniteDuration();
  std::vector<Reserved> workers;
};

inline bool operator==(const Reservation& a, const Reservation& b) {
  return a.job == b.job && a.at == b.at && a.workers == b.workers;
}

// A job whose attempt is to be stopped with a grace and queued again.
struct Preemption {
  enum class Why {
    // The other job has the larger priority in the same queue.
    kPriority,
    // The other job's queue takes back what it is guaranteed.
    kReclaim,
  };

  int64_t victim = 0;
  // For which it makes room; one of Decisions.reservations is for it.
  int64_t job = 0;
  Why why = Why::kPriority;
};

inline bool operator==(const Preemption& a, const Preemption& b) {
  return a.victim == b.victim && a.job == b.job && a.why == b.why;
}

// To carry out in this order: Board::Start, Board::Reserve, stop the victims
// (Board::NoteStopping), and Board::NoteAskAgain.
struct Decisions {
  std::vector<Start> starts;
  std::vector<Reservation> reservations;
  std::vector<Preemption> preemptions;
  // There may be more to decide once these are carried out: call again.
  bool more = false;
  // When to ask again although nothing happened: attempts may be old enough to
  // be preempted then. Infinite: no need.
  absl::Duration ask_again_at = absl::InfiniteDuration();
  // When to ask again, too: a job that waits comes too late for a drain then,
  // and others need not wait for it any more. Infinite: none will.
  absl::Duration lapses_at = absl::InfiniteDuration();

  bool empty() const {
    return starts.empty() && reservations.empty() && preemptions.empty();
  }
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_DECISIONS_H_

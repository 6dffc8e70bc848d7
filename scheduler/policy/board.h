#ifndef ORDO_SCHEDULER_POLICY_BOARD_H_
#define ORDO_SCHEDULER_POLICY_BOARD_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/policy/decisions.h"
#include "scheduler/policy/facts.h"
#include "scheduler/policy/job_order.h"
#include "scheduler/policy/options.h"
#include "scheduler/policy/tables.h"

// All that placement decides by, as indexes that the core keeps up to date.

namespace ordo::scheduler::policy {

// Plain data, copyable; not thread-safe. All names are copied. What it knows of
// a job is forgotten when the job neither waits nor runs; of queues until they
// are removed. A precondition that does not hold ends the process: it is a bug
// of the core.
//
// Times are moments of one monotonic clock, but for WaitingJob.since, which
// only orders jobs.
class Board {
 public:
  explicit Board(const BoardOptions& options = BoardOptions());

  // Adds or changes a queue; all of it counts at once. Reservations of its jobs
  // are given up.
  void PutQueue(const Queue& queue);
  // It is there, and none of its jobs waits or runs.
  void RemoveQueue(absl::string_view name);
  bool HasQueue(absl::string_view name) const;
  // Whether a job of it waits or runs.
  bool IsInUse(absl::string_view queue) const;

  // Jobs. A sequence waits or runs at most once, in a queue that is there.
  void Wait(const WaitingJob& job);
  // Nothing, when it does not wait. Gives up its reservation.
  void StopWaiting(int64_t sequence);
  bool IsWaiting(int64_t sequence) const;
  // Where in its queue a job stands while it waits.
  OrderKey KeyOf(const WaitingJob& job) const;
  // It waits.
  void SetPriority(int64_t sequence, int priority);

  // Adds a worker or changes it; all that is given counts at once. Devices that
  // are no longer given and are occupied stay so until they come free. When
  // anything changes, the reservations that need it are given up.
  void PutWorker(const Worker& worker);
  // Nothing runs there. Gives up the reservations that need it.
  void RemoveWorker(absl::string_view id);
  bool HasWorker(absl::string_view id) const;
  // The devices that something which is not an attempt of the board still
  // occupies; in place of those told before. Names that it lacks are ignored.
  void SetLingering(absl::string_view worker,
                    const std::set<std::string>& devices);

  // Attempts. The job waits; it stops waiting, and its reservation is used up.
  void Start(int64_t sequence, const Run& run);
  bool IsRunning(int64_t sequence) const;
  // It runs. A new checkpoint, for which a preemption would now lose less.
  void NoteCheckpoint(int64_t sequence, absl::Duration at);
  // It runs: when it will have done its work, by its progress. Decides nothing,
  // and is passed over once it has been told to stop.
  void NoteExpectedEnd(int64_t sequence, absl::Duration at);
  // It runs, and has been told to stop: it ends by then.
  void NoteStopping(int64_t sequence, absl::Duration ends_by);
  // It runs: what one rank occupies comes free, and was not used since `at`,
  // which may be past. Nothing, when it has.
  void EndPart(int64_t sequence, int rank, absl::Duration at);
  // It runs: the attempt is over, all of it comes free. `at` as of EndPart.
  void End(int64_t sequence, absl::Duration at);

  // The job waits; in place of the reservation that it has. The workers are
  // there, take work, and are not reserved for another job.
  void Reserve(const Reservation& reservation);
  // Nothing, when there is none.
  void Unreserve(int64_t sequence);
  // By job.
  std::vector<Reservation> Reservations() const;

  // Decisions.ask_again_at: nobody is preempted before. Infinite changes
  // nothing.
  void NoteAskAgain(absl::Duration at);

  // Device-seconds that decay by half in each half-life.
  double Usage(absl::string_view queue, absl::string_view kind,
               absl::Duration now) const;
  // As it was saved at a moment that may be past: it decays from then on, and
  // what starts later counts with the time that it has held devices since. The
  // queue is there.
  void SetUsage(absl::string_view queue, absl::string_view kind,
                double device_seconds, absl::Duration at);
  // Kinds of device that a queue has used, or that it may.
  std::vector<std::string> Kinds(absl::string_view queue) const;

  // The queue is there.
  int64_t NumWaiting(absl::string_view queue) const;
  int64_t NumRunning(absl::string_view queue) const;
  int NumHeld(absl::string_view queue, absl::string_view kind) const;

  const BoardOptions& options() const { return options_; }
  // For the files of this folder.
  const Tables& tables() const { return tables_; }

 private:
  BoardOptions options_;
  Tables tables_;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_BOARD_H_

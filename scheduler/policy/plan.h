#ifndef ORDO_SCHEDULER_POLICY_PLAN_H_
#define ORDO_SCHEDULER_POLICY_PLAN_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/decisions.h"
#include "scheduler/policy/room.h"
#include "scheduler/policy/tables.h"

// The room of a board while one call decides: what is given and kept in the
// call is taken off, the board stays as it is. Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// Ranks on a worker.
struct Assignment {
  int worker = -1;
  int ranks = 0;
};
using Assignments = std::vector<Assignment>;

// So many ranks on the fewest of the workers, each of which has room for those
// that are given with it: on one if one has room, the first of several. Empty:
// there is not room for all.
Assignments Fewest(Assignments candidates, int ranks);

using Occupants = absl::InlinedVector<const Occupant*, 16>;

struct PlanOptions {
  // As if nothing were kept for anybody.
  bool ignore_reservations = false;
};

class Plan {
 public:
  // The board outlives this and does not change meanwhile.
  Plan(const Board& board, absl::Duration now, const PlanOptions& options = {});

  const Tables& tables() const { return tables_; }
  const BoardOptions& options() const { return board_options_; }
  absl::Duration now() const { return now_; }
  // When a job of the shape that starts now, or then, has ended at the latest.
  absl::Duration EndsBy(int shape) const { return EndsBy(shape, now_); }
  absl::Duration EndsBy(int shape, absl::Duration start) const;

  // Whether any device of the kind might be had by a job that waits.
  bool HasRoom(int kind) const;
  // Where all ranks of the shape have room now: on one worker, the fullest that
  // does, else on the fewest. Empty: nowhere. What had no room once has none
  // later in the call.
  Assignments Fit(int shape);
  // The same for a job that waits: without the devices that it avoids, if there
  // is room so.
  Assignments FitFor(int64_t job, int shape);
  bool IsBlocked(int shape) const;
  // Whether there is room for all ranks where it is kept for a job that waits;
  // if so, there. The job has a reservation.
  Assignments FitReserved(int64_t job) const;
  // The same for all that is free on the workers where room is kept for it, and
  // on others as for any job: more ranks on one of them than were to be there,
  // or some elsewhere. Empty where nothing of what is kept is free: that is
  // FitFor's.
  Assignments FitBeside(int64_t job) const;

  struct Giving {
    int64_t job;
    int shape;
    const Assignments& where;
    // `where` is from FitReserved or FitBeside.
    bool owns = false;
  };
  // Starts a job where there is room.
  Start Give(const Giving& giving);
  // Keeps room from `at` on; the workers are not reserved for another job.
  void Keep(int shape, const Assignments& where, absl::Duration at);

  const Room& RoomAt(int worker) const;
  // All that are on the worker, those given in this call too; valid until the
  // next call that gives or keeps something.
  Occupants OccupantsAt(int worker) const;
  // Workers of the classes that fit the shape and that take what starts now,
  // those with the most devices for it first, at most so many. Without those
  // that are reserved.
  std::vector<int> MostOpen(int shape, size_t most) const;

 private:
  // What the call changed.
  struct Touched {
    Room room;
    std::vector<Occupant> added;
  };
  // How far the search for a shape came in one class, in each index: what was
  // passed has no room for it and gets none.
  struct Cursor {
    RoomKeys::const_iterator at[2];
    bool is_set[2] = {false, false};
  };
  struct ShapeState {
    bool blocked = false;
    std::vector<Cursor> cursors;
  };
  // One search.
  struct Search {
    int shape;
    Ask ask;
    Stay stay;
    // Whether workers that hold something back are looked at too.
    bool held_back;
    // As if these were not free; null: none.
    const DevicesByWorker* avoided = nullptr;
    // What is kept for this job is free for it; 0: for nobody.
    int64_t owner = 0;
  };

  Search SearchFor(int shape) const;
  Touched& Touch(int worker);
  // Takes a touched worker out of the index of those, or puts it in.
  void Reindex(int worker, int sign);
  const RoomKeys* TouchedKeys(int worker_class, int kind, int which) const;
  bool IsOwn(const Search& search, int worker) const;
  int RanksAt(const Search& search, int worker) const;
  // The fullest worker with room for so many ranks, not among `taken`; -1: none
  // has. With cursors when they are given.
  int FindOne(const Search& search, int ranks, const Assignments& taken,
              std::vector<Cursor>* cursors) const;
  Assignments Spread(const Search& search) const;

  const Board& board_;
  const Tables& tables_;
  const BoardOptions& board_options_;
  const absl::Duration now_;
  const PlanOptions options_;
  absl::flat_hash_map<int, Touched> touched_;
  // By class.
  std::map<int, RoomIndex> touched_index_;
  // By kind, beside what the board counts.
  std::vector<int64_t> open_;
  std::vector<int64_t> held_back_;
  absl::flat_hash_map<int, ShapeState> shapes_;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_PLAN_H_

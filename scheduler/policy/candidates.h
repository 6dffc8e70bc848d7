#ifndef ORDO_SCHEDULER_POLICY_CANDIDATES_H_
#define ORDO_SCHEDULER_POLICY_CANDIDATES_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "scheduler/policy/plan.h"
#include "scheduler/policy/tables.h"

// Which attempts may be stopped for a job, and in what order. Internal to
// scheduler/policy.

namespace ordo::scheduler::policy {

struct VictimOptions {
  // It waits, and wants room.
  int64_t job = 0;
  // Whether its queue takes back what it is guaranteed.
  bool reclaim = false;
};

// An attempt that may be stopped.
struct Candidate {
  int priority = 0;
  // Device-seconds since its last checkpoint.
  double lost_s = 0;
  int64_t job = 0;
  int queue = -1;
  // Of all its ranks.
  int devices = 0;
};

// Who is stopped first.
inline bool operator<(const Candidate& a, const Candidate& b) {
  return std::tie(a.priority, a.lost_s, a.job) <
         std::tie(b.priority, b.lost_s, b.job);
}

// Attempts of the job's queue with a smaller priority, and when its queue
// reclaims, those of other queues that hold more than they are guaranteed. None
// that is younger than min_run_time or has been told to stop.
class Candidates {
 public:
  // `plan` outlives it.
  Candidates(const Plan& plan, const VictimOptions& options);

  // The next in their order; nothing: there are no more. Of those that began or
  // wrote a checkpoint lately, those behind many that are too young are left
  // out until that is min_run_time ago.
  std::optional<Candidate> Next();

  // The attempt that has a rank on a worker; nothing: it is none of them.
  std::optional<Candidate> Of(const Occupant& occupant) const;

 private:
  using Set = absl::btree_set<AttemptKey>;

  // Of a queue, those that have not been opened.
  struct Attempts {
    int queue;
    const Set* set;
    Set::const_iterator next;
    Set::const_iterator end;
  };
  // Those of one queue and priority with as many devices.
  struct Group {
    int queue;
    const Set* set;
    Set::const_iterator next;
    Set::const_iterator end;
    Candidate candidate;
  };

  static bool IsLater(const Group& a, const Group& b) {
    return b.candidate < a.candidate;
  }

  bool IsYoung(absl::Duration started) const {
    return plan_.now() - started < plan_.options().min_run_time;
  }
  Candidate CandidateOf(const AttemptKey& key, int queue) const;
  // Opens all of the smallest priority.
  void OpenPriority();
  // Adds what is left of a group but for those that are too young.
  void Add(Group group);

  const Plan& plan_;
  // Of the job.
  int queue_;
  int priority_;
  // By queue: whether attempts of it may be stopped to take back.
  std::vector<bool> gives_back_;
  std::vector<Attempts> unopened_;
  // A heap, the next candidate's first.
  std::vector<Group> groups_;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_CANDIDATES_H_

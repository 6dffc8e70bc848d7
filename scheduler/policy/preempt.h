#ifndef ORDO_SCHEDULER_POLICY_PREEMPT_H_
#define ORDO_SCHEDULER_POLICY_PREEMPT_H_

#include <cstdint>
#include <vector>

#include "scheduler/policy/plan.h"

// Which attempts make room for a job. Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// An attempt that may be stopped.
struct Candidate {
  int64_t job = 0;
  int queue = -1;
  int priority = 0;
  // Device-seconds since its last checkpoint.
  double lost_s = 0;
};

struct CandidateOptions {
  // Of the job that wants room, and its priority.
  int lane = -1;
  int priority = 0;
  // Whether its queue takes back what it is guaranteed.
  bool reclaim = false;
};
// Attempts of the job's queue with a smaller priority, and when its queue
// reclaims, those of other queues that hold more than they are guaranteed; the
// smallest priority first, then what loses least. None that is younger than
// min_run_time or has been told to stop.
std::vector<Candidate> FindCandidates(const Plan& plan,
                                      const CandidateOptions& options);

// Who must stop, and where the job starts then; both empty: it is not enough.
struct Victims {
  std::vector<int64_t> jobs;
  Assignments where;
};
// As few of the candidates as make room for the job that waits, in their order.
Victims ChooseVictims(const Plan& plan, int64_t job,
                      const std::vector<Candidate>& candidates);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_PREEMPT_H_

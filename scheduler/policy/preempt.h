#ifndef ORDO_SCHEDULER_POLICY_PREEMPT_H_
#define ORDO_SCHEDULER_POLICY_PREEMPT_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "scheduler/policy/candidates.h"
#include "scheduler/policy/plan.h"

// Which attempts make room for a job. Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// Attempts for one kind of device that are stopped for others in this call, and
// the devices that queues lose by that.
struct Stopped {
  std::set<int64_t> jobs;
  std::map<int, int> devices;
};

// Who must stop, and where the job starts then; both empty: it is not enough.
struct Victims {
  std::vector<int64_t> jobs;
  Assignments where;
};

// As few of the candidates as make room for the job, which are added to
// `stopped`; other queues keep what they are guaranteed. They are taken in
// their order, one of the first that alone makes no room for a rank together
// with others of its worker. Looks at a hundred or so, or at a few for each
// device that the job wants.
Victims ChooseVictims(const Plan& plan, const VictimOptions& options,
                      Stopped* stopped);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_PREEMPT_H_

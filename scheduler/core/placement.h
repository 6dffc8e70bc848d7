#ifndef ORDO_SCHEDULER_CORE_PLACEMENT_H_
#define ORDO_SCHEDULER_CORE_PLACEMENT_H_

#include "scheduler/core/turn.h"

namespace ordo::scheduler::core {

// Asks the policy, if the board has changed or the policy wanted to be asked by
// now, and carries out what it decides. Internal to scheduler/core.
void PlaceJobs(Turn& turn);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_PLACEMENT_H_

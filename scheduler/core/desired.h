#ifndef ORDO_SCHEDULER_CORE_DESIRED_H_
#define ORDO_SCHEDULER_CORE_DESIRED_H_

#include "scheduler/core/turn.h"

namespace ordo::scheduler::core {

// Emits SetDesired with all that `worker` should run, numbered anew; nothing
// unless it is online. Internal to scheduler/core.
void EmitDesired(Turn& turn, const Worker& worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_DESIRED_H_

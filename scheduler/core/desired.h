#ifndef ORDO_SCHEDULER_CORE_DESIRED_H_
#define ORDO_SCHEDULER_CORE_DESIRED_H_

#include "scheduler/core/turn.h"

namespace ordo::scheduler::core {

// Emits SetDesired with all that `worker` should run, numbered anew; nothing
// unless it is online. Tasks are sent until the worker has listed their
// attempts; where all of them are more than a set may hold
// (Options.max_tasks_bytes), the attempts to run that were placed last are not
// listed yet, and Worker.left_out says so: the next set comes when the worker
// has listed what it was told. What is to end needs no task, and is always
// listed. An attempt whose task cannot be made is not listed either, and
// SetDesired.untold says why; what the task of one that was told is made of is
// kept until the worker has listed it.
// Internal to scheduler/core.
void EmitDesired(Turn& turn, Worker& worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_DESIRED_H_

#ifndef ORDO_SCHEDULER_CORE_SUBMIT_H_
#define ORDO_SCHEDULER_CORE_SUBMIT_H_

#include "scheduler/core/event.h"
#include "scheduler/core/turn.h"

namespace ordo::scheduler::core {

// Creates jobs, all or none, and answers the call. ALREADY_EXISTS: a name is
// taken, by a job or earlier in the call, or a name or request id by a job that
// has left the store. INVALID_ARGUMENT: a known request id
// with another fingerprint, a name that is no id, or parts that are not the
// jobs right before their parent. NOT_FOUND: a checkpoint
// that a spec names is not there. A known request id with the same fingerprint
// gives the job that it made, without the parts that come before it. Parts are
// created on hold when their parent is. A job with an imported checkpoint has
// ended at once and holds it. Internal to scheduler/core.
void HandleSubmit(Turn& turn, Submit submit);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SUBMIT_H_

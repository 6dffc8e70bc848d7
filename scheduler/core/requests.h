#ifndef ORDO_SCHEDULER_CORE_REQUESTS_H_
#define ORDO_SCHEDULER_CORE_REQUESTS_H_

#include "scheduler/core/event.h"
#include "scheduler/core/turn.h"

// What users ask of a job that exists. Each is answered with the job, or with
// NOT_FOUND, or FAILED_PRECONDITION when its state does not allow it. Internal
// to scheduler/core. What is asked of a job reaches its parts, too.

namespace ordo::scheduler::core {

// Ends a job that has not ended.
void HandleCancel(Turn& turn, const Cancel& cancel);

// Of a queued job. What is so already changes nothing.
void HandleHold(Turn& turn, const Hold& hold);
void HandleRelease(Turn& turn, const Release& release);
void HandleSetPriority(Turn& turn, const SetPriority& set);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_REQUESTS_H_

#ifndef ORDO_SCHEDULER_CORE_CANCEL_H_
#define ORDO_SCHEDULER_CORE_CANCEL_H_

#include <string>

#include "scheduler/core/turn.h"

// How jobs are cancelled: by a user, with all their parts, by time, or because
// they are behind their siblings. Internal to scheduler/core.

namespace ordo::scheduler::core {

// A user cancels the job of the entry, which has not ended, and its parts that
// have not: what is queued ends at once, what is live is ended by its workers.
void CancelJob(Turn& turn, JobEntry& entry, const std::string& user);

// Ends the part of the entry, which has not ended and is not being cancelled,
// as STOPPED_EARLY; `why` is its message.
void StopEarly(Turn& turn, JobEntry& entry, const std::string& why);

// A queued job has waited for as long as it may: it is cancelled. Its parts, if
// it has some, have ended.
void ExpireQueueTime(Turn& turn, const std::string& job);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_CANCEL_H_

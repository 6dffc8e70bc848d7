#ifndef ORDO_SCHEDULER_CORE_OBSERVE_H_
#define ORDO_SCHEDULER_CORE_OBSERVE_H_

#include <string>

#include "scheduler/core/event.h"
#include "scheduler/core/turn.h"

// What workers say. Internal to scheduler/core.

namespace ordo::scheduler::core {

// Takes an announcement and answers it: INVALID_ARGUMENT when it is malformed,
// ABORTED when a later incarnation of the worker is known. One that comes, or
// comes back, is told its desired set; its devices are offered once it has
// answered that.
void HandleAnnounced(Turn& turn, const Announced& announced);

// Takes a worker's answer to a desired set; of a worker or incarnation that is
// not online it changes nothing.
void HandleObserved(Turn& turn, const Observed& observed);

// A worker was silent for a lease: its attempts end, it gets no work.
void LoseWorker(Turn& turn, const std::string& worker);

// A lost worker that never came back leaves the listing.
void ForgetWorker(Turn& turn, const std::string& worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_OBSERVE_H_

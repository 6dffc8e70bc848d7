#ifndef ORDO_SCHEDULER_CORE_QUARANTINE_H_
#define ORDO_SCHEDULER_CORE_QUARANTINE_H_

#include "scheduler/core/turn.h"

// Which failures are blamed on which devices, and what becomes of these; what
// is kept of them: device_admin.h. A job that fails on two devices alike is to
// blame itself. Internal to scheduler/core.

namespace ordo::scheduler::core {

// What the ranks that ended in this turn (turn.rank_ends) say of their devices.
void JudgeDevices(Turn& turn);

// What is kept of the devices of a worker that has announced itself follows
// their UUIDs; before what their drivers said is taken.
void FollowDevices(Turn& turn, const Worker& worker);

// What drivers said of the devices of a worker that has announced itself,
// before what that observed is taken.
void TakeFaults(Turn& turn, const Worker& worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_QUARANTINE_H_

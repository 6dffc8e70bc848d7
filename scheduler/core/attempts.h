#ifndef ORDO_SCHEDULER_CORE_ATTEMPTS_H_
#define ORDO_SCHEDULER_CORE_ATTEMPTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/core/exits.h"
#include "scheduler/core/turn.h"
#include "scheduler/policy/decisions.h"

// The life of an attempt: placed, stopped, ended. Internal to scheduler/core.

namespace ordo::scheduler::core {

// The newest attempts kept in a job's record.
inline constexpr int kMaxAttemptsKept = 100;

// Gives a job that waits for devices what `parts` say, one for each rank.
void StartAttempt(Turn& turn, const std::string& job,
                  const std::vector<policy::Part>& parts);

// Counts the devices' time since it was last counted, as what it was used for;
// of a rank that has ended, up to its end. Called before `live.use` or what is
// over changes, and at each observation, so that the count of a long attempt
// grows while it runs.
void CountUse(Turn& turn, Live& live);

// The workers of an attempt are told anew what to do with it.
void TellWorkersOf(Turn& turn, const Live& live);
// The same for each attempt that has a rank on this worker.
void TellPeersOf(Turn& turn, const Worker& worker);

// Asks an attempt to write a checkpoint and leave, for one of the reasons
// PREEMPTED and RUN_TIME_LIMIT; nothing when it is being ended already. The
// caller commits the edit.
void StopAttempt(JobEdit& edit, const std::string& reason,
                 const std::string& message);

// A rank of the live attempt has exited, or its worker is lost: its devices are
// free, since LiveRank.gone_at if that is known. With the last one the attempt
// ends, and the job or its wait for another attempt. The caller commits the
// edit.
void EndRank(JobEdit& edit, int32_t rank, const AttemptEnd& end);

// An attempt has run for as long as its job may.
void ExpireRunTime(Turn& turn, const std::string& job);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_ATTEMPTS_H_

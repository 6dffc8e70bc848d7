#ifndef ORDO_SCHEDULER_CORE_RANKS_H_
#define ORDO_SCHEDULER_CORE_RANKS_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/core/exits.h"
#include "scheduler/core/job.h"
#include "scheduler/core/state.h"

// How an attempt ends by what becomes of its ranks. It ends with the first that
// ends badly, and that end is the attempt's; the others are killed. Internal to
// scheduler/core.

namespace ordo::scheduler::core {

// What the workers of a job's live attempt are to do with what runs of it: by
// the record alone, and with workers that are drained, by themselves or because
// people said so, and devices in quarantine, which stop all of it. A stop that
// a worker has begun is not taken back. `here`: one of the state's workers that
// need not be looked for; null: none is at hand.
Asked AskedOf(const JobRecord& job);
Asked AskedOf(const State& state, const JobEntry& entry,
              const Worker* here = nullptr);

// The ranks of an attempt, as far as its record tells.
std::vector<LiveRank> RanksOf(const jobs::v1::Attempt& attempt);
// Those of them that ended because their devices failed, each with the one that
// it computed on: the first of those that it held.
std::vector<LiveRank> FailedByDevice(const jobs::v1::Attempt& attempt);

// Notes the end of one of several ranks.
void TakeRankEnd(int32_t rank, const AttemptEnd& end, absl::Time at,
                 jobs::v1::Attempt* attempt);

// How an attempt of several ranks ended, all of which are over.
AttemptEnd EndOfRanks(const jobs::v1::Attempt& attempt);

// The end of an attempt that somebody may have asked to stop (its reason, set
// before its end): when it stopped, that was why.
AttemptEnd AsAsked(const jobs::v1::Attempt& attempt, AttemptEnd end);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_RANKS_H_

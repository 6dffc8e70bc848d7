#ifndef ORDO_SCHEDULER_CORE_FOLLOW_H_
#define ORDO_SCHEDULER_CORE_FOLLOW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/core/state.h"

// Jobs that evaluate the checkpoints of another as they come
// (jobs/{job}/checkpoints/every). Each attempt evaluates those that there are
// by then; in between the job is queued and waits for the next. It has
// evaluated a checkpoint when it has as many reports of its step as it has
// evaluations: of several attempts' checkpoints of one step one counts.

namespace ordo::scheduler::core {

// Checkpoints that one attempt evaluates, at most.
inline constexpr size_t kMaxFollowedAtOnce = 256;

// The id of the job whose checkpoints a job follows; empty: it follows none.
std::string FollowedBy(const JobFacts& job);

// The checkpoints that a job with this spec evaluates now, null where one is
// not there. Of one that follows another: those that it has not evaluated, the
// first steps first; once nothing is left, the newest that the other has.
std::vector<CheckpointPtr> EvaluatedBy(const State& state,
                                       const JobEntry& entry,
                                       const jobs::v1::JobSpec& spec);

// Whether the job follows one that has not ended, of which nothing is there
// that it has not evaluated.
bool AwaitsCheckpoint(const State& state, const JobEntry& entry,
                      const JobFacts& job);

// Whether a job whose attempt is done has more to do, or may have.
bool GoesOn(const State& state, const JobEntry& entry);

// Whether an attempt that is done has left no report, and yet something is
// there that the job has not evaluated: another would do the same.
bool IsStuck(const State& state, const JobEntry& entry);

// Ids of the jobs that have not ended, follow the job of the checkpoint and
// have not evaluated it yet.
std::vector<std::string> AwaitedBy(
    const State& state, const checkpoints::v1::Checkpoint& checkpoint);

// Ids of the jobs that have not ended and follow this one.
std::vector<std::string> FollowersOf(const State& state,
                                     const std::string& job);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_FOLLOW_H_

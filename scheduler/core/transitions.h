#ifndef ORDO_SCHEDULER_CORE_TRANSITIONS_H_
#define ORDO_SCHEDULER_CORE_TRANSITIONS_H_

#include <optional>
#include <string_view>

#include "proto/ordo/jobs/v1/jobs.pb.h"

// Every legal change of a job's public state, in one list. docs/states.md shows
// the same list as a diagram and a table; a test compares them.

namespace ordo::scheduler::core {

using JobState = jobs::v1::Job::State;

// What may happen to a job that exists.
enum class Trigger {
  kPlace,      // a device was found; an attempt begins
  kRun,        // its trainer has reported
  kCancel,     // a user asked to cancel, or it is stopped early
  kFinish,     // the attempt ended: the task is done
  kFail,       // no further attempt may help or is allowed
  kRetry,      // the attempt failed and another is allowed
  kInterrupt,  // the attempt ended by no fault of the job
  kExpire,     // it waited for longer than it may
};

inline constexpr Trigger kTriggers[] = {
    Trigger::kPlace, Trigger::kRun,   Trigger::kCancel,    Trigger::kFinish,
    Trigger::kFail,  Trigger::kRetry, Trigger::kInterrupt, Trigger::kExpire,
};

inline constexpr JobState kJobStates[] = {
    jobs::v1::Job::QUEUED,     jobs::v1::Job::STARTING,  jobs::v1::Job::RUNNING,
    jobs::v1::Job::CANCELLING, jobs::v1::Job::SUCCEEDED, jobs::v1::Job::FAILED,
    jobs::v1::Job::CANCELLED,
};

struct Transition {
  JobState from;
  Trigger trigger;
  JobState to;
};

inline constexpr Transition kTransitions[] = {
    {jobs::v1::Job::QUEUED, Trigger::kPlace, jobs::v1::Job::STARTING},
    {jobs::v1::Job::QUEUED, Trigger::kCancel, jobs::v1::Job::CANCELLED},
    {jobs::v1::Job::QUEUED, Trigger::kFail, jobs::v1::Job::FAILED},
    {jobs::v1::Job::QUEUED, Trigger::kExpire, jobs::v1::Job::CANCELLED},

    {jobs::v1::Job::STARTING, Trigger::kRun, jobs::v1::Job::RUNNING},
    {jobs::v1::Job::STARTING, Trigger::kCancel, jobs::v1::Job::CANCELLING},
    {jobs::v1::Job::STARTING, Trigger::kFinish, jobs::v1::Job::SUCCEEDED},
    {jobs::v1::Job::STARTING, Trigger::kFail, jobs::v1::Job::FAILED},
    {jobs::v1::Job::STARTING, Trigger::kRetry, jobs::v1::Job::QUEUED},
    {jobs::v1::Job::STARTING, Trigger::kInterrupt, jobs::v1::Job::QUEUED},

    {jobs::v1::Job::RUNNING, Trigger::kCancel, jobs::v1::Job::CANCELLING},
    {jobs::v1::Job::RUNNING, Trigger::kFinish, jobs::v1::Job::SUCCEEDED},
    {jobs::v1::Job::RUNNING, Trigger::kFail, jobs::v1::Job::FAILED},
    {jobs::v1::Job::RUNNING, Trigger::kRetry, jobs::v1::Job::QUEUED},
    {jobs::v1::Job::RUNNING, Trigger::kInterrupt, jobs::v1::Job::QUEUED},

    // A cancel that has been answered is not taken back: however the attempt
    // ends, the job is cancelled.
    {jobs::v1::Job::CANCELLING, Trigger::kCancel, jobs::v1::Job::CANCELLING},
    {jobs::v1::Job::CANCELLING, Trigger::kFinish, jobs::v1::Job::CANCELLED},
    {jobs::v1::Job::CANCELLING, Trigger::kFail, jobs::v1::Job::CANCELLED},
    {jobs::v1::Job::CANCELLING, Trigger::kRetry, jobs::v1::Job::CANCELLED},
    {jobs::v1::Job::CANCELLING, Trigger::kInterrupt, jobs::v1::Job::CANCELLED},
};

// Where `trigger` leads from `from`; nothing when it is not accepted there.
std::optional<JobState> NextState(JobState from, Trigger trigger);

// SUCCEEDED, FAILED and CANCELLED: they accept nothing.
bool IsTerminal(JobState state);

// "place", "run", ...
std::string_view TriggerName(Trigger trigger);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_TRANSITIONS_H_

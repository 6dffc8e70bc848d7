#ifndef ORDO_SCHEDULER_CORE_INVARIANTS_H_
#define ORDO_SCHEDULER_CORE_INVARIANTS_H_

#include "absl/status/status.h"
#include "scheduler/core/state.h"

namespace ordo::scheduler::core {

// What holds after every Apply; INTERNAL with the first thing that does not:
// - a job is in one place: waiting for a device, in a backoff, live or ended,
//   and its public state says the same;
// - at most one attempt of a job is live, the newest; attempt numbers only
//   grow; all earlier ones have an end;
// - a device runs at most one attempt, and is free exactly when its worker
// takes
//   work and nothing holds it;
// - failed attempts stay within the budget;
// - checkpoints and reports belong to their job and to an attempt it had;
// beyond
//   the newest `keep`, only pinned ones are available;
// - what a job that has not ended names, and its parts, are there and pinned,
//   and nothing else is;
// - request ids and sequences are unique and lead back to their job;
// - each deadline belongs to its owner, and each owner has those it needs.
// Walks everything: for tests.
absl::Status CheckInvariants(const State& state);

// The part of it that is about one job and what belongs to it, and about the
// checkpoints that it names: also for jobs that were just loaded.
absl::Status CheckJob(const State& state, const JobEntry& entry);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_INVARIANTS_H_

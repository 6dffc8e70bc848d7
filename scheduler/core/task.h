#ifndef ORDO_SCHEDULER_CORE_TASK_H_
#define ORDO_SCHEDULER_CORE_TASK_H_

#include "absl/status/status.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "scheduler/core/state.h"

// What an attempt is to do, derived from its job and what is registered; of a
// job with parts: summarize.h. Reads the job's spec, with the errors of
// SpecSource, unless Live.spec is there.

namespace ordo::scheduler::core {

// Checkpoints offered to resume from; if all of these are damaged, older ones
// would lose more than a fresh start costs to look at.
inline constexpr int kMaxResume = 8;

// How a task names a checkpoint.
training::v1::CheckpointSource SourceOf(
    const checkpoints::v1::Checkpoint& checkpoint);

// Of a TRAIN job, for its newest attempt. `task` is empty, here and below.
absl::Status SetTrainTask(const State& state, const JobEntry& entry,
                          training::v1::TrainSpec* task);

// Of an EVALUATE job, for its newest attempt.
absl::Status SetEvaluateTask(const State& state, const JobEntry& entry,
                             training::v1::EvaluateSpec* task);

// Of a GATE job, for its newest attempt.
absl::Status SetGateTask(const State& state, const JobEntry& entry,
                         training::v1::GateSpec* task);

// Of a BENCHMARK job, for its newest attempt.
absl::Status SetBenchmarkTask(const JobEntry& entry,
                              training::v1::BenchmarkSpec* task);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_TASK_H_

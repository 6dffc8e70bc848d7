#ifndef ORDO_BASE_VERSION_WORKER_PROTOCOL_H_
#define ORDO_BASE_VERSION_WORKER_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

// Versions of the protocol between scheduler and workers
// (proto/ordo/agent/v1). It grows by one with a release that adds what the
// other side must know of; a field whose absence is safe, or a value that is
// safe where it is not understood, needs no new version. A release understands
// the one before it and what the next may send it, so that either side can be
// upgraded first.
//   1: the first release, which does not say its version.
//   2: ranks, devices of observed attempts, resources, faults of devices. Later
//      without a new version: `nccl` of an announcement (absent: no rank of
//      several starts on GPUs there), and FOLDER_TAKEN as how an attempt ended
//      (not understood: a failure that counts, and the next attempt follows).
//   3: tasks that sum up a sweep, comparison or pipeline, and gates. Later
//      without a new version: when an attempt ended (absent: when the scheduler
//      hears of it), and of an announcement `data_roots` (absent: not known)
//      and `leave_time` (absent: it stays).

namespace ordo::base {

// What this build speaks.
inline constexpr int32_t kWorkerProtocol = 3;

// Of a desired set, in bytes: what a worker takes in one message, and what it
// keeps of an attempt.
inline constexpr size_t kMaxDesiredSetBytes = 16 << 20;
// Of the tasks in one together. What is said of attempts beside their tasks
// fits into the rest.
inline constexpr size_t kMaxTasksBytes = 12 << 20;

// Whether a worker that speaks this version knows tasks that sum up others
// (training.v1.SummarizeSpec), and those that decide a gate
// (training.v1.GateSpec); one that does not takes them for evaluations of no
// checkpoint.
inline bool KnowsSummaries(int32_t worker_version) {
  return worker_version >= 3;
}
inline bool KnowsGates(int32_t worker_version) { return worker_version >= 3; }

// The two ends of a connection; a version of 0 was not said and means 1.
struct WorkerProtocols {
  // Id of the worker.
  std::string worker;
  int32_t worker_version = kWorkerProtocol;
  int32_t scheduler_version = kWorkerProtocol;
};

// FAILED_PRECONDITION when they are more than one apart: both versions, and
// which side to upgrade. INVALID_ARGUMENT for a version below 0.
absl::Status CheckNeighbours(const WorkerProtocols& protocols);

}  // namespace ordo::base

#endif  // ORDO_BASE_VERSION_WORKER_PROTOCOL_H_

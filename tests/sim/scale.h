#ifndef ORDO_TESTS_SIM_SCALE_H_
#define ORDO_TESTS_SIM_SCALE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

// The scheduler's core at full size, alone: no network, no store but one that
// makes specs up again when they are read; workers announce themselves, jobs
// with names of 24 characters and two labels, the same of all, are submitted,
// and each end of an attempt is one event, until all jobs have ended.

namespace ordo::tests::sim {

struct ScaleOptions {
  int num_workers = 10'000;
  int num_devices = 8;
  int num_jobs = 1'000'000;
  // Each job has a spec of its own, with another seed than all others; else
  // those of a call share one.
  bool distinct_specs = true;
  // CheckInvariants runs after so many events, and at the end.
  int64_t check_period = 100'000;
};

struct ScaleResult {
  // INTERNAL: what did not hold.
  absl::Status status;
  int64_t num_events = 0;
  // Jobs given to a device.
  int64_t num_decisions = 0;
  // Decisions by processor time, from the first event after the submission to
  // the last end, without that of the checks.
  double decisions_per_second = 0;
  double submissions_per_second = 0;
  // Of the heap, by job that waits.
  double bytes_per_queued_job = 0;
};

ScaleResult RunScale(const ScaleOptions& options);

std::string Describe(const ScaleResult& result, const ScaleOptions& options);

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_SCALE_H_

#ifndef ORDO_WORKER_TRAINER_PROBE_H_
#define ORDO_WORKER_TRAINER_PROBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "proto/ordo/training/v1/probe.pb.h"

namespace ordo::worker::trainer {

struct ProbeOptions {
  // `cpu` or `cuda`, with `:<index>` or without: as a worker names devices.
  // GPUs are counted as the driver lists them; with CUDA_VISIBLE_DEVICES in the
  // environment there is one, the first of those.
  std::string device;
  // The library of kernels for GPUs.
  std::string gpu_kernels;
  // SHA-256 of this program.
  std::string build_digest;
  // What is not probed by then counts as failed, with no problem named.
  absl::Duration limit = absl::Seconds(20);
};

// Each kernel for the device beside the reference (kernels/probe), in a process
// of its own, which may crash. This process must have no other thread.
//
// INVALID_ARGUMENT: no device is called so. UNAVAILABLE: there is none, or no
// kernels for it.
absl::StatusOr<ordo::training::v1::KernelProbe> Probe(
    base::Filesystem& files, base::Clock& clock, const ProbeOptions& options);

// As a table, for people; or a line of JSON: the message, with its own names.
// INVALID_ARGUMENT: `output` is neither `table` (or empty) nor `json`.
absl::StatusOr<std::string> ProbeText(
    const ordo::training::v1::KernelProbe& probe, const std::string& output);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_PROBE_H_

#ifndef ORDO_WORKER_AGENT_GPUS_H_
#define ORDO_WORKER_AGENT_GPUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "proto/ordo/workers/v1/workers.pb.h"

// What a driver of GPUs says of them. Plain data.

namespace ordo::worker::agent {

// What never changes of a GPU while its driver is loaded.
struct Gpu {
  // cuda:<index>, where index is the number of its device file.
  std::string device;
  // Its name for ever, "GPU-..."; empty: not known.
  std::string uuid;
  std::string model;
  // 0: not known.
  int64_t memory_bytes = 0;
  std::string driver_version;
};

// One that has memory of a GPU.
struct GpuProcess {
  pid_t pid = 0;
  // 0: not known.
  int64_t bytes = 0;
};

// Who uses a GPU at one time.
struct GpuUse {
  int64_t free_bytes = 0;
  // Without what the driver keeps for itself.
  int64_t used_bytes = 0;
  // Those that compute.
  std::vector<GpuProcess> processes;
  // Memory of those that only draw.
  int64_t drawing_bytes = 0;
  // What follows is nothing where the driver does not tell it, as of a part of
  // a GPU. Part of the last moment in which it computed, 0..1.
  std::optional<double> utilization;
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;
  // Errors of its memory since the driver was loaded.
  std::optional<int64_t> corrected_errors;
  std::optional<int64_t> uncorrected_errors;
};

// A fault and whose it is.
struct GpuFault {
  std::string uuid;
  ::ordo::workers::v1::DeviceFault fault;
};

// A number that NVIDIA's driver gives to an error (Xid), as a fault. What only
// a job's own program can be blamed for is no fault of the device: false.
bool DescribeXid(uint64_t xid, ::ordo::workers::v1::DeviceFault* fault);

// An error of memory that could not be corrected.
::ordo::workers::v1::DeviceFault DoubleBitFault();

// The code of a fault, if it is one that a message is known for; else
// kOtherFault: of a closed set.
inline constexpr char kOtherFault[] = "other";
std::string FaultLabel(const ::ordo::workers::v1::DeviceFault& fault);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_GPUS_H_

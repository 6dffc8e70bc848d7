#ifndef ORDO_KERNELS_COMMON_DEVICE_NAME_H_
#define ORDO_KERNELS_COMMON_DEVICE_NAME_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/common/type.h"

// Devices as people and workers name them.

namespace ordo::kernels {

struct DeviceName {
  Device device = Device::kCpu;
  // Of GPUs, as the driver lists them.
  int index = 0;
};

// `cpu` or `cuda`, with `:<index>` or without, which is the first; there is one
// CPU. INVALID_ARGUMENT, without the name of a field: no device is called so.
absl::StatusOr<DeviceName> ParseDevice(std::string_view text);

// "cpu", "cuda:1".
std::string ToString(const DeviceName& name);

// Lets this process see that GPU alone, as its first. Where the environment
// has CUDA_VISIBLE_DEVICES, that stands. Call it before anything asks CUDA, in
// a process of one thread.
void SeeGpu(int index);

// Whether the environment says which GPUs are seen.
bool GpusAreChosen();

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_DEVICE_NAME_H_

#ifndef ORDO_KERNELS_COMMON_DEVICE_MEMORY_H_
#define ORDO_KERNELS_COMMON_DEVICE_MEMORY_H_

#include <cstdint>

namespace ordo::kernels {

// A device's memory, for tests and probes without LibTorch. All functions wait
// for what the device was given before.
struct DeviceMemory {
  // Aligned to 256 bytes; null: there is not that much.
  void* (*allocate)(int64_t bytes);
  void (*release)(void* memory);
  // Either side may be the host's. Null, or what went wrong, here or in what
  // was queued before.
  const char* (*copy)(void* to, const void* from, int64_t bytes);
};

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_DEVICE_MEMORY_H_

#include "worker/trainer/memory.h"

#include <cstddef>
#include <sys/resource.h>

#include "c10/core/CachingDeviceAllocator.h"

namespace ordo::worker::trainer {

int64_t PeakMemoryBytes(c10::Device device) {
  if (!device.is_cpu()) {
    constexpr auto kAll =
        static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return c10::getDeviceAllocator(device.type())
        ->getDeviceStats(device.index())
        .allocated_bytes[kAll]
        .peak;
  }
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  // Linux counts in KiB.
  return static_cast<int64_t>(usage.ru_maxrss) << 10;
}

}  // namespace ordo::worker::trainer

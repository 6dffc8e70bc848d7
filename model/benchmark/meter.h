#ifndef ORDO_MODEL_BENCHMARK_METER_H_
#define ORDO_MODEL_BENCHMARK_METER_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/status/status.h"
#include "c10/core/CachingDeviceAllocator.h"
#include "c10/core/Device.h"
#include "c10/core/Event.h"
#include "c10/core/impl/VirtualGuardImpl.h"
#include "kernels/common/type.h"
#include "model/benchmark/counting_allocator.h"

namespace ordo::model::benchmark {

// LibTorch's name of a device; of a GPU the first.
inline c10::Device DeviceOf(kernels::Device device) {
  return device == kernels::Device::kCpu
             ? c10::Device(c10::DeviceType::CPU)
             : c10::Device(c10::DeviceType::CUDA, 0);
}

// Time and memory of what runs on a device. Throws what LibTorch throws.
class Meter {
 public:
  explicit Meter(c10::Device device) : device_(device) {
    if (device_.is_cpu()) CountingAllocator::Installed();
  }

  // Seconds that `function` takes; on a GPU those between two events of the
  // thread's queue, which is empty at its end.
  absl::StatusOr<double> Time(
      const std::function<absl::Status()>& function) const {
    if (!device_.is_cpu()) return TimeOnQueue(function);
    base::RealClock clock;
    const absl::Duration start = clock.Monotonic();
    ORDO_RETURN_IF_ERROR(function());
    return absl::ToDoubleSeconds(clock.Monotonic() - start);
  }

  // Bytes of the tensors that there are, and the most since Restart.
  int64_t NowBytes() const {
    return device_.is_cpu() ? CountingAllocator::Installed().now()
                            : OnGpu().current;
  }
  int64_t MostBytes() const {
    return device_.is_cpu() ? CountingAllocator::Installed().most()
                            : OnGpu().peak;
  }
  void Restart() const {
    if (device_.is_cpu()) {
      CountingAllocator::Installed().Restart();
    } else {
      c10::getDeviceAllocator(device_.type())->resetPeakStats(device_.index());
    }
  }

 private:
  absl::StatusOr<double> TimeOnQueue(
      const std::function<absl::Status()>& function) const {
    const c10::impl::VirtualGuardImpl gpu(device_.type());
    const c10::Stream queue = gpu.getStream(device_);
    // With times, which events do not take unless asked to.
    c10::Event start(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    start.record(queue);
    ORDO_RETURN_IF_ERROR(function());
    end.record(queue);
    end.synchronize();
    constexpr double kSecondsPerMillisecond = 1e-3;
    return start.elapsedTime(end) * kSecondsPerMillisecond;
  }

  c10::CachingAllocator::Stat OnGpu() const {
    constexpr auto kAll =
        static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return c10::getDeviceAllocator(device_.type())
        ->getDeviceStats(device_.index())
        .allocated_bytes[kAll];
  }

  const c10::Device device_;
};

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_METER_H_

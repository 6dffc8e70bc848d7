#include "worker/agent/gpu_looker.h"

#include <thread>
#include <utility>

#include "base/mutex.h"

namespace ordo::worker::agent {

struct GpuLooker::Shared {
  const std::shared_ptr<Nvml> nvml;
  base::Mutex mutex;
  // Empty once the looker is gone.
  std::function<void()> wake ORDO_GUARDED_BY(mutex);
  std::optional<GpuLook> look ORDO_GUARDED_BY(mutex);

  Shared(std::shared_ptr<Nvml> driver, std::function<void()> tell)
      : nvml(std::move(driver)), wake(std::move(tell)) {}

  void Look() {
    GpuLook seen;
    for (const Gpu& gpu : nvml->gpus()) {
      seen.uses.emplace(gpu.uuid, nvml->Use(gpu.uuid));
    }
    seen.faults = nvml->TakeFaults();
    base::MutexLock lock(mutex);
    look = std::move(seen);
    if (wake) wake();
  }
};

GpuLooker::GpuLooker(std::shared_ptr<Nvml> nvml, std::function<void()> wake)
    : shared_(std::make_shared<Shared>(std::move(nvml), std::move(wake))) {}

GpuLooker::~GpuLooker() {
  base::MutexLock lock(shared_->mutex);
  shared_->wake = nullptr;
}

void GpuLooker::Begin() {
  std::thread([shared = shared_] { shared->Look(); }).detach();
}

std::optional<GpuLook> GpuLooker::Take() {
  base::MutexLock lock(shared_->mutex);
  return std::exchange(shared_->look, std::nullopt);
}

}  // namespace ordo::worker::agent

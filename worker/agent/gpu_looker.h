#ifndef ORDO_WORKER_AGENT_GPU_LOOKER_H_
#define ORDO_WORKER_AGENT_GPU_LOOKER_H_

#include <functional>
#include <memory>
#include <optional>

#include "worker/agent/gpu_watch.h"
#include "worker/agent/nvml.h"

namespace ordo::worker::agent {

// Asks a driver about all its GPUs, on a thread of its own: a driver that hangs
// holds up nobody, not even the end of this process. Not thread-safe.
class GpuLooker {
 public:
  // `wake` is called from another thread when there is something to take, and
  // not after the looker's end. It must not call back.
  GpuLooker(std::shared_ptr<Nvml> nvml, std::function<void()> wake);
  // Leaves a look that is under way to itself.
  ~GpuLooker();
  GpuLooker(const GpuLooker&) = delete;
  GpuLooker& operator=(const GpuLooker&) = delete;

  // Not while one is under way.
  void Begin();
  // What was seen, once.
  std::optional<GpuLook> Take();

 private:
  struct Shared;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_GPU_LOOKER_H_

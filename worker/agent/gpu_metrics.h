#ifndef ORDO_WORKER_AGENT_GPU_METRICS_H_
#define ORDO_WORKER_AGENT_GPU_METRICS_H_

#include <vector>

#include "proto/ordo/workers/v1/workers.pb.h"
#include "worker/agent/gpu_watch.h"
#include "worker/agent/metrics.h"

namespace ordo::worker::agent {

// Shows what a driver said of those of `devices` that have a UUID, by name.
// What it does not tell, or of a GPU that does not answer, is not on the page.
void ShowGpus(const std::vector<::ordo::workers::v1::Device>& devices,
              const GpuLook& look, WorkerMetrics& metrics);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_GPU_METRICS_H_

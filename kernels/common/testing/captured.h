#ifndef ORDO_KERNELS_COMMON_TESTING_CAPTURED_H_
#define ORDO_KERNELS_COMMON_TESTING_CAPTURED_H_

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "kernels/common/device_graphs.h"
#include "kernels/common/device_memory.h"
#include "kernels/common/resources.h"

// Passes of kernels that run from a CUDA graph, as a training step that was
// captured runs them: the numbers are others by then, the memory is the same.
// Not for two threads.

namespace ordo::kernels::testing {

// The host's memory, which is an emulated device's.
const DeviceMemory& HostMemory();

// The same memory as `of`, with an account of what is allocated. Of one device
// at a time, which it is until the next call.
const DeviceMemory& CountedMemory(const DeviceMemory& of);

// Captures the pass while all that is allocated of CountedMemory has other
// bytes than now, then runs it twice, each time from the bytes that are there
// now: a pass that looked at its numbers when it was queued, or that leaves
// something behind for the next time, gives other results. The same pass has
// run before, as the driver loads a kernel's code at its first launch, which no
// graph may have. The pass' status, or INTERNAL: it cannot be captured, or the
// device did not take it.
absl::Status RunCaptured(
    const DeviceGraphs& graphs, const Resources& resources,
    const std::function<absl::Status(const Resources& resources)>& pass);

// The pass, run by it. `graphs` stay.
template <typename Problem>
std::function<absl::Status(const Problem& problem, const Resources& resources)>
Captured(const DeviceGraphs& graphs,
         std::function<absl::Status(const Problem& problem,
                                    const Resources& resources)>
             pass) {
  return [&graphs, pass = std::move(pass)](const Problem& problem,
                                           const Resources& resources) {
    return RunCaptured(graphs, resources, [&](const Resources& of_graph) {
      return pass(problem, of_graph);
    });
  };
}

// The row with both passes from graphs.
template <typename Kernel>
Kernel WithGraphs(const DeviceGraphs& graphs, Kernel kernel) {
  kernel.forward = Captured(graphs, std::move(kernel.forward));
  kernel.backward = Captured(graphs, std::move(kernel.backward));
  return kernel;
}

}  // namespace ordo::kernels::testing

#endif  // ORDO_KERNELS_COMMON_TESTING_CAPTURED_H_

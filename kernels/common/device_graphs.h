#ifndef ORDO_KERNELS_COMMON_DEVICE_GRAPHS_H_
#define ORDO_KERNELS_COMMON_DEVICE_GRAPHS_H_

namespace ordo::kernels {

// CUDA graphs, for tests without LibTorch: work of a device that is queued once
// and run often. Functions give null, or what went wrong.
struct DeviceGraphs {
  // Calls queue(of, stream) and makes a graph of what that queues on the
  // stream. Nothing of it is run. What cannot be part of a graph (memory that
  // is allocated, a wait, work on another stream) is wrong.
  const char* (*capture)(void (*queue)(void* of, void* stream), void* of,
                         void** graph);
  // Runs it and waits for it, and for all that was queued before.
  const char* (*replay)(void* graph);
  void (*release)(void* graph);
};

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_DEVICE_GRAPHS_H_

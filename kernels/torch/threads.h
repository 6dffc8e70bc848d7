#ifndef ORDO_KERNELS_TORCH_THREADS_H_
#define ORDO_KERNELS_TORCH_THREADS_H_

#include <cstdint>
#include <functional>

namespace ordo::kernels::torch {

// LibTorch's threads at this place: as many as its settings say, of which the
// caller's is one.
int NumThreads();

// Calls task(i, thread) for each i below `count` and returns when all have
// ended. Threads that run at a time have different numbers, below NumThreads();
// each takes the next i when it has ended one. An exception of a task is thrown
// on, after the others' tasks. Within a task, or another parallel region of
// LibTorch, all are called by this thread, as number 0.
void RunOnThreads(int64_t count,
                  const std::function<void(int64_t i, int thread)>& task);

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_THREADS_H_

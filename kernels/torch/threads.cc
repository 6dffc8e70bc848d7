#include "kernels/torch/threads.h"

#include <algorithm>
#include <atomic>

#include "ATen/Parallel.h"

// at::parallel_for is compiled where it is used, and calls one after the other
// without this. clang-tidy only reads it.
#if !defined(INTRA_OP_PARALLEL) && !defined(__clang_analyzer__)
#error "kernels/torch/threads.cc needs -fopenmp"
#endif

namespace ordo::kernels::torch {

int NumThreads() { return at::get_num_threads(); }

void RunOnThreads(int64_t count,
                  const std::function<void(int64_t i, int thread)>& task) {
  std::atomic<int64_t> next = 0;
  const auto take = [&](int64_t /*first*/, int64_t /*last*/) {
    const int thread = at::get_thread_num();
    for (int64_t i = next++; i < count; i = next++) task(i, thread);
  };
  at::parallel_for(0, std::min<int64_t>(count, NumThreads()), 1, take);
}

}  // namespace ordo::kernels::torch

#ifndef ORDO_KERNELS_COMMON_RESOURCES_H_
#define ORDO_KERNELS_COMMON_RESOURCES_H_

#include <cstdint>
#include <functional>

namespace ordo::kernels {

// Of a kernel, which needs another workspace for each.
enum class Way { kForward, kBackward };

// Memory, threads and queue that a kernel may use: it allocates nothing and
// starts no thread.
struct Resources {
  // At least what the kernel asks for, aligned to 64 bytes.
  void* workspace = nullptr;
  // Calls task(i, thread) for each i below `count`, at most as many at a time
  // as the workspace is for, each of them with another `thread` from 0 on;
  // returns when all have ended.
  std::function<void(int64_t count,
                     const std::function<void(int64_t i, int thread)>& task)>
      run;
  // On a GPU: the cudaStream_t that a pass is queued on; it has not ended when
  // the call returns.
  void* stream = nullptr;
};

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_RESOURCES_H_

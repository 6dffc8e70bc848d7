#ifndef ORDO_KERNELS_COMMON_RESOURCES_H_
#define ORDO_KERNELS_COMMON_RESOURCES_H_

#include <cstdint>
#include <functional>

namespace ordo::kernels {

// Memory and threads that a kernel may use: it allocates nothing and starts no
// thread.
struct Resources {
  // At least what the kernel asks for, aligned to 64 bytes.
  void* workspace = nullptr;
  // Calls task(i, thread) for each i below `count`, at most as many at a time
  // as the workspace is for, each of them with another `thread` from 0 on;
  // returns when all have ended.
  std::function<void(int64_t count,
                     const std::function<void(int64_t i, int thread)>& task)>
      run;
};

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_RESOURCES_H_

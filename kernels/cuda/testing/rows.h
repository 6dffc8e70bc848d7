#ifndef ORDO_KERNELS_CUDA_TESTING_ROWS_H_
#define ORDO_KERNELS_CUDA_TESTING_ROWS_H_

#include <string>
#include <vector>

#include "kernels/common/check/numbers.h"
#include "kernels/common/testing/captured.h"
#include "kernels/common/testing/cuda_emulator.h"
#include "kernels/cuda/load.h"

// What the numeric tests of the tables share of CUDA.

namespace ordo::kernels::cuda::testing {

// Not there without nvcc.
inline constexpr char kLibraryPath[] = "kernels/cuda/libordo_cuda.so";

// The library, whose rows are in the tables from now on; null where there is no
// nvcc. What cannot be loaded fails load_test.
inline const CudaLibrary* Library() {
  static const CudaLibrary* const library = [] {
    const auto loaded = LoadCuda(kLibraryPath);
    return loaded.ok() ? *loaded : nullptr;
  }();
  return library;
}

inline constexpr char kEmulated[] = "cuda_fused_emulated";

// Adds to a table the rows of the library and, as kEmulated, its code for an
// emulated device. Once; true.
template <typename Kernel>
bool AddRows(Kernel emulated, void (*add)(const std::vector<Kernel>& kernels)) {
  Library();
  emulated.name = kEmulated;
  add({emulated});
  return true;
}

template <typename Kernel>
bool IsOnGpu(const Kernel& kernel) {
  return kernel.device == Device::kCuda && kernel.name != kEmulated;
}

// From now on memory is where the kernel's problems lie.
template <typename Kernel>
void UseMemoryOf(const Kernel& kernel) {
  check::UseMemory(IsOnGpu(kernel) ? &Library()->memory : nullptr);
  kernels::testing::SetSchedule(1);
}

// The same, counted, and the graphs that the kernel's passes can be run from
// (captured.h). Not for a processor's.
template <typename Kernel>
const DeviceGraphs& UseGraphsOf(const Kernel& kernel) {
  const bool on_gpu = IsOnGpu(kernel);
  check::UseMemory(&kernels::testing::CountedMemory(
      on_gpu ? Library()->memory : kernels::testing::HostMemory()));
  return on_gpu ? Library()->graphs : kernels::testing::EmulatedGraphs();
}

template <typename Kernel>
std::vector<std::string> NamesOf(const std::vector<Kernel>& kernels) {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels) names.push_back(kernel.name);
  return names;
}

}  // namespace ordo::kernels::cuda::testing

#endif  // ORDO_KERNELS_CUDA_TESTING_ROWS_H_

#ifndef ORDO_KERNELS_CUDA_LIBRARY_H_
#define ORDO_KERNELS_CUDA_LIBRARY_H_

#include <cstdint>

#include "kernels/attention/cuda_code.h"
#include "kernels/common/device_graphs.h"
#include "kernels/common/device_memory.h"
#include "kernels/rows/cuda_code.h"
#include "kernels/update/cuda_code.h"

// What libordo_cuda.so has, behind its one entry.

namespace ordo::kernels::cuda {

struct CudaLibrary {
  // Of this and all that kernels are called with: another size is that of
  // another build.
  int64_t call_bytes;
  // Rows of the tables, best first.
  const attention::CudaCode* const* attention;
  int num_attention;
  const update::CudaCode* update;
  const rows::CudaCode* rows;
  DeviceMemory memory;
  DeviceGraphs graphs;
  // Null, or why there is no device that kernels can run on.
  const char* (*missing_device)();
  // "NVIDIA H200, sm_90, 132 processors, driver 13.0": what numbers depend on.
  // Only where a device is not missing. Static.
  const char* (*device_text)();
};

// CudaLibrary::call_bytes of this build.
constexpr int64_t CallBytes() {
  return sizeof(CudaLibrary) + sizeof(attention::Call) + sizeof(update::Call) +
         rows::kCallBytes;
}

// The entry's type and its name.
using CudaEntry = const CudaLibrary* (*)();
inline constexpr char kCudaEntry[] = "OrdoCudaLibrary";

}  // namespace ordo::kernels::cuda

#endif  // ORDO_KERNELS_CUDA_LIBRARY_H_

#ifndef ORDO_KERNELS_CUDA_LOAD_H_
#define ORDO_KERNELS_CUDA_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "kernels/cuda/library.h"

namespace ordo::kernels::cuda {

// Loads the library of CUDA kernels at `path`, for as long as the program runs,
// and adds its rows to the tables; a second time it does nothing more. Whether
// there is a device, the rows say themselves. Not while another thread uses a
// table.
//
// NOT_FOUND: no file is there. FAILED_PRECONDITION: it cannot be loaded (the
// message has the loader's reason), or is not of this build.
absl::StatusOr<const CudaLibrary*> LoadCuda(const std::string& path);

}  // namespace ordo::kernels::cuda

#endif  // ORDO_KERNELS_CUDA_LOAD_H_

#ifndef ORDO_KERNELS_ROWS_CUDA_ROWS_H_
#define ORDO_KERNELS_ROWS_CUDA_ROWS_H_

#include "kernels/rows/cuda_code.h"
#include "kernels/rows/table.h"

namespace ordo::kernels::rows {

// The row of the table for code of the CUDA library, which must stay loaded.
// Refusals are UNIMPLEMENTED, what the device does not take is INTERNAL; both
// begin with the kernel's name.
Kernel CudaKernel(const CudaCode& code);

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CUDA_ROWS_H_

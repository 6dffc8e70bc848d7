#ifndef ORDO_KERNELS_ATTENTION_CUDA_ROWS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_ROWS_H_

#include "kernels/attention/cuda_code.h"
#include "kernels/attention/table.h"

namespace ordo::kernels::attention {

// The row of the table for code of the CUDA library, which must stay loaded.
// Refusals are UNIMPLEMENTED, what the device does not take is INTERNAL; both
// begin with the kernel's name.
Kernel CudaKernel(const CudaCode& code);

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_ROWS_H_

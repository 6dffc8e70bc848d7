#ifndef ORDO_KERNELS_UPDATE_CUDA_ROWS_H_
#define ORDO_KERNELS_UPDATE_CUDA_ROWS_H_

#include "kernels/common/cuda_row.h"
#include "kernels/update/cuda_code.h"
#include "kernels/update/table.h"

namespace ordo::kernels::update {

// The row of the table for code of the CUDA library, which must stay loaded.
// Refusals are UNIMPLEMENTED, what the device does not take is INTERNAL; both
// begin with the kernel's name.
inline Kernel CudaKernel(const CudaCode& code) {
  return CudaRow<Kernel, Problem, Call>(code);
}

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_CUDA_ROWS_H_

#include "kernels/attention/cuda_rows.h"

#include "kernels/common/cuda_row.h"

namespace ordo::kernels::attention {

Kernel CudaKernel(const CudaCode& code) {
  return CudaRow<Kernel, Problem, Call>(code);
}

}  // namespace ordo::kernels::attention

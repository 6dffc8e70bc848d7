#ifndef ORDO_KERNELS_ROWS_CPU_FUSED_H_
#define ORDO_KERNELS_ROWS_CPU_FUSED_H_

#include <vector>

#include "kernels/rows/table.h"

// One pass over the rows on vectors of floats; what is bf16 is computed in
// fp32. Work is divided by the problem alone.

namespace ordo::kernels::rows {

// The rows of the table, best first.
std::vector<Kernel> FusedKernels();

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CPU_FUSED_H_

// cpu_fused.h for AVX2 and FMA.
#define ORDO_VECTOR_BYTES 32
#include "kernels/rows/cpu_fused_body.h"

namespace ordo::kernels::rows {

const FusedCode kFusedAvx2 = kCode;

}  // namespace ordo::kernels::rows

// cpu_fused.h for AVX-512.
#define ORDO_VECTOR_BYTES 64
#include "kernels/rows/cpu_fused_body.h"

namespace ordo::kernels::rows {

const FusedCode kFusedAvx512 = kCode;

}  // namespace ordo::kernels::rows

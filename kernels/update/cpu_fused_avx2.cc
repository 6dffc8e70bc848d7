// cpu_fused.h for AVX2 and FMA.
#define ORDO_VECTOR_BYTES 32
#include "kernels/update/cpu_fused_body.h"

namespace ordo::kernels::update {

const FusedCode kFusedAvx2 = kCode;

}  // namespace ordo::kernels::update

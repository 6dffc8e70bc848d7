// cpu_fused.h for AVX-512.
#define ORDO_VECTOR_BYTES 64
#include "kernels/update/cpu_fused_body.h"

namespace ordo::kernels::update {

const FusedCode kFusedAvx512 = kCode;

}  // namespace ordo::kernels::update

// cpu_fused.h for any processor.
#define ORDO_VECTOR_BYTES 16
#include "kernels/update/cpu_fused_body.h"

namespace ordo::kernels::update {

const FusedCode kFusedBaseline = kCode;

}  // namespace ordo::kernels::update

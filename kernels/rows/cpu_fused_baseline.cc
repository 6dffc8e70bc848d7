// cpu_fused.h for any processor.
#define ORDO_VECTOR_BYTES 16
#include "kernels/rows/cpu_fused_body.h"

namespace ordo::kernels::rows {

const FusedCode kFusedBaseline = kCode;

}  // namespace ordo::kernels::rows

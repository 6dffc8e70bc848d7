// cpu_tiled.h for AVX2 and FMA.
#define ORDO_VECTOR_BYTES 32
#include "kernels/attention/cpu_tiled_body.h"

namespace ordo::kernels::attention {

const TiledCode kTiledAvx2 = kCode;

}  // namespace ordo::kernels::attention

// cpu_tiled.h for AVX-512.
#define ORDO_VECTOR_BYTES 64
#include "kernels/attention/cpu_tiled_body.h"

namespace ordo::kernels::attention {

const TiledCode kTiledAvx512 = kCode;

}  // namespace ordo::kernels::attention

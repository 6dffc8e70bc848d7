// cpu_tiled.h for any processor.
#define ORDO_VECTOR_BYTES 16
#include "kernels/attention/cpu_tiled_body.h"

namespace ordo::kernels::attention {

const TiledCode kTiledBaseline = kCode;

}  // namespace ordo::kernels::attention

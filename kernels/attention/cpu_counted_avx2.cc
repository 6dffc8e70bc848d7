// cpu_counted.h for AVX2 and FMA.
#define ORDO_VECTOR_BYTES 32
#include "kernels/attention/cpu_counted_backward.h"
#include "kernels/attention/cpu_counted_forward.h"

namespace ordo::kernels::attention {

const TiledCode kCountedAvx2 = {RoomBytes, Forward, Backward};

}  // namespace ordo::kernels::attention

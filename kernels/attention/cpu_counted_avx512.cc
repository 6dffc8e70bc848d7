// cpu_counted.h for AVX-512.
#define ORDO_VECTOR_BYTES 64
#include "kernels/attention/cpu_counted_backward.h"
#include "kernels/attention/cpu_counted_forward.h"

namespace ordo::kernels::attention {

const TiledCode kCountedAvx512 = {RoomBytes, Forward, Backward};

}  // namespace ordo::kernels::attention

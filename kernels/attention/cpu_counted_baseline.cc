// cpu_counted.h for any processor.
#define ORDO_VECTOR_BYTES 16
#include "kernels/attention/cpu_counted_backward.h"
#include "kernels/attention/cpu_counted_forward.h"

namespace ordo::kernels::attention {

const TiledCode kCountedBaseline = {RoomBytes, Forward, Backward};

}  // namespace ordo::kernels::attention

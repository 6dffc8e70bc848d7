#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_CODE_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_CODE_H_

#include "kernels/attention/cpu_tiled_code.h"

// Between cpu_counted.cc and what is compiled once for each instruction set.

namespace ordo::kernels::attention {

extern const TiledCode kCountedAvx512;
extern const TiledCode kCountedAvx2;
// For any processor.
extern const TiledCode kCountedBaseline;

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_COUNTED_CODE_H_

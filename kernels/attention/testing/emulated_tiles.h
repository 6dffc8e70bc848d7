#ifndef ORDO_KERNELS_ATTENTION_TESTING_EMULATED_TILES_H_
#define ORDO_KERNELS_ATTENTION_TESTING_EMULATED_TILES_H_

#include "kernels/attention/cpu_pairs_code.h"

namespace ordo::kernels::attention::testing {

// The source of kTileProducts by functions that do what AMX's instructions do:
// for processors without them.
extern const PairProducts kEmulatedTiles;

}  // namespace ordo::kernels::attention::testing

#endif  // ORDO_KERNELS_ATTENTION_TESTING_EMULATED_TILES_H_

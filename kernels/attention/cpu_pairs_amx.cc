// cpu_pairs.h's products for AMX-BF16.
#include <immintrin.h>

#include "kernels/attention/cpu_pairs_tiles.h"

namespace ordo::kernels::attention {

const PairProducts kTileProducts = {BeginTiles, EndTiles, MultiplyTiles};

}  // namespace ordo::kernels::attention

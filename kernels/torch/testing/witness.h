#ifndef ORDO_KERNELS_TORCH_TESTING_WITNESS_H_
#define ORDO_KERNELS_TORCH_TESTING_WITNESS_H_

#include <cstdint>

// Stand-ins for what a GPU has, where there is none: with the parameters on
// LibTorch's meta device, what leads up to its kernels runs as it would there.
// Those for kernels compute nothing, and refuse a call with a tensor that has
// memory: it would be the host's, which a GPU cannot read. The first takes
// every problem; behind it is one for each row of the CUDA library, by its
// name, which takes what that row's own code takes, asked on the emulated
// device. LibTorch's own operations on that device refuse that, too; those of
// them that it leaves out are made up for.

namespace ordo::kernels::torch::testing {

// Adds them, once.
void AddWitnesses();

// Passes that they took so far: of attention, of the change of a state, of
// rows.
struct Witnessed {
  int64_t attention = 0;
  int64_t update = 0;
  int64_t rows = 0;
};
Witnessed NumWitnessed();

}  // namespace ordo::kernels::torch::testing

#endif  // ORDO_KERNELS_TORCH_TESTING_WITNESS_H_

#ifndef ORDO_KERNELS_UPDATE_REFERENCE_H_
#define ORDO_KERNELS_UPDATE_REFERENCE_H_

#include <vector>

#include "kernels/update/problem.h"

// The judge of the kernels: the formula of problem.h as loops in double. It
// never gets faster.

namespace ordo::kernels::update {

// The tensors of a call, contiguous in the order of their names' axes. Those of
// the other kind of map are empty.
struct Tensors {
  std::vector<double> base_BHTW, x_BHTW, mix_HH, in_EH, out_HE, psi_BTE;
  std::vector<double> out_BHTW;
  std::vector<double> d_out_BHTW;
  std::vector<double> d_x_BHTW, d_mix_HH, d_in_EH, d_out_HE, d_psi_BTE;
};

// Fills in out.
void ReferenceForward(const Problem& problem, Tensors* tensors);
// From d_out: fills in the other gradients.
void ReferenceBackward(const Problem& problem, Tensors* tensors);

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_REFERENCE_H_

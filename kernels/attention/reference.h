#ifndef ORDO_KERNELS_ATTENTION_REFERENCE_H_
#define ORDO_KERNELS_ATTENTION_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "kernels/attention/problem.h"

// The judge of all kernels: the formulas of problem.h as plain loops in double.
// It never gets faster.

namespace ordo::kernels::attention {

// All tensors of a problem in double, contiguous, in the shapes of problem.h;
// empty where the problem has none.
struct Tensors {
  std::vector<double> inputs[kNumInputs];
  std::vector<uint8_t> real_BS;
  std::vector<int32_t> positions_BS;
  std::vector<int32_t> first_BHT;
  std::vector<double> knots;

  std::vector<double> outputs[kNumOutputs];
  std::vector<double> lse_BHT;

  // Empty: zero.
  std::vector<double> d_outputs[kNumOutputs];
  std::vector<double> d_inputs[kNumInputs];
};

// Fills in the outputs and lse_BHT.
void ReferenceForward(const Problem& problem, Tensors* tensors);

// Fills in d_inputs, from d_outputs, and all else as the forward pass does.
void ReferenceBackward(const Problem& problem, Tensors* tensors);

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_REFERENCE_H_

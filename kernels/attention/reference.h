#ifndef ORDO_KERNELS_ATTENTION_REFERENCE_H_
#define ORDO_KERNELS_ATTENTION_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "kernels/attention/problem.h"

// The judge of all kernels: the formulas of problem.h as plain loops in double.
// It never gets faster.

namespace ordo::kernels::attention {

// All tensors of a problem in double, contiguous, in the layouts of problem.h.
struct Tensors {
  std::vector<double> q_BHTD;
  std::vector<double> k_BGSD;
  std::vector<double> values[kMaxValues];
  std::vector<uint8_t> real_BS;
  std::vector<double> bias_HL;

  std::vector<double> mixed[kMaxValues];
  std::vector<double> lse_BHT;

  // Empty: zero.
  std::vector<double> d_mixed[kMaxValues];
  std::vector<double> dq_BHTD;
  std::vector<double> dk_BGSD;
  std::vector<double> d_values[kMaxValues];
  std::vector<double> d_bias_HL;
};

// Fills in mixed and lse_BHT.
void ReferenceForward(const Problem& problem, Tensors* tensors);

// Fills in the gradients of q, k, the values and the bias, from those of what
// is mixed.
void ReferenceBackward(const Problem& problem, Tensors* tensors);

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_REFERENCE_H_

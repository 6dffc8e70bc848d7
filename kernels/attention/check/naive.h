#ifndef ORDO_KERNELS_ATTENTION_CHECK_NAIVE_H_
#define ORDO_KERNELS_ATTENTION_CHECK_NAIVE_H_

#include "kernels/attention/problem.h"
#include "kernels/attention/reference.h"

namespace ordo::kernels::attention::check {

// The plain computation in the problem's own type: whole rows of logits and
// weights, each rounded, as separate operations on tensors would. The backward
// pass has outputs, rounded, in the place of weights, as all have that are
// linear in memory.
struct Naive {
  Tensors tensors;
  // What rounding is relative to: the largest of all logits, the largest
  // gradient of a weight, and the largest derivative of a score mod.
  double largest_logit = 0;
  double largest_change = 0;
  double largest_slope = 0;
};

// The forward and the backward pass.
Naive RunNaive(const Problem& problem, const Tensors& inputs);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_NAIVE_H_

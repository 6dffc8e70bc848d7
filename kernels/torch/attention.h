#ifndef ORDO_KERNELS_TORCH_ATTENTION_H_
#define ORDO_KERNELS_TORCH_ATTENTION_H_

#include <array>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/attention/problem.h"
#include "kernels/attention/table.h"

// kernels/attention for tensors, with gradients of all of them. Legend and
// shapes: problem.h.

namespace ordo::kernels::torch {

// What is done to logits beside q.k / sqrt(D), and by it.
struct Terms {
  // By attention::Input, those after the values; a q or k here takes the place
  // of attention's own. Undefined: not there. Axes of size 1 in the shapes of
  // problem.h are there; a tensor of one batch row stands for all.
  std::array<at::Tensor, attention::kNumInputs> inputs;
  // With the knots of its pieces where it has more than one.
  attention::ScoreMod mod = attention::ScoreMod::kNone;
  at::Tensor knots;
  // Numbers whose differences tables are of, in the place of position ids,
  // [1|B,S].
  at::Tensor positions_BS;
  // Farthest distance of tables.
  int64_t reach = 0;
  bool rectified = false;
  int64_t far_from = 0;
  attention::Gates gates = attention::Gates::kNone;
  // In the place of 1 / sqrt(D); 0: none.
  double scale = 0.0;
  // Added to what is mixed first: the sums of weights by distance times these,
  // [L,M].
  at::Tensor value_vectors_LM;
};

// The terms of both, where one problem can have them; else false, and `sum` has
// no meaning.
bool Add(const Terms& terms, Terms* sum);

struct Attention {
  at::Tensor q_BHTD;
  // Their heads may be fewer than H.
  at::Tensor k_BGSD;
  std::vector<at::Tensor> values;
  bool causal = true;
  // Bool [B,S]; undefined: all are real.
  at::Tensor real_BS;
  // Integers [1|B,1|H,T]; undefined: 0.
  at::Tensor first_BHT;
  // Integers [1|B,S]: position ids; undefined: tokens are consecutive.
  at::Tensor positions_BS;
  Terms terms;
};

// Whether there are kernels for tensors like this: fp32 or bf16 on the host,
// these or fp16 on a GPU whose kernels are loaded.
bool IsForKernels(const at::Tensor& x);

// Of the type of the first value: under autocast a projection gives it as it
// is, while q or k may be wider for a weight or a vector that it meets later.
// UNIMPLEMENTED where no kernel can be for these tensors.
absl::StatusOr<attention::Problem> ProblemOf(const Attention& attention);

// What is mixed of each value, [B,H,T,M], by a kernel that supports the
// problem. Throws what LibTorch throws.
std::vector<at::Tensor> Attend(const Attention& attention,
                               const attention::Problem& problem,
                               const attention::Kernel& kernel);

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_ATTENTION_H_

#ifndef ORDO_KERNELS_TORCH_LOSS_H_
#define ORDO_KERNELS_TORCH_LOSS_H_

#include <ATen/core/Tensor.h>

// Legend: N rows, C their width, V vocabulary.

namespace ordo::kernels::torch {

// What a loss is of: x [N,C], the head's matrix [V,C], and targets int64 [N] on
// the host, each below V.
struct LossInputs {
  at::Tensor x_NC;
  at::Tensor head_VC;
  at::Tensor targets_N;
};

// factor times the sum over rows of -ln softmax(x W^T)[target], a number in
// fp32 at least. Logits exist for a block of rows at a time. With gradients,
// those of x and the head are computed in the same pass, while a block's logits
// are there: making them again would cost another product. Under autocast
// products take bf16 operands and logits are rounded to it, as if they were one
// tensor. A GPU is not waited for.
//
// Plain LibTorch operations on all rows for types and devices without a kernel.
// Throws what LibTorch throws.
at::Tensor SumOfLosses(const LossInputs& inputs, double factor);

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_LOSS_H_

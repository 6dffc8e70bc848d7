#ifndef ORDO_KERNELS_TORCH_UPDATE_H_
#define ORDO_KERNELS_TORCH_UPDATE_H_

#include <ATen/core/Tensor.h>

// kernels/update for tensors, with gradients; plain LibTorch operations for
// types and devices without a kernel. Throws what LibTorch throws.
//
// Legend: B batch, H heads, T tokens, W width of a head's state, E inner width.

namespace ordo::kernels::torch {

// e + G x for every token, the same G [H,H]; e and x [B,H,T,W]. Of e's type.
at::Tensor AddMixed(const at::Tensor& state_BHTW, const at::Tensor& x_BHTW,
                    const at::Tensor& mix_HH);

// W1 [E,H] and W2 [H,E].
struct UpdateWeights {
  at::Tensor in_EH;
  at::Tensor out_HE;
};

// e + W2 diag(psi) W1 e for every token, psi [B,T,E]. Of e's type.
at::Tensor AddMixedByToken(const at::Tensor& state_BHTW,
                           const UpdateWeights& weights,
                           const at::Tensor& psi_BTE);

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_UPDATE_H_

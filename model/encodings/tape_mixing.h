#ifndef ORDO_MODEL_ENCODINGS_TAPE_MIXING_H_
#define ORDO_MODEL_ENCODINGS_TAPE_MIXING_H_

#include <cstdint>

#include <ATen/core/Tensor.h>

// The linear maps by which TAPE changes its state (Zhu et al. 2025, equations 7
// and 8), along one axis of it; everything else of the state goes through the
// same map.
//
// Legend: B batch, H heads, T tokens, W width of a head's state, N size of the
// mixed axis, E inner width of the position MLP (the paper's B').

namespace ordo::model::encodings {

// A head's W numbers are outer * size * inner; `size` is mixed, and with
// `across_heads` the heads with it: N = H * size, otherwise N = size.
struct MixAxis {
  bool across_heads = true;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  int64_t mixed(int64_t heads) const {
    return across_heads ? heads * size : size;
  }
};

// The state [B,H,T,W] as [B*T,N,rest], and back to the shape of `like`.
at::Tensor ToRows(const MixAxis& axis, const at::Tensor& state_BHTW);
at::Tensor FromRows(const MixAxis& axis, const at::Tensor& rows,
                    const at::Tensor& like_BHTW);

// e + G x for every token, the same G [N,N].
at::Tensor ChangeByOne(const MixAxis& axis, const at::Tensor& mix_NN,
                       const at::Tensor& x_BHTW, const at::Tensor& state_BHTW);

// W1 [E,N] and W2 [N,E].
struct MixMlp {
  at::Tensor in_EN;
  at::Tensor out_NE;
};

// e + W2 diag(psi) W1 e, psi [B,T,E] of each token.
at::Tensor ChangeByToken(const MixAxis& axis, const MixMlp& mlp,
                         const at::Tensor& psi_BTE,
                         const at::Tensor& state_BHTW);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_TAPE_MIXING_H_

#include "model/encodings/tape_mixing.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/bmm.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/matmul.h"
#include "kernels/torch/update.h"

namespace ordo::model::encodings {
namespace {

bool IsHeadsOnly(const MixAxis& axis) {
  return axis.across_heads && axis.size == 1 && axis.outer == 1;
}

}  // namespace

at::Tensor ToRows(const MixAxis& axis, const at::Tensor& state_BHTW) {
  const int64_t batch = state_BHTW.size(0), heads = state_BHTW.size(1),
                length = state_BHTW.size(2);
  // [B,H,T,outer,size,inner].
  const at::Tensor split =
      state_BHTW.unflatten(-1, {axis.outer, axis.size, axis.inner});
  const at::Tensor ordered = axis.across_heads
                                 ? split.permute({0, 2, 1, 4, 3, 5})
                                 : split.permute({0, 2, 4, 1, 3, 5});
  return ordered.reshape({batch * length, axis.mixed(heads), -1});
}

at::Tensor FromRows(const MixAxis& axis, const at::Tensor& rows,
                    const at::Tensor& like_BHTW) {
  const int64_t batch = like_BHTW.size(0), heads = like_BHTW.size(1),
                length = like_BHTW.size(2);
  const at::Tensor ordered =
      axis.across_heads
          ? rows.view({batch, length, heads, axis.size, axis.outer, axis.inner})
                .permute({0, 2, 1, 4, 3, 5})
          : rows.view({batch, length, axis.size, heads, axis.outer, axis.inner})
                .permute({0, 3, 1, 4, 2, 5});
  return ordered.reshape(like_BHTW.sizes());
}

at::Tensor ChangeByOne(const MixAxis& axis, const at::Tensor& mix_NN,
                       const at::Tensor& x_BHTW, const at::Tensor& state_BHTW) {
  if (IsHeadsOnly(axis)) {
    return kernels::torch::AddMixed(state_BHTW, x_BHTW, mix_NN);
  }
  return state_BHTW +
         FromRows(axis, at::matmul(mix_NN, ToRows(axis, x_BHTW)), x_BHTW);
}

at::Tensor ChangeByToken(const MixAxis& axis, const MixMlp& mlp,
                         const at::Tensor& psi_BTE,
                         const at::Tensor& state_BHTW) {
  if (IsHeadsOnly(axis)) {
    return kernels::torch::AddMixedByToken(state_BHTW, {mlp.in_EN, mlp.out_NE},
                                           psi_BTE);
  }
  const at::Tensor rows = ToRows(axis, state_BHTW);
  const int64_t size = rows.size(1), rest = rows.size(2);
  const int64_t inner = mlp.in_EN.size(0);
  at::Tensor change;
  if (size * (inner + rest) <= 2 * inner * rest) {
    // outer[n * N + m, e] = W2[n, e] W1[e, m].
    const at::Tensor outer =
        (mlp.out_NE.unsqueeze(1) * mlp.in_EN.t().unsqueeze(0)).flatten(0, 1);
    change =
        at::bmm(at::linear(psi_BTE, outer).reshape({-1, size, size}), rows);
  } else {
    const at::Tensor gate = psi_BTE.reshape({-1, inner, 1});
    change = at::matmul(mlp.out_NE, gate * at::matmul(mlp.in_EN, rows));
  }
  return state_BHTW + FromRows(axis, change, state_BHTW);
}

}  // namespace ordo::model::encodings

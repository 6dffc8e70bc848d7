#include "model/transformer/layers.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/layer_norm.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/rsqrt.h"
#include "ATen/ops/silu.h"

namespace ordo::model::transformer {

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight,
                   double epsilon) {
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor scale =
      at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + epsilon);
  return (wide * scale).to(x.scalar_type()) * weight;
}

at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight,
                     double epsilon) {
  return at::layer_norm(x, weight.sizes(), weight, {}, epsilon);
}

at::Tensor Mlp(const at::Tensor& x, const MlpWeights& weights) {
  const at::Tensor up = at::linear(x, weights.up);
  const at::Tensor inner = weights.gate.defined()
                               ? at::silu(at::linear(x, weights.gate)) * up
                               : at::gelu(up);
  return at::linear(inner, weights.down);
}

}  // namespace ordo::model::transformer

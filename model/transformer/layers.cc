#include "model/transformer/layers.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/layer_norm.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/relu.h"
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

at::Tensor LayerNorm(const at::Tensor& x, const NormWeights& weights,
                     double epsilon) {
  return at::layer_norm(x, weights.weight.sizes(), weights.weight, weights.bias,
                        epsilon);
}

at::Tensor Linear(const at::Tensor& x, const LinearWeights& weights) {
  const at::Tensor y = at::linear(x, weights.weight, weights.bias);
  const Adapter& adapter = weights.adapter;
  if (!adapter.in.defined()) return y;
  return y + at::linear(at::linear(x, adapter.in), adapter.out) * adapter.scale;
}

at::Tensor Mlp(const at::Tensor& x, const MlpWeights& weights,
               Activation activation) {
  at::Tensor inner = Linear(x, weights.up);
  switch (activation) {
    case Activation::kSwiglu:
      inner = at::silu(Linear(x, weights.gate)) * inner;
      break;
    case Activation::kGelu:
      inner = at::gelu(inner);
      break;
    case Activation::kGeluTanh:
      inner = at::gelu(inner, "tanh");
      break;
    case Activation::kRelu:
      inner = at::relu(inner);
      break;
  }
  return Linear(inner, weights.down);
}

}  // namespace ordo::model::transformer

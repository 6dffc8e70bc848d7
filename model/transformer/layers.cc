#include "model/transformer/layers.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/layer_norm.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/relu.h"
#include "kernels/torch/rows.h"

namespace ordo::model::transformer {

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight,
                   double epsilon) {
  return kernels::torch::RmsNorm(x, weight, epsilon);
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
      inner = kernels::torch::SwiGlu(Linear(x, weights.gate), inner);
      break;
    case Activation::kGeglu:
      inner = at::gelu(Linear(x, weights.gate)) * inner;
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

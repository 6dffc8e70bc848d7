#ifndef ORDO_MODEL_TRANSFORMER_LAYERS_H_
#define ORDO_MODEL_TRANSFORMER_LAYERS_H_

#include <ATen/core/Tensor.h>

namespace ordo::model::transformer {

// x * rsqrt(mean(x^2) + epsilon) * weight over the last axis, the first two
// factors in fp32 at least (Zhang and Sennrich 2019, arXiv:1910.07467).
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight,
                   double epsilon);

// (x - mean) / sqrt(variance + epsilon) * weight over the last axis, without
// bias (Ba et al. 2016, arXiv:1607.06450).
at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight,
                     double epsilon);

// The weights of an MLP, [out, in]; `gate` is defined for SwiGLU only.
struct MlpWeights {
  at::Tensor gate;
  at::Tensor up;
  at::Tensor down;
};

// down(silu(gate x) * up x) (Shazeer 2020, arXiv:2002.05202), or without gate
// down(gelu(up x)) with the exact GELU.
at::Tensor Mlp(const at::Tensor& x, const MlpWeights& weights);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_LAYERS_H_

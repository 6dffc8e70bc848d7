#ifndef ORDO_MODEL_TRANSFORMER_LAYERS_H_
#define ORDO_MODEL_TRANSFORMER_LAYERS_H_

#include <ATen/core/Tensor.h>

#include "model/transformer/config.h"

namespace ordo::model::transformer {

// x * rsqrt(mean(x^2) + epsilon) * weight over the last axis, the first two
// factors in fp32 at least (Zhang and Sennrich 2019, arXiv:1910.07467).
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight,
                   double epsilon);

// The weight of a norm and its bias, which may be undefined.
struct NormWeights {
  at::Tensor weight;
  at::Tensor bias;
};

// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis (Ba
// et al. 2016, arXiv:1607.06450).
at::Tensor LayerNorm(const at::Tensor& x, const NormWeights& weights,
                     double epsilon);

// A low-rank adapter of a matrix [out, in] (Hu et al. 2021, arXiv:2106.09685);
// undefined where the matrix acts alone.
struct Adapter {
  // A, [rank, in], and B, [out, rank].
  at::Tensor in;
  at::Tensor out;
  // alpha / rank.
  double scale = 0.0;
};

// A matrix [out, in] and its bias [out], which may be undefined.
struct LinearWeights {
  at::Tensor weight;
  at::Tensor bias;
  Adapter adapter = {};
};

// x W^T + b, and scale (x A^T) B^T of an adapter.
at::Tensor Linear(const at::Tensor& x, const LinearWeights& weights);

// `gate` is defined for gated ones only.
struct MlpWeights {
  LinearWeights gate;
  LinearWeights up;
  LinearWeights down;
};

// down(silu(gate x) * up x), or with gelu in the place of silu (SwiGLU and
// GEGLU of Shazeer 2020, arXiv:2002.05202), or without gate down(f(up x)), f
// the activation: GELU exact or in the tanh approximation (Hendrycks and Gimpel
// 2016, arXiv:1606.08415), or ReLU.
at::Tensor Mlp(const at::Tensor& x, const MlpWeights& weights,
               Activation activation);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_LAYERS_H_

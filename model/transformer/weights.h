#ifndef ORDO_MODEL_TRANSFORMER_WEIGHTS_H_
#define ORDO_MODEL_TRANSFORMER_WEIGHTS_H_

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "model/parameters/parameters.h"
#include "model/transformer/config.h"
#include "model/transformer/layers.h"

// The weights of a model's parts, by the names that transformer.h lists. C is
// the model's width, D that of a head, V the vocabulary.

namespace ordo::model::transformer {

// Those of one block.
struct LayerWeights {
  NormWeights attention_norm_C;
  LinearWeights q;
  LinearWeights k;
  LinearWeights v;
  LinearWeights o;
  // Undefined without qk_norm.
  NormWeights q_norm_D;
  NormWeights k_norm_D;
  NormWeights mlp_norm_C;
  MlpWeights mlp;
};

// Makes weights, which are new parameters. Matrices start with normal values of
// deviation init_std or, with deepnorm, of Wang et al. 2022 (arXiv:2203.00555,
// section 3.2, a decoder), that of the embeddings being C^(-1/2); norms start
// at 1, biases at 0. Throws what LibTorch throws.
class WeightMaker {
 public:
  // Both outlive it.
  WeightMaker(const Config& config, parameters::ParameterSet* parameters);

  // <name>.weight, [V,C] both.
  at::Tensor Embedding(const std::string& name) const;
  at::Tensor Head(const std::string& name) const;
  // <name>.weight and <name>.bias, [C].
  NormWeights Norm(const std::string& name) const;
  // <name>.weight, [C,C].
  LinearWeights Projection(const std::string& name) const;
  // <name>.up_proj.weight and so on.
  MlpWeights Mlp(const std::string& name) const;
  // model.layers.<number>.mlp.up_proj.weight and so on.
  LayerWeights Layer(int number) const;

 private:
  struct Matrix;

  // Of the initial values of a matrix; `gain` is that of deepnorm.
  double Deviation(int64_t out, int64_t in, double gain) const;
  LinearWeights Linear(const Matrix& matrix) const;

  const Config& config_;
  parameters::ParameterSet* const parameters_;
  // Of all matrices of a model but the embeddings, q and k.
  const double gain_;
};

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_WEIGHTS_H_

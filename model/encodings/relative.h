#ifndef ORDO_MODEL_ENCODINGS_RELATIVE_H_
#define ORDO_MODEL_ENCODINGS_RELATIVE_H_

#include <ATen/core/Tensor.h>

#include "model/encodings/encoding.h"

// Where queries and keys stand to each other. Legend: B batch, H heads, T
// queries, S keys.

namespace ordo::model::encodings {

// Position id of the query minus that of the key, int64 [1,1,T,S] or [B,1,T,S].
// Negative for keys after the query; without meaning where a key is padding.
at::Tensor Distances(const Pass& pass);

// An encoding whose logits get a bias that depends on position ids and
// parameters only. What layers have in common is computed once in a pass.
class PositionBias : public Encoding {
 public:
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override;
  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& product) const override;

 protected:
  // `per_layer`: whether layers have biases of their own.
  PositionBias(const ModelShape& shape, bool per_layer);

 private:
  // What of the positions the bias depends on, [1,1,T,S] or [B,1,T,S]. `wide`
  // is fp32, or fp64 in a model of fp64: for real numbers.
  virtual at::Tensor Places(const Pass& pass, c10::ScalarType wide) const = 0;

  // The bias [1,H,T,S] or [B,H,T,S] of a layer that acts.
  virtual at::Tensor BiasOf(const at::Tensor& places, int layer) const = 0;

  const int first_layer_;
  const bool per_layer_;
};

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_RELATIVE_H_

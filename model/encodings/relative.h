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

// The distances i - j that a kernel's table has an element for, in its order:
// int64 [L], from `reach` down to 0, or to -reach unless causal. On the device
// of `like`.
at::Tensor TableDistances(int64_t reach, bool causal, const at::Tensor& like);

// An encoding whose logits get a bias that depends on differences of position
// ids and parameters only.
class PositionBias : public Encoding {
 public:
  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& product) const override;
  // A table of distances.
  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override;

 protected:
  // `per_layer`: whether layers have biases of their own.
  PositionBias(const ModelShape& shape, bool per_layer);

  bool causal() const { return causal_; }

  // The bias of pairs of position ids: one query [1,1] and keys [1,L].
  at::Tensor BiasOfKeys(const at::Tensor& query, const at::Tensor& keys,
                        int layer) const;

 private:
  // What of the positions the bias depends on, [1,1,T,S] or [B,1,T,S]. `wide`
  // is fp32, or fp64 in a model of fp64: for real numbers.
  virtual at::Tensor Places(const Pass& pass, c10::ScalarType wide) const = 0;

  // The bias [1,H,T,S] or [B,H,T,S] of a layer that acts.
  virtual at::Tensor BiasOf(const at::Tensor& places, int layer) const = 0;

  const int first_layer_;
  const bool per_layer_;
  const bool causal_;
};

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_RELATIVE_H_

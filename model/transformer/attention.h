#ifndef ORDO_MODEL_TRANSFORMER_ATTENTION_H_
#define ORDO_MODEL_TRANSFORMER_ATTENTION_H_

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "c10/core/ScalarType.h"
#include "model/encodings/encoding.h"

// Scaled dot-product attention with a causal mask, over a list of value tensors
// that share one map of weights. This is the reference: every step in plain
// LibTorch operations.
//
// Legend: B batch, H heads, T queries, S keys, D head width.

namespace ordo::model::transformer {

// Which keys a query sees. Of S keys the last T belong to the queries
// themselves; query i sees the keys up to its own that are real.
class AttentionMask {
 public:
  // Every query sees every key.
  AttentionMask() = default;

  // `real` is bool [B,S], or undefined if all keys are real.
  AttentionMask(int64_t num_queries, int64_t num_keys, const at::Tensor& real,
                const at::TensorOptions& options);

  // Added to logits: 0 or a number so low that its weight is 0. [1,1,T,S] or
  // [B,1,T,S]; undefined if every query sees every key.
  const at::Tensor& bias() const { return bias_; }

  // Queries that see no key, bool [B,1,T,1]; undefined if there can be none.
  const at::Tensor& blind() const { return blind_; }

 private:
  at::Tensor bias_;
  at::Tensor blind_;
};

struct AttentionInput {
  at::Tensor q_BHTD;
  at::Tensor k_BHSD;
  // One or more value tensors, [B,H,S,*].
  std::vector<at::Tensor> values;
  // What the encoding does to the logits.
  encodings::LogitsChange change;
};

// softmax(q.k / sqrt(D), changed and masked), [B,H,T,S]; a query that sees no
// key has weights 0.
at::Tensor AttentionWeights(const AttentionInput& input,
                            const AttentionMask& mask);

// The same weights times each of the values, [B,H,T,*].
std::vector<at::Tensor> Attend(const AttentionInput& input,
                               const AttentionMask& mask);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_ATTENTION_H_

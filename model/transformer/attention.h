#ifndef ORDO_MODEL_TRANSFORMER_ATTENTION_H_
#define ORDO_MODEL_TRANSFORMER_ATTENTION_H_

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

// Scaled dot-product attention with a causal mask, over a list of value tensors
// that share one map of weights. This is the reference: every step in plain
// LibTorch operations.
//
// Legend: B batch, H heads, T queries, S keys, D head width.

namespace ordo::model::transformer {

struct MaskOptions {
  int64_t num_queries = 0;
  // Of which the last belong to the queries themselves.
  int64_t num_keys = 0;
  // Whether a query sees the keys up to its own only.
  bool causal = true;
  // Bool [1,1,T,S] or [B,1,T,S], or with H for 1: hides what it does not hold,
  // never a query from itself. Undefined: hides nothing.
  at::Tensor allowed = {};
};

// Which keys a query sees: those that are real and, if causal, not behind it.
class AttentionMask {
 public:
  // `real` is bool [B,S], or undefined if all keys are real; `tensors` says
  // where and of what type the bias is.
  AttentionMask(const MaskOptions& options, const at::Tensor& real,
                const at::TensorOptions& tensors);

  // Bool [1,1,T,S] or [B,1,T,S]; with H for 1 where `allowed` has it.
  const at::Tensor& visible() const { return visible_; }

  // Added to logits: 0 or a number so low that its weight is 0; shaped as
  // `visible`. Undefined if every query sees every key.
  const at::Tensor& bias() const { return bias_; }

  // Queries that see no key, bool [B,1,T,1]; undefined if there can be none.
  const at::Tensor& blind() const { return blind_; }

 private:
  at::Tensor visible_;
  at::Tensor bias_;
  at::Tensor blind_;
};

struct AttentionInput {
  at::Tensor q_BHTD;
  at::Tensor k_BHSD;
  // In the place of q.k / sqrt(D), and added to it, [B,H,T,S] or broadcasting
  // to that; each may be undefined.
  at::Tensor product;
  at::Tensor bias;
};

// softmax(q.k / sqrt(D), or what takes its place, with bias and mask),
// [B,H,T,S]; a query that sees no key has weights 0.
at::Tensor AttentionWeights(const AttentionInput& input,
                            const AttentionMask& mask);

// The weights times each of the values [B,H,S,*]: [B,H,T,*].
std::vector<at::Tensor> Mix(const at::Tensor& weights_BHTS,
                            const std::vector<at::Tensor>& values);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_ATTENTION_H_

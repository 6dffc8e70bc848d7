#ifndef ORDO_KERNELS_ATTENTION_PROBLEM_H_
#define ORDO_KERNELS_ATTENTION_PROBLEM_H_

#include <cstdint>

#include "kernels/common/type.h"

// Attention over a list of value tensors that share one map of weights, as
// kernels see it:
//
//   s_ij = scale q_i . k_j + bias[j - i],   p_ij = softmax over j of s_ij,
//   out_v,i = sum_j p_ij v_j   for each value tensor v.
//
// With one value tensor this is softmax attention (Vaswani et al. 2017,
// equation 1); TAPE mixes its state as a second one (Zhu et al. 2025, equation
// 7); a bias of the distance is ALiBi's, T5's, KERPLE's or Sandwich's.
//
// Legend: B batch, H heads, G heads of keys (H is a multiple of G; H / G heads
// in a row share one), T queries, S keys, D width of q and k, M width of a
// value tensor, L length of the bias.

namespace ordo::kernels::attention {

// Plain data: kernels take it by value, on other devices too.
inline constexpr int kMaxValues = 3;

struct ValueShape {
  int64_t width = 0;
  // H or G.
  int64_t heads = 0;
};

struct Problem {
  Type type = Type::kFloat32;
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t key_heads = 0;
  int64_t queries = 0;
  // At least the queries, which are the last tokens of those of the keys.
  int64_t keys = 0;
  int64_t width = 0;
  // The first num_values, at least one.
  ValueShape values[kMaxValues];
  int num_values = 1;
  // Whether a query sees the keys up to its own only.
  bool causal = true;
  // Whether some keys are padding, which no query sees.
  bool padded = false;
  // Whether there is a bias of the distance.
  bool biased = false;
  float scale = 1;

  // L. Element j - i + S - 1 of a head's bias is that of the query at token i
  // and the key at token j, both counted among the S.
  int64_t bias_length() const { return causal ? keys : 2 * keys - 1; }
};

// A tensor [B, heads, tokens, width] of the problem's type that somebody else
// owns. Strides are in elements; the last axis is contiguous.
struct View {
  void* data = nullptr;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t token_stride = 0;
};

struct Inputs {
  View q_BHTD;
  View k_BGSD;
  // [B, its heads, S, its width] each.
  View values[kMaxValues];
  // [B,S], 0 for padding; null unless the problem is padded.
  const uint8_t* real_BS = nullptr;
  // [H,L]; null unless the problem is biased.
  const float* bias_HL = nullptr;
};

struct Outputs {
  // One for each value tensor; [B,H,T,M]. A query that sees no key gets zeros.
  View mixed[kMaxValues];
  // ln sum_j exp(s_ij), [B,H,T]; +infinity where a query sees no key.
  float* lse_BHT = nullptr;
};

// What the backward pass reads beside Inputs and Outputs, and what it writes,
// in full. Null data: a gradient that is zero, or one that nobody wants.
struct Gradients {
  View d_mixed[kMaxValues];
  View dq_BHTD;
  View dk_BGSD;
  View d_values[kMaxValues];
  // [H,L].
  float* d_bias_HL = nullptr;
};

// A problem with its tensors; gradients are read and written by the backward
// pass only, which has the outputs of the forward pass.
struct Call {
  Problem problem;
  Inputs inputs;
  Outputs outputs;
  Gradients gradients;
};

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_PROBLEM_H_

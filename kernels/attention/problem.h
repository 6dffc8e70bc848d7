#ifndef ORDO_KERNELS_ATTENTION_PROBLEM_H_
#define ORDO_KERNELS_ATTENTION_PROBLEM_H_

#include <cstdint>

#include "kernels/attention/score_mods.h"
#include "kernels/common/type.h"

// Attention over a list of value tensors that share one map of weights, with
// what positional encodings do to its logits, as kernels see it. For query i
// and key j at distance d:
//
//   a_ij = scale (q_i . k_j + x_i . X[d] + y_j . Y[d])
//   s_ij = a_ij M[d] + b[d] + f(t[d], r_i; theta) + z_i(c_ij)
//   p_ij = softmax over the keys j that query i sees of s_ij
//   out_v,i = sum_j p_ij v_j                      for each value tensor v
//   sum_i[d] = sum of p_ij over the keys j at distance d
//
// Each term is there only if the problem says so. Who needs which:
//
//   v        one: softmax attention (Vaswani et al. 2017, equation 1); TAPE
//            mixes its state as a second one (Zhu et al. 2025, equation 7)
//   b        ALiBi, T5, KERPLE, Sandwich, learned tables
//   M        DA-Transformer (with a_ij rectified), Huang et al. methods 1 and 2
//   X, Y     vectors of distances: Shaw, Transformer-XL, DeBERTa, Huang 4
//   C        Huang 3: (q_i * C[d]) . k_j in the place of q_i . k_j
//   far      ReRoPE: from some distance on, another pair of q and k
//   f        FIRE; what it may be is in score_mods/, a header each
//   z, c     CoPE: c_ij is the sum over keys l from j to i of sigmoid(g_il);
//            z_i(c) interpolates between the numbers z_i[0], z_i[1], ...
//   sum      Shaw's vectors at the values
//
// A kernel may leave out pairs that a bias by distance leaves no weight, be it
// what b is of: near_keys.h says which, and what results lack then.
//
// Legend: B batch, H heads, G heads of keys (H is a multiple of G; H / G heads
// in a row share one), T queries, S keys, D width of q and k, M width of a
// value tensor, L distances that tables tell apart, R heads of tables of
// vectors (1 or H), E width of a band, P numbers of f in each of F pieces.

namespace ordo::kernels::attention {

// Plain data: kernels take it by value, on other devices too.
inline constexpr int kMaxValues = 3;

struct ValueShape {
  int64_t width = 0;
  // H or G.
  int64_t heads = 0;
};

// What CoPE's gates are of.
enum class Gates {
  kNone,
  // g_ij = a_ij.
  kLogits,
  // g_ij = scale (gate_q_i . gate_k_j).
  kOwn,
};

struct Problem {
  Device device = Device::kCpu;
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
  float scale = 1;

  // Whether a query sees the keys up to its own only.
  bool causal = true;
  // Whether some keys are padding, which no query sees.
  bool padded = false;
  // Whether queries have a first key that they see: windows, segments, groups,
  // documents in one row.
  bool bounded = false;

  // The distance of query i and key j is j - i, both counted among the S, or
  // with `positioned` the difference of their position ids.
  bool positioned = false;
  // Farthest distance that tables tell apart; those beyond count as it.
  int64_t reach = 0;

  // b.
  bool biased = false;
  // M; and whether a_ij is max(0, a_ij) before.
  bool multiplied = false;
  bool rectified = false;
  // f, of which theta has P = ParametersOf(mod) numbers in each of F pieces; 0
  // only of none.
  ScoreMod mod = ScoreMod::kNone;
  int64_t pieces = 0;
  // E of X and of Y; 0: there is none.
  int64_t query_band = 0;
  int64_t key_band = 0;
  // C.
  bool by_channel = false;
  // R.
  int64_t table_heads = 1;
  // Distance i - j from which far q and k are taken; 0: never. Only if causal.
  int64_t far_from = 0;
  // z and c. Of no positions: z_i(c) = slope c, one slope for each head.
  Gates gates = Gates::kNone;
  int64_t positions = 0;
  // sum.
  bool summed = false;

  // L. Element min(max(d, -reach), reach) + reach of a table is that of
  // distance d; causal ones have no distances above 0.
  int64_t distances() const { return causal ? reach + 1 : 2 * reach + 1; }
};

// Tensors that have gradients, with their shapes. Tables are fp32, all others
// of the problem's type.
enum Input {
  kQ,                           // [B,H,T,D]
  kK,                           // [B,G,S,D]
  kValue,                       // and the next: [B, its heads, S, M]
  kBias = kValue + kMaxValues,  // b, [1,H,1,L], a table
  kMultiplier,                  // M, [1,H,1,L], a table
  kModDistance,                 // t, [1,1,1,L], a table
  kModQuery,                    // r, [B,1,1,T], a table
  kModParameter,                // theta, [1,H,1,P F], F of each, a table
  kQueryBand,                   // x, [B,H,T,E]
  kQueryVector,                 // X, [1,R,L,E]
  kKeyBand,                     // y, [B,G,S,E]
  kKeyVector,                   // Y, [1,R,L,E]
  kChannel,                     // C, [1,R,L,D]
  kFarQ,                        // [B,H,T,D]
  kFarK,                        // [B,G,S,D]
  kGateQ,                       // [B,H,T,D]
  kGateK,                       // [B,G,S,D]
  kPositionTerm,                // z, [B,H,T,positions]
  kPositionSlope,               // [1,H,1,1], a table
  kNumInputs
};

enum Output {
  kMixed,                         // and the next, for each value: [B,H,T,M]
  kSummed = kMixed + kMaxValues,  // sum, [B,H,T,L]
  kNumOutputs
};

struct Shape {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t tokens = 0;
  int64_t width = 0;
  int64_t count() const { return batch * heads * tokens * width; }
};

constexpr bool HasMod(const Problem& problem) {
  return problem.mod != ScoreMod::kNone;
}
// P F: the numbers of f that a head has.
constexpr int64_t ParametersOf(const Problem& problem) {
  return ParametersOf(problem.mod) * problem.pieces;
}

// All zeros for a tensor that the problem does not have.
Shape ShapeOf(const Problem& problem, Input input);
Shape ShapeOf(const Problem& problem, Output output);
bool IsTable(Input input);
// "q", "k", "value 0", ...: for messages.
const char* NameOf(Input input);
const char* NameOf(Output output);

// A tensor [batch, heads, tokens, width] that somebody else owns. Strides are
// in elements; the last axis is contiguous.
struct View {
  void* data = nullptr;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t token_stride = 0;
};

// What is neither differentiated nor of the problem's type.
struct Facts {
  // [B,S], 0 for padding; null unless the problem is padded.
  const uint8_t* real_BS = nullptr;
  // [B,S]; null unless positioned. Ascending among real keys where causal.
  const int32_t* positions_BS = nullptr;
  // The first key that a query sees, ascending with the queries, at most its
  // own; element b * first_batch_stride + h * first_head_stride + t. Null
  // unless bounded.
  const int32_t* first_BHT = nullptr;
  int64_t first_batch_stride = 0;
  int64_t first_head_stride = 0;
  // Ascending, [F-1]: where pieces of f meet. A pair lies in the piece that has
  // as many knots below t[d] r_i.
  const float* knots = nullptr;
};

// A problem with its tensors; gradients are read and written by the backward
// pass only, which has the outputs of the forward pass.
struct Call {
  Problem problem;
  Facts facts;
  View inputs[kNumInputs];
  // A query that sees no key gets zeros.
  View outputs[kNumOutputs];
  // ln sum_j exp(s_ij), [B,H,T]; +infinity where a query sees no key.
  float* lse_BHT = nullptr;
  // Null data: zero.
  View d_outputs[kNumOutputs];
  // Written in full. Null data: nobody wants it.
  View d_inputs[kNumInputs];
};

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_PROBLEM_H_

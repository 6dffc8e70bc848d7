#ifndef ORDO_KERNELS_ROWS_PROBLEM_H_
#define ORDO_KERNELS_ROWS_PROBLEM_H_

#include <cstdint>

#include "kernels/common/type.h"

// What a transformer does to rows of numbers beside products of matrices: each
// of these reads its rows once and writes its results once. Tensors belong to
// somebody else; the last axis is contiguous, strides are in elements. Null
// gradients: nobody wants them.
//
// Legend: B batch, H heads, T tokens, D width of a head, R turning channels, N
// rows, C width of a row.

namespace ordo::kernels::rows {

// Of [B,H,T,*].
struct View {
  void* data = nullptr;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t token_stride = 0;
};

// q or k, and what becomes of it.
struct Turned {
  // At most those of the rotation.
  int64_t heads = 0;
  View x_BHTD;
  View y_BHTD;
  View d_y_BHTD;
  View d_x_BHTD;
};

// Multiplies the pairs of the first R channels as complex numbers by those of a
// table (Su et al. 2021, equation 34; the numbers need not have the size 1):
// with a pair (a, b) and a number c + i s,
//
//   y_f = a c - b s,    y_{f + R/2} = b c + a s.
//
// The other channels follow. Pairs of x are (f, f + R/2), or (2f, 2f + 1) if
// interleaved.
struct Rotation {
  // Of x, y and their gradients.
  Type type = Type::kFloat32;
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t tokens = 0;
  int64_t width = 0;
  // Even, at most the width.
  int64_t channels = 0;
  bool interleaved = false;
  // Real parts first; fp32. Strides may be 0.
  View table_BHTR;
  // The sum over what is turned, which all has H heads then; fp32.
  View d_table_BHTR;
  int num_turned = 1;
  Turned turned[2];
};

// y = x r w with r = 1 / sqrt(mean of x^2 + epsilon) (Zhang and Sennrich 2019,
// arXiv:1910.07467).
struct Norm {
  // Of x, y and their gradients.
  Type type = Type::kFloat32;
  int64_t rows = 0;
  int64_t width = 0;
  float epsilon = 0;
  const void* x_NC = nullptr;
  const float* weight_C = nullptr;
  void* y_NC = nullptr;
  // r, which the forward pass writes and the backward pass reads.
  float* scale_N = nullptr;
  const void* d_y_NC = nullptr;
  void* d_x_NC = nullptr;
  float* d_weight_C = nullptr;
};

// y = g sigmoid(g) u (Shazeer 2020, arXiv:2002.05202).
struct Gate {
  Type type = Type::kFloat32;
  int64_t rows = 0;
  int64_t width = 0;
  const void* gate_NC = nullptr;
  const void* up_NC = nullptr;
  void* y_NC = nullptr;
  const void* d_y_NC = nullptr;
  // Both wanted.
  void* d_gate_NC = nullptr;
  void* d_up_NC = nullptr;
};

// The gradient of `count` numbers of parameters, from number `first` on.
struct AdamPart {
  const float* gradient = nullptr;
  // A multiple of 4.
  int64_t first = 0;
  int64_t count = 0;
};

// One step of AdamW (Loshchilov and Hutter 2019, algorithm 2) on parameters
// that lie one behind the other, as their moments do: with
// g = gradient * gradient_scale,
//
//   m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) g^2
//   p = keep p - step m / (sqrt(v) / root + epsilon).
//
// Gradients stay where they were made, each in memory of its own: to put them
// one behind the other would read and write them once more.
struct Adam {
  float* parameter = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  // On the host, by `first`; no two overlap. Numbers in none of them keep their
  // bits.
  const AdamPart* parts = nullptr;
  int64_t num_parts = 0;
  float gradient_scale = 1;
  float beta1 = 0;
  float one_less_beta1 = 0;
  float beta2 = 0;
  float one_less_beta2 = 0;
  float epsilon = 0;
  // 1 less the rate times the decay, the rate / (1 - beta1^t), and
  // sqrt(1 - beta2^t).
  float keep = 1;
  float step = 0;
  float root = 1;
};

// What cross-entropy makes of rows of logits: ln sum exp of each, and in their
// place the gradients of `factor` times the sum of -ln p(target).
struct Loss {
  int64_t rows = 0;
  int64_t width = 0;
  float* logits_NC = nullptr;
  const int64_t* targets_N = nullptr;
  // ln sum exp less the target's logit.
  float* loss_N = nullptr;
  float* log_sum_N = nullptr;
  float factor = 1;
};

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_PROBLEM_H_

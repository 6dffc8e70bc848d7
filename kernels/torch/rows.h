#ifndef ORDO_KERNELS_TORCH_ROWS_H_
#define ORDO_KERNELS_TORCH_ROWS_H_

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

// kernels/rows for tensors, with gradients; plain LibTorch operations for types
// and devices without a kernel. Throws what LibTorch throws.
//
// Legend: B batch, H heads, G heads of keys, T tokens, D width of a head, R
// turning channels, C width of a row.

namespace ordo::kernels::torch {

struct Turning {
  // R, even.
  int64_t channels = 0;
  // Whether pairs are (2f, 2f + 1), not (f, f + R/2).
  bool interleaved = false;
};

// x [B,H,T,D] with its pairs multiplied by the complex numbers of `table`,
// real parts first, which broadcasts to [B,H,T,R]. Computed in the table's
// type, returned in x's: all real parts, all imaginary ones, the rest.
at::Tensor Turn(const Turning& turning, const at::Tensor& table,
                const at::Tensor& x_BHTD);

// The same of q [B,H,T,D] and k [B,G,T,D], in one pass.
void TurnBoth(const Turning& turning, const at::Tensor& table,
              at::Tensor* q_BHTD, at::Tensor* k_BGTD);

// x * rsqrt(mean(x^2) + epsilon) * weight over the last axis, the first two
// factors in fp32 at least (Zhang and Sennrich 2019, arXiv:1910.07467).
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight_C,
                   double epsilon);

// silu(gate) * up (Shazeer 2020, arXiv:2002.05202).
at::Tensor SwiGlu(const at::Tensor& gate, const at::Tensor& up);

// The gradient, of any shape, of as many numbers from number `first` on, a
// multiple of 4.
struct AdamGradient {
  int64_t first = 0;
  at::Tensor gradient;
};

// Parameters one behind the other, and their moments. Numbers without a
// gradient are left alone.
struct AdamTensors {
  at::Tensor parameter_N;
  at::Tensor m_N;
  at::Tensor v_N;
  // By `first`; no two overlap.
  std::vector<AdamGradient> gradients;
};

struct AdamStep {
  double gradient_scale = 1;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  // 1 less the rate times the decay; the rate over 1 - beta1^t; the root of
  // 1 - beta2^t.
  double keep = 1;
  double step = 0;
  double root = 1;
};

// As rows::Adam, in place and in one call of the kernel. Not differentiated.
void StepAdam(const AdamStep& step, const AdamTensors& tensors);

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_ROWS_H_

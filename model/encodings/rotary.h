#ifndef ORDO_MODEL_ENCODINGS_ROTARY_H_
#define ORDO_MODEL_ENCODINGS_ROTARY_H_

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "c10/core/ScalarType.h"
#include "model/encodings/encoding.h"
#include "model/encodings/rotary_scaling.h"
#include "proto/ordo/training/v1/component.pb.h"

// What encodings of the rotary family share (Su et al. 2021, section 3.2.2): a
// head's first R channels are R/2 complex numbers, which a table of complex
// numbers multiplies. The other channels stay as they are.

namespace ordo::model::encodings {

enum class PairLayout {
  // Pairs (f, f + R/2): Hugging Face's Llama, GPT-NeoX.
  kHalfSplit,
  // Pairs (2f, 2f + 1): Meta's Llama, RoFormer.
  kInterleaved,
};

struct RotaryOptions {
  double base = 10000.0;
  // Number of channels R that turn, even, at most the head width.
  int64_t channels = 0;
  PairLayout layout = PairLayout::kHalfSplit;
};

// From the parameters `base`, `partial` and `layout` of a component that the
// catalogue has resolved and found to fit: R = int(partial * head width).
RotaryOptions RotaryFromComponent(
    const ordo::training::v1::Component& component, const ModelShape& shape);

// base^(-2f/R) for f = 0 .. R/2 - 1.
std::vector<double> RotaryFrequencies(const RotaryOptions& options);

// Table of A exp(i * position * frequency), A the attention factor, for
// positions [B,T] or [1,T], whole or not, as [B,1,T,R]: the real parts of all
// frequencies, then the imaginary ones. Angles are computed in fp64 and rounded
// to `dtype` at the end.
at::Tensor RotaryTable(const Rotation& rotation, const at::Tensor& positions,
                       c10::ScalarType dtype);
// The same for a rotation per row, one for each row of positions [B,T]; where
// positions are [1,T], they are those of every row.
at::Tensor RotaryTable(const std::vector<Rotation>& rotations,
                       const at::Tensor& positions, c10::ScalarType dtype);
// The same for frequencies [R/2] or [rows,1,1,R/2] on the device of positions,
// through which gradients flow, and an attention factor per row.
at::Tensor RotaryTable(const at::Tensor& frequencies,
                       const std::vector<double>& factors,
                       const at::Tensor& positions, c10::ScalarType dtype);
// The same for RotaryFrequencies(options).
at::Tensor RotaryTable(const RotaryOptions& options,
                       const at::Tensor& positions, c10::ScalarType dtype);

// Number of tokens n = largest position id + 1 among those that any query sees,
// at least 1, of each row; one number where all rows have the same.
std::vector<int64_t> VisibleLengths(const Pass& pass);

// x [B,H,T,D] with its pairs multiplied by `table`, which broadcasts to
// [B,H,T,R] and is laid out as RotaryTable's. The pairs need not lie on the
// unit circle. Computed in the table's dtype, returned in x's. The result has
// all real parts first, then the imaginary ones, then the unturned channels:
// whatever the layout of x, products of two results are right.
at::Tensor Rotate(const RotaryOptions& options, const at::Tensor& table,
                  const at::Tensor& x_BHTD);

// The same of q and k [B,G,T,D] by one table, in one pass.
void RotateBoth(const RotaryOptions& options, const at::Tensor& table,
                at::Tensor* q_BHTD, at::Tensor* k_BGTD);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_ROTARY_H_

#ifndef ORDO_KERNELS_UPDATE_PROBLEM_H_
#define ORDO_KERNELS_UPDATE_PROBLEM_H_

#include <cstdint>

#include "kernels/common/type.h"

// The change of a state by a linear map across heads, as TAPE has it (Zhu et
// al. 2025): for each token
//
//   out = base + M x,
//
// where M [H,H] is one matrix G for all tokens (equation 7: base is the state,
// x what attention made of it), or W2 diag(psi) W1 with psi of the token
// (equation 8: x is base). Nothing of the size of the inner width times that of
// the state is ever in memory.
//
// Legend: B batch, H heads, T tokens, W width of a head's state, E inner width.

namespace ordo::kernels::update {

struct Problem {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t tokens = 0;
  int64_t width = 0;
  // E; 0: one matrix for all tokens.
  int64_t inner = 0;
  Device device = Device::kCpu;

  constexpr bool by_token() const { return inner > 0; }
};

// A tensor [B,H,T,W] that somebody else owns. Strides are in elements; the last
// axis is contiguous.
struct View {
  void* data = nullptr;
  Type type = Type::kFloat32;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t token_stride = 0;
};

struct Inputs {
  // Not read where the map is by token: there it is x.
  View base;
  View x;
  // G, [H,H], of all tokens.
  const float* mix_HH = nullptr;
  // Of the map by token.
  const float* in_EH = nullptr;
  const float* out_HE = nullptr;
  const void* psi_BTE = nullptr;
  Type psi_type = Type::kFloat32;
};

// What the backward pass reads beside Inputs, and what it writes, in full. The
// gradient of base is that of out where there is one matrix for all tokens.
// Null data: a gradient that nobody wants.
struct Gradients {
  View d_out;
  View d_x;
  float* d_mix_HH = nullptr;
  float* d_in_EH = nullptr;
  float* d_out_HE = nullptr;
  // Of psi_type.
  void* d_psi_BTE = nullptr;
};

// A problem with its tensors; gradients are read and written by the backward
// pass only, which does not read `out`.
struct Call {
  Problem problem;
  Inputs inputs;
  View out;
  Gradients gradients;
};

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_PROBLEM_H_

#ifndef ORDO_KERNELS_ROWS_CUDA_FUSED_BODY_H_
#define ORDO_KERNELS_ROWS_CUDA_FUSED_BODY_H_

#include <cmath>
#include <cstdint>

#include "kernels/common/cuda_device.h"
#include "kernels/common/cuda_vectors.h"
#include "kernels/rows/problem.h"

// The kernels of cuda_fused.cu but for rotations. Each number is read once and
// written once, four by a thread at a time; a row's second reading finds it in
// the nearest cache.
//
// Legend: N rows, C width.

namespace ordo::kernels::rows {

inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / 32;
inline constexpr float kLog2E = 1.44269504F;

// Over a warp.
ORDO_DEVICE float SumOfWarp(float x) {
  ORDO_UNROLL
  for (int mask = 16; mask > 0; mask /= 2) x += device::ShuffleXor(x, mask);
  return x;
}

// Rows [N,C] of a type.
struct Rows {
  Type type;
  int64_t width;
  bool vectors;

  // Four of row n from column c on.
  ORDO_DEVICE Quad At(int64_t n, int64_t c) const {
    return {n * width + c, width - c, vectors};
  }
};

// Of all the tensors.
template <typename... Tensors>
ORDO_DEVICE Rows RowsOf(Type type, int64_t width, const Tensors*... tensors) {
  return {type, width, (InVectors(type, tensors, width) && ...)};
}

// A warp for each row.
ORDO_KERNEL(kThreads)
FusedNorm(const Norm norm) {
  const int lane = device::ThreadId() % 32;
  const int64_t n = device::BlockX() * kWarps + device::ThreadId() / 32;
  if (n >= norm.rows) return;
  const Rows rows = RowsOf(norm.type, norm.width, norm.x_NC, norm.y_NC);
  const bool in_fours = InVectors(Type::kFloat32, norm.weight_C, 0);
  float squares = 0;
  for (int64_t c = 4 * lane; c < norm.width; c += 128) {
    const Four x = LoadFour(norm.type, norm.x_NC, rows.At(n, c));
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) squares += x.x[i] * x.x[i];
  }
  squares = SumOfWarp(squares);
  const float scale =
      1 / sqrtf(squares / static_cast<float>(norm.width) + norm.epsilon);
  if (lane == 0) norm.scale_N[n] = scale;
  for (int64_t c = 4 * lane; c < norm.width; c += 128) {
    Four x = LoadFour(norm.type, norm.x_NC, rows.At(n, c));
    const Four weight =
        LoadFour(Type::kFloat32, norm.weight_C, {c, norm.width - c, in_fours});
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) x.x[i] *= scale * weight.x[i];
    StoreFour(norm.type, x, rows.At(n, c), norm.y_NC);
  }
}

// What the backward pass of a norm reads beside it.
struct NormArguments {
  Norm norm;
  // [warps, C]: the weight's gradient from the rows of a warp; null if nobody
  // wants it.
  float* parts;
  int64_t num_parts;
  // Whether a warp's part is in shared memory until it ends.
  bool sums_in_shared;
};

// One row, of a warp, of whose sums a lane has its own columns: with g = d_y w,
// d_x = r g - x r^3 mean(g x).
ORDO_DEVICE void DifferentiateNorm(const Norm& norm, int64_t n, float* sums) {
  const int lane = device::ThreadId() % 32;
  const Rows rows =
      RowsOf(norm.type, norm.width, norm.x_NC, norm.d_y_NC, norm.d_x_NC);
  const bool in_fours = InVectors(Type::kFloat32, norm.weight_C, 0);
  const float scale = norm.scale_N[n];
  float along = 0;
  for (int64_t c = 4 * lane; c < norm.width; c += 128) {
    const Four x = LoadFour(norm.type, norm.x_NC, rows.At(n, c));
    const Four d_y = LoadFour(norm.type, norm.d_y_NC, rows.At(n, c));
    const Four weight =
        LoadFour(Type::kFloat32, norm.weight_C, {c, norm.width - c, in_fours});
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) along += d_y.x[i] * weight.x[i] * x.x[i];
  }
  along = SumOfWarp(along);
  const float back =
      along / static_cast<float>(norm.width) * scale * scale * scale;
  for (int64_t c = 4 * lane; c < norm.width; c += 128) {
    const Four x = LoadFour(norm.type, norm.x_NC, rows.At(n, c));
    const Four d_y = LoadFour(norm.type, norm.d_y_NC, rows.At(n, c));
    if (norm.d_x_NC != nullptr) {
      const Four weight = LoadFour(Type::kFloat32, norm.weight_C,
                                   {c, norm.width - c, in_fours});
      Four d_x;
      ORDO_UNROLL
      for (int i = 0; i < 4; ++i) {
        d_x.x[i] = d_y.x[i] * weight.x[i] * scale - x.x[i] * back;
      }
      StoreFour(norm.type, d_x, rows.At(n, c), norm.d_x_NC);
    }
    if (sums == nullptr) continue;
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (c + i < norm.width) sums[c + i] += d_y.x[i] * (x.x[i] * scale);
    }
  }
}

// A warp for every so many rows; no warp waits for another.
ORDO_KERNEL(kThreads)
FusedNormBackward(const NormArguments a) {
  const Norm& norm = a.norm;
  const int lane = device::ThreadId() % 32;
  const int64_t warp = device::BlockX() * kWarps + device::ThreadId() / 32;
  if (warp >= a.num_parts) return;
  float* sums = nullptr;
  float* part = nullptr;
  if (a.parts != nullptr) {
    part = a.parts + warp * norm.width;
    sums = !a.sums_in_shared
               ? part
               : reinterpret_cast<float*>(device::SharedMemory()) +
                     device::ThreadId() / 32 * norm.width;
    for (int64_t c = 4 * lane; c < norm.width; c += 128) {
      for (int64_t i = c; i < c + 4 && i < norm.width; ++i) sums[i] = 0;
    }
  }
  for (int64_t n = warp; n < norm.rows; n += a.num_parts) {
    DifferentiateNorm(norm, n, sums);
  }
  if (sums == part) return;
  for (int64_t c = 4 * lane; c < norm.width; c += 128) {
    for (int64_t i = c; i < c + 4 && i < norm.width; ++i) part[i] = sums[i];
  }
}

// The weight's gradient from the parts: a lane has a column, a warp a share of
// the parts.
ORDO_KERNEL(kThreads)
FusedNormSum(const NormArguments a) {
  auto* const shares = reinterpret_cast<float*>(device::SharedMemory());
  const int lane = device::ThreadId() % 32, warp = device::ThreadId() / 32;
  const int64_t c = device::BlockX() * 32 + lane;
  float sum = 0;
  for (int64_t part = warp; part < a.num_parts && c < a.norm.width;
       part += kWarps) {
    sum += a.parts[part * a.norm.width + c];
  }
  shares[device::ThreadId()] = sum;
  // All shares are there.
  device::SyncThreads();
  if (warp > 0 || c >= a.norm.width) return;
  for (int other = 1; other < kWarps; ++other) sum += shares[other * 32 + lane];
  a.norm.d_weight_C[c] = sum;
}

ORDO_DEVICE float Sigmoid(float x) {
  const float small = exp2f(-fabsf(x) * kLog2E);
  const float upper = 1 / (1 + small);
  return x < 0 ? small * upper : upper;
}

// Four numbers of all for each thread.
template <typename... Tensors>
ORDO_DEVICE Quad QuadOfThread(Type type, int64_t count,
                              const Tensors*... tensors) {
  const int64_t at = (device::BlockX() * kThreads + device::ThreadId()) * 4;
  return {at, count - at, (InVectors(type, tensors, 0) && ...)};
}

ORDO_KERNEL(kThreads)
FusedGate(const Gate gate) {
  const Quad quad = QuadOfThread(gate.type, gate.rows * gate.width,
                                 gate.gate_NC, gate.up_NC, gate.y_NC);
  if (quad.count <= 0) return;
  const Four g = LoadFour(gate.type, gate.gate_NC, quad);
  Four u = LoadFour(gate.type, gate.up_NC, quad);
  ORDO_UNROLL
  for (int i = 0; i < 4; ++i) u.x[i] *= g.x[i] * Sigmoid(g.x[i]);
  StoreFour(gate.type, u, quad, gate.y_NC);
}

ORDO_KERNEL(kThreads)
FusedGateBackward(const Gate gate) {
  const int64_t count = gate.rows * gate.width;
  const Quad quad = QuadOfThread(gate.type, count, gate.gate_NC, gate.up_NC,
                                 gate.d_y_NC, gate.d_gate_NC, gate.d_up_NC);
  if (quad.count <= 0) return;
  Four g = LoadFour(gate.type, gate.gate_NC, quad);
  Four u = LoadFour(gate.type, gate.up_NC, quad);
  const Four d = LoadFour(gate.type, gate.d_y_NC, quad);
  ORDO_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float open = Sigmoid(g.x[i]);
    const float d_up = d.x[i] * (g.x[i] * open);
    g.x[i] = d.x[i] * u.x[i] * open * (1 + g.x[i] * (1 - open));
    u.x[i] = d_up;
  }
  StoreFour(gate.type, g, quad, gate.d_gate_NC);
  StoreFour(gate.type, u, quad, gate.d_up_NC);
}

// Parts of a step of Adam for one launch, whose arguments are at most 4096
// bytes.
constexpr int kAdamParts = 160;

struct AdamArguments {
  // Of its parts the number only.
  Adam adam;
  AdamPart parts[kAdamParts];
};
static_assert(sizeof(AdamArguments) <= 4096, "a launch takes no more");

// Four numbers from the first part's first on for each thread. Parts begin at
// multiples of four, so these belong to one.
ORDO_KERNEL(kThreads)
FusedAdam(const AdamArguments a) {
  constexpr Type kType = Type::kFloat32;
  const Adam& adam = a.adam;
  const int64_t at =
      a.parts[0].first + (device::BlockX() * kThreads + device::ThreadId()) * 4;
  // The last part that begins there or before.
  int found = 0;
  for (int above = static_cast<int>(adam.num_parts); above - found > 1;) {
    const int middle = (found + above) / 2;
    if (a.parts[middle].first <= at) {
      found = middle;
    } else {
      above = middle;
    }
  }
  const AdamPart& part = a.parts[found];
  const int64_t in_part = at - part.first;
  const Quad quad = {at, part.count - in_part,
                     InVectors(kType, adam.parameter, 0) &&
                         InVectors(kType, adam.m, 0) &&
                         InVectors(kType, adam.v, 0)};
  if (quad.count <= 0) return;
  Four p = LoadFour(kType, adam.parameter, quad);
  const Four gradient =
      LoadFour(kType, part.gradient,
               {in_part, quad.count, InVectors(kType, part.gradient, 0)});
  Four m = LoadFour(kType, adam.m, quad);
  Four v = LoadFour(kType, adam.v, quad);
  ORDO_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float g = gradient.x[i] * adam.gradient_scale;
    m.x[i] = m.x[i] * adam.beta1 + g * adam.one_less_beta1;
    v.x[i] = v.x[i] * adam.beta2 + g * g * adam.one_less_beta2;
    p.x[i] = p.x[i] * adam.keep -
             adam.step * m.x[i] / (sqrtf(v.x[i]) / adam.root + adam.epsilon);
  }
  StoreFour(kType, m, quad, adam.m);
  StoreFour(kType, v, quad, adam.v);
  StoreFour(kType, p, quad, adam.parameter);
}

// The largest of some logits, and the sum of exp2((logit - largest) log2(e)).
// What is not a number makes the sum none.
struct LogSum {
  float largest;
  float sum;

  ORDO_DEVICE void Add(float other_largest, float other_sum) {
    const float most = other_largest > largest ? other_largest : largest;
    // Before the first number there is nothing to scale.
    const float base = most == -INFINITY ? 0 : most;
    sum = sum * exp2f((largest - base) * kLog2E) +
          other_sum * exp2f((other_largest - base) * kLog2E);
    largest = most;
  }
  // One logit for another term 1, at half the cost.
  ORDO_DEVICE void AddLogit(float logit) {
    if (logit > largest) {
      sum = sum * exp2f((largest - logit) * kLog2E) + 1;
      largest = logit;
    } else if (logit != -INFINITY) {
      sum += exp2f((logit - largest) * kLog2E);
    }
  }
};

// A block for each row.
ORDO_KERNEL(kThreads)
FusedLoss(const Loss loss) {
  constexpr Type kType = Type::kFloat32;
  const int64_t n = device::BlockX();
  const int lane = device::ThreadId() % 32, warp = device::ThreadId() / 32;
  const Rows rows = RowsOf(kType, loss.width, loss.logits_NC);
  LogSum own = {-INFINITY, 0};
  for (int64_t c = 4 * device::ThreadId(); c < loss.width; c += 4 * kThreads) {
    const Quad quad = rows.At(n, c);
    const Four logits = LoadFour(kType, loss.logits_NC, quad);
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < quad.count) own.AddLogit(logits.x[i]);
    }
  }
  ORDO_UNROLL
  for (int mask = 16; mask > 0; mask /= 2) {
    const float largest = device::ShuffleXor(own.largest, mask);
    own.Add(largest, device::ShuffleXor(own.sum, mask));
  }
  auto* const of_warps = reinterpret_cast<LogSum*>(device::SharedMemory());
  if (lane == 0) of_warps[warp] = own;
  // All warps' sums are there.
  device::SyncThreads();
  if (device::ThreadId() > 0) return;
  for (int other = 1; other < kWarps; ++other) {
    own.Add(of_warps[other].largest, of_warps[other].sum);
  }
  const float log_sum = own.largest + logf(own.sum);
  loss.log_sum_N[n] = log_sum;
  loss.loss_N[n] = log_sum - loss.logits_NC[n * loss.width + loss.targets_N[n]];
}

ORDO_KERNEL(kThreads)
FusedLossBackward(const Loss loss) {
  constexpr Type kType = Type::kFloat32;
  const int64_t n = device::BlockY();
  const Rows rows = RowsOf(kType, loss.width, loss.logits_NC);
  const int64_t c = (device::BlockX() * kThreads + device::ThreadId()) * 4;
  if (c >= loss.width) return;
  const Quad quad = rows.At(n, c);
  Four logits = LoadFour(kType, loss.logits_NC, quad);
  const float log_sum = loss.log_sum_N[n];
  const int64_t target = loss.targets_N[n] - c;
  ORDO_UNROLL
  for (int i = 0; i < 4; ++i) {
    logits.x[i] = exp2f((logits.x[i] - log_sum) * kLog2E) * loss.factor;
    if (i == target) logits.x[i] -= loss.factor;
  }
  StoreFour(kType, logits, quad, loss.logits_NC);
}

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CUDA_FUSED_BODY_H_

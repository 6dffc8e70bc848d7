#ifndef ORDO_KERNELS_ROWS_CPU_FUSED_BODY_H_
#define ORDO_KERNELS_ROWS_CPU_FUSED_BODY_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"
#include "kernels/rows/cpu_fused_code.h"
#include "kernels/rows/cpu_fused_turn.h"

// The code of cpu_fused.h on vectors of ORDO_VECTOR_BYTES, for one .cc per
// instruction set; see cpu_vectors.h. What is behind a row's end is read as
// zeros and not written, so a row has the same bits wherever it lies.

namespace ordo::kernels::rows {
namespace {

inline const char* RowAt(Type type, const void* rows, int64_t i) {
  return static_cast<const char*>(rows) + i * BytesOf(type);
}
inline char* RowAt(Type type, void* rows, int64_t i) {
  return static_cast<char*>(rows) + i * BytesOf(type);
}

template <typename Step>
inline void ForEachRow(const Range& rows, const Step& step) {
  for (int64_t n = rows.first; n < rows.first + rows.count; ++n) step(n);
}

// The sum of term(place) over a row, in four sums to go on beside each other.
template <typename Term>
inline float SumOver(int64_t count, const Term& term) {
  Vector sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sums[k] += term(Place{i + k * kLanes, kLanes});
  }
  for (; i < count; i += kLanes)
    sums[0] += term(Place{i, Least(kLanes, count - i)});
  return Sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

void Normalize(const Norm& norm, const Range& rows) {
  const Type type = norm.type;
  const int64_t width = norm.width;
  ForEachRow(rows, [&](int64_t n) {
    const char* const x = RowAt(type, norm.x_NC, n * width);
    char* const y = RowAt(type, norm.y_NC, n * width);
    const float squares = SumOver(width, [&](Place place) {
      const Vector value = LoadAt(type, x, place);
      return value * value;
    });
    const float scale =
        1 / sqrtf(squares / static_cast<float>(width) + norm.epsilon);
    norm.scale_N[n] = scale;
    ForEachVector(width, [&](Place place) {
      StoreAt(type, y, place,
              LoadAt(type, x, place) * All(scale) *
                  LoadAt(Type::kFloat32, norm.weight_C, place));
    });
  });
}

// With g = d_y w: d_x = r g - x r^3 mean(g x).
void NormalizeBackward(const Norm& norm, const Range& rows, float* d_weight) {
  const Type type = norm.type;
  const int64_t width = norm.width;
  if (d_weight != nullptr) memset(d_weight, 0, width * 4);
  ForEachRow(rows, [&](int64_t n) {
    const char* const x = RowAt(type, norm.x_NC, n * width);
    const char* const d_y = RowAt(type, norm.d_y_NC, n * width);
    const float scale = norm.scale_N[n];
    const auto changed = [&](Place place) {
      return LoadAt(type, d_y, place) *
             LoadAt(Type::kFloat32, norm.weight_C, place);
    };
    const float along = SumOver(width, [&](Place place) {
      return changed(place) * LoadAt(type, x, place);
    });
    const float back =
        along / static_cast<float>(width) * scale * scale * scale;
    ForEachVector(width, [&](Place place) {
      const Vector value = LoadAt(type, x, place);
      if (norm.d_x_NC != nullptr) {
        StoreAt(type, RowAt(type, norm.d_x_NC, n * width), place,
                changed(place) * All(scale) - value * All(back));
      }
      if (d_weight == nullptr) return;
      StoreAt(Type::kFloat32, d_weight, place,
              LoadAt(Type::kFloat32, d_weight, place) +
                  LoadAt(type, d_y, place) * (value * All(scale)));
    });
  });
}

inline Vector Sigmoid(Vector x) {
  const Vector zero = {};
  const Vector small = Exp2((x < zero ? x : -x) * All(kLog2E));
  const Vector upper = All(1) / (All(1) + small);
  return x < zero ? small * upper : upper;
}

void OpenGate(const Gate& gate, const Range& rows) {
  const Type type = gate.type;
  ForEachRow(rows, [&](int64_t n) {
    const int64_t at = n * gate.width;
    ForEachVector(gate.width, [&](Place place) {
      const Vector g = LoadAt(type, RowAt(type, gate.gate_NC, at), place);
      const Vector u = LoadAt(type, RowAt(type, gate.up_NC, at), place);
      StoreAt(type, RowAt(type, gate.y_NC, at), place, g * Sigmoid(g) * u);
    });
  });
}

void OpenGateBackward(const Gate& gate, const Range& rows) {
  const Type type = gate.type;
  ForEachRow(rows, [&](int64_t n) {
    const int64_t at = n * gate.width;
    ForEachVector(gate.width, [&](Place place) {
      const Vector g = LoadAt(type, RowAt(type, gate.gate_NC, at), place);
      const Vector u = LoadAt(type, RowAt(type, gate.up_NC, at), place);
      const Vector d = LoadAt(type, RowAt(type, gate.d_y_NC, at), place);
      const Vector open = Sigmoid(g);
      StoreAt(type, RowAt(type, gate.d_up_NC, at), place, d * (g * open));
      StoreAt(type, RowAt(type, gate.d_gate_NC, at), place,
              d * u * open * (All(1) + g * (All(1) - open)));
    });
  });
}

inline Vector Root(Vector x) {
  for (int i = 0; i < kLanes; ++i) x[i] = sqrtf(x[i]);
  return x;
}

void StepAdam(const Adam& adam, const AdamPart& part) {
  constexpr Type kType = Type::kFloat32;
  const int64_t first = part.first;
  ForEachVector(part.count, [&](Place place) {
    const Vector g =
        LoadAt(kType, part.gradient, place) * All(adam.gradient_scale);
    const Vector m = LoadAt(kType, adam.m + first, place) * All(adam.beta1) +
                     g * All(adam.one_less_beta1);
    const Vector v = LoadAt(kType, adam.v + first, place) * All(adam.beta2) +
                     g * g * All(adam.one_less_beta2);
    const Vector p = LoadAt(kType, adam.parameter + first, place);
    StoreAt(kType, adam.m + first, place, m);
    StoreAt(kType, adam.v + first, place, v);
    StoreAt(kType, adam.parameter + first, place,
            p * All(adam.keep) -
                All(adam.step) * m /
                    (Root(v) / All(adam.root) + All(adam.epsilon)));
  });
}

void FindLoss(const Loss& loss, const Range& rows) {
  constexpr Type kType = Type::kFloat32;
  ForEachRow(rows, [&](int64_t n) {
    const float* const row = loss.logits_NC + n * loss.width;
    float largest = row[0];
    int64_t i = 0;
    Vector most = All(largest);
    for (; i + kLanes <= loss.width; i += kLanes) {
      most = Max(Load(row + i), most);
    }
    largest = Largest(most);
    for (; i < loss.width; ++i) largest = row[i] > largest ? row[i] : largest;
    const float sum = SumOver(loss.width, [&](Place place) {
      const Vector power =
          Exp2((LoadAt(kType, row, place) - All(largest)) * All(kLog2E));
      if (place.count == kLanes) return power;
      Integers lane;
      for (int k = 0; k < kLanes; ++k) lane[k] = k;
      const Integers end = static_cast<int32_t>(place.count) - Integers{};
      return lane < end ? power : Vector{};
    });
    const float log_sum = largest + logf(sum);
    loss.log_sum_N[n] = log_sum;
    loss.loss_N[n] = log_sum - row[loss.targets_N[n]];
  });
}

void FindLossBackward(const Loss& loss, const Range& rows) {
  constexpr Type kType = Type::kFloat32;
  ForEachRow(rows, [&](int64_t n) {
    float* const row = loss.logits_NC + n * loss.width;
    const float log_sum = loss.log_sum_N[n];
    ForEachVector(loss.width, [&](Place place) {
      const Vector power =
          Exp2((LoadAt(kType, row, place) - All(log_sum)) * All(kLog2E));
      StoreAt(kType, row, place, power * All(loss.factor));
    });
    row[loss.targets_N[n]] -= loss.factor;
  });
}

constexpr FusedCode kCode = {Turn,
                             TurnBackward,
                             Normalize,
                             NormalizeBackward,
                             OpenGate,
                             OpenGateBackward,
                             StepAdam,
                             FindLoss,
                             FindLossBackward};

}  // namespace
}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CPU_FUSED_BODY_H_

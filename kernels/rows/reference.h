#ifndef ORDO_KERNELS_ROWS_REFERENCE_H_
#define ORDO_KERNELS_ROWS_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "kernels/rows/problem.h"

// The judge of the kernels: the formulas of problem.h as loops in double. It
// never gets faster. Of the problems only the shape and the numbers are read,
// never a pointer.

namespace ordo::kernels::rows {

using Numbers = std::vector<double>;

// Tensors of a rotation of one x [B,H,T,D] by a table [B,H,T,R].
struct RotationTensors {
  Numbers x, table, y;
  Numbers d_y, d_x, d_table;
};
// Everything but x, table and d_y.
void ReferenceTurn(const Rotation& rotation, RotationTensors* tensors);

struct NormTensors {
  Numbers x_NC, weight_C, y_NC;
  Numbers d_y_NC, d_x_NC, d_weight_C;
};
void ReferenceNorm(const Norm& norm, NormTensors* tensors);

struct GateTensors {
  Numbers gate_NC, up_NC, y_NC;
  Numbers d_y_NC, d_gate_NC, d_up_NC;
};
void ReferenceGate(const Gate& gate, GateTensors* tensors);

struct AdamTensors {
  Numbers gradient, parameter, m, v;
};
// Changes all but the gradient, which is one part.
void ReferenceAdam(const Adam& adam, AdamTensors* tensors);

struct LossTensors {
  Numbers logits_NC;
  std::vector<int64_t> targets_N;
  Numbers loss_N, log_sum_N, d_logits_NC;
};
void ReferenceLoss(const Loss& loss, LossTensors* tensors);

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_REFERENCE_H_

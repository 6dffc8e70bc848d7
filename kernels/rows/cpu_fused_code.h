#ifndef ORDO_KERNELS_ROWS_CPU_FUSED_CODE_H_
#define ORDO_KERNELS_ROWS_CPU_FUSED_CODE_H_

#include <cstdint>

#include "kernels/rows/problem.h"

// Between cpu_fused.cc and what is compiled once for each instruction set.

namespace ordo::kernels::rows {

// A range of what a kernel goes through: rows, tokens of one head, numbers.
struct Range {
  int64_t first = 0;
  int64_t count = 0;
};

// One head's tokens.
struct HeadTokens {
  int64_t batch = 0;
  int64_t head = 0;
  Range tokens;
};

// The code for one instruction set, for a part of the work each.
struct FusedCode {
  void (*turn)(const Rotation& rotation, const HeadTokens& part);
  void (*turn_backward)(const Rotation& rotation, const HeadTokens& part);
  void (*norm)(const Norm& norm, const Range& rows);
  // `d_weight` [C] is the rows' part of the weight's gradient; null: none.
  void (*norm_backward)(const Norm& norm, const Range& rows, float* d_weight);
  void (*gate)(const Gate& gate, const Range& rows);
  void (*gate_backward)(const Gate& gate, const Range& rows);
  // On one of its parts, or on a piece of one.
  void (*adam)(const Adam& adam, const AdamPart& part);
  void (*loss)(const Loss& loss, const Range& rows);
  void (*loss_backward)(const Loss& loss, const Range& rows);
};
extern const FusedCode kFusedAvx512;
extern const FusedCode kFusedAvx2;
// For any processor.
extern const FusedCode kFusedBaseline;

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CPU_FUSED_CODE_H_

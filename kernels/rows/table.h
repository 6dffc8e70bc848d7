#ifndef ORDO_KERNELS_ROWS_TABLE_H_
#define ORDO_KERNELS_ROWS_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/common/resources.h"
#include "kernels/rows/problem.h"

// The kernels there are for rows, and the one place that chooses among them.
// Whatever the number of threads, results have the same bits; those of a row
// depend on no other row.

namespace ordo::kernels::rows {

struct Kernel {
  std::string name;
  // OK if this machine can run it; else UNIMPLEMENTED says why not.
  absl::Status (*supports)();
  void (*turn)(const Rotation& rotation, const Resources& resources);
  void (*turn_backward)(const Rotation& rotation, const Resources& resources);
  void (*norm)(const Norm& norm, const Resources& resources);
  void (*norm_backward)(const Norm& norm, const Resources& resources);
  void (*gate)(const Gate& gate, const Resources& resources);
  void (*gate_backward)(const Gate& gate, const Resources& resources);
  void (*adam)(const Adam& adam, const Resources& resources);
  // loss_N and log_sum_N of the logits.
  void (*loss)(const Loss& loss, const Resources& resources);
  // The logits' gradients in their place, from log_sum_N.
  void (*loss_backward)(const Loss& loss, const Resources& resources);
};

// Bytes of the workspace of norm_backward; the others need none.
int64_t NormWorkspaceBytes(const Norm& norm);

// All of them, best first.
const std::vector<Kernel>& Kernels();

// The first that this machine can run; there is one for any.
const Kernel& Select();

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_TABLE_H_

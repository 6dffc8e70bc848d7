#ifndef ORDO_KERNELS_ROWS_TABLE_H_
#define ORDO_KERNELS_ROWS_TABLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/common/resources.h"
#include "kernels/rows/problem.h"

// The kernels there are for rows, and the one place that chooses among them.
// Whatever the number of threads, results have the same bits; those of a row
// depend on no other row.

namespace ordo::kernels::rows {

// INTERNAL: the device did not take it.
template <typename Problem>
using Pass = std::function<absl::Status(const Problem& problem,
                                        const Resources& resources)>;

struct Kernel {
  std::string name;
  // OK if this machine can run it; else UNIMPLEMENTED says why not.
  std::function<absl::Status()> supports;
  Pass<Rotation> turn;
  Pass<Rotation> turn_backward;
  Pass<Norm> norm;
  Pass<Norm> norm_backward;
  Pass<Gate> gate;
  Pass<Gate> gate_backward;
  Pass<Adam> adam;
  // loss_N and log_sum_N of the logits.
  Pass<Loss> loss;
  // The logits' gradients in their place, from log_sum_N.
  Pass<Loss> loss_backward;
  // Bytes of the workspace of norm_backward; the others need none.
  std::function<int64_t(const Norm& norm)> norm_workspace_bytes;
  // Where the tensors lie.
  Device device = Device::kCpu;
};

// All of them, for each device best first.
const std::vector<Kernel>& Kernels();

// Adds those of a library that was loaded. Others stay where they are; not
// while another thread uses the table.
void AddKernels(const std::vector<Kernel>& kernels);

// The first for the device that this machine can run; there is always one for
// the CPU. UNIMPLEMENTED says why there is none.
absl::StatusOr<const Kernel*> Select(Device device);

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_TABLE_H_

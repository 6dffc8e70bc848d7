#ifndef ORDO_KERNELS_PROBE_PROBE_H_
#define ORDO_KERNELS_PROBE_PROBE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/common/check/miss.h"
#include "kernels/common/device_memory.h"
#include "kernels/common/type.h"

// The kernels of all tables beside their judges, on the device that is to be
// used: the cases of the numeric tests that take a moment.
//
// A kernel that is wrong may end the process or spoil its GPU context, so each
// row is for a process of its own (base/process/apart.h). Not thread-safe.

namespace ordo::kernels::probe {

// What came of a row: it is right if there are problems and no miss.
struct Finding {
  // Problems that it took, up to the first that it got wrong.
  int num_problems = 0;
  // Of none: why the row takes none of them here.
  absl::Status unsupported;
  // The first problem that it got wrong, and its first wrong result.
  std::string problem;
  std::optional<check::Miss> miss;
};

// "<table>/<kernel>" of all rows for the device, table by table, best first.
// Those of a GPU are there once its library is loaded (kernels/cuda/load.h).
std::vector<std::string> Rows(Device device);

// Computes what the judges say, so that processes made after it need not.
void Prepare(Device device);

// Runs a row's kernel, on tensors in the memory of its device (null: the
// CPU's). NOT_FOUND: no table has it. RESOURCE_EXHAUSTED: others have taken the
// device's memory, and nothing is known of the kernel.
absl::StatusOr<Finding> ProbeRow(const std::string& row,
                                 const DeviceMemory* memory);

}  // namespace ordo::kernels::probe

#endif  // ORDO_KERNELS_PROBE_PROBE_H_

#ifndef ORDO_KERNELS_UPDATE_TABLE_H_
#define ORDO_KERNELS_UPDATE_TABLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/common/resources.h"
#include "kernels/update/problem.h"

// The kernels there are for the change of a state, and the one place that
// chooses among them.

namespace ordo::kernels::update {

struct Kernel {
  std::string name;
  // OK if this machine can do it; else UNIMPLEMENTED says why not.
  std::function<absl::Status(const Problem& problem)> supports;
  // Bytes of Resources::workspace for a pass.
  std::function<int64_t(const Problem& problem, Way way, int threads)>
      workspace_bytes;
  // Bits of results do not depend on the number of threads, and those of a
  // token's `out` on no other token. INTERNAL: the device did not take it.
  std::function<absl::Status(const Call& call, const Resources& resources)>
      forward;
  std::function<absl::Status(const Call& call, const Resources& resources)>
      backward;
  // Where the tensors of its problems lie.
  Device device = Device::kCpu;
};

// All of them, for each device best first.
const std::vector<Kernel>& Kernels();

// Adds those of a library that was loaded. Others stay where they are; not
// while another thread uses the table.
void AddKernels(const std::vector<Kernel>& kernels);

// The first that supports the problem. INVALID_ARGUMENT names the field of one
// that makes no sense, UNIMPLEMENTED where none supports it.
absl::StatusOr<const Kernel*> Select(const Problem& problem);

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_TABLE_H_

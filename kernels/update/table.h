#ifndef ORDO_KERNELS_UPDATE_TABLE_H_
#define ORDO_KERNELS_UPDATE_TABLE_H_

#include <cstdint>
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
  absl::Status (*supports)(const Problem& problem);
  // Bytes of Resources::workspace, for either pass.
  int64_t (*workspace_bytes)(const Problem& problem, int threads);
  // Bits of results do not depend on the number of threads, and those of a
  // token's `out` on no other token.
  void (*forward)(const Call& call, const Resources& resources);
  void (*backward)(const Call& call, const Resources& resources);
};

// All of them, best first.
const std::vector<Kernel>& Kernels();

// The first that supports the problem. INVALID_ARGUMENT names the field of one
// that makes no sense, UNIMPLEMENTED where none supports it.
absl::StatusOr<const Kernel*> Select(const Problem& problem);

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_TABLE_H_

#ifndef ORDO_KERNELS_ATTENTION_TABLE_H_
#define ORDO_KERNELS_ATTENTION_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/attention/problem.h"
#include "kernels/common/resources.h"

// The kernels there are, and the one place that chooses among them.

namespace ordo::kernels::attention {

struct Kernel {
  std::string name;
  // OK if this machine and this kernel can do it; else UNIMPLEMENTED says why
  // not.
  absl::Status (*supports)(const Problem& problem);
  // Bytes of Resources::workspace, for either pass.
  int64_t (*workspace_bytes)(const Problem& problem, int threads);
  void (*forward)(const Call& call, const Resources& resources);
  void (*backward)(const Call& call, const Resources& resources);
};

// All of them, best first.
const std::vector<Kernel>& Kernels();

// INVALID_ARGUMENT names the field of a problem that makes no sense.
absl::Status CheckProblem(const Problem& problem);

// The first that supports the problem, or the one named; empty: none is named.
// NOT_FOUND for an unknown name, UNIMPLEMENTED where none, or not the one
// named, supports it.
absl::StatusOr<const Kernel*> Select(const Problem& problem,
                                     std::string_view name);

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_TABLE_H_

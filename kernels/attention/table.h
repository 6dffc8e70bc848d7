#ifndef ORDO_KERNELS_ATTENTION_TABLE_H_
#define ORDO_KERNELS_ATTENTION_TABLE_H_

#include <cstdint>
#include <functional>
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
  std::function<absl::Status(const Problem& problem)> supports;
  // Bytes of Resources::workspace for a pass.
  std::function<int64_t(const Problem& problem, Way way, int threads)>
      workspace_bytes;
  // INTERNAL: the device did not take it.
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

// Farthest distance of sums of weights: they take memory for each query and
// distance, which plain operations, a block of queries at a time, do not.
inline constexpr int64_t kMaxSummedReach = 1024;
// Most counted positions with a term: of the term z there is a number for each
// query and position, so the same holds for it.
inline constexpr int64_t kMaxPositions = 1025;

// INVALID_ARGUMENT names the field of a problem that makes no sense.
absl::Status CheckProblem(const Problem& problem);

// The first that supports the problem, or the one named; empty: none is named.
// NOT_FOUND for an unknown name, UNIMPLEMENTED where none, or not the one
// named, supports it.
absl::StatusOr<const Kernel*> Select(const Problem& problem,
                                     std::string_view name);

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_TABLE_H_

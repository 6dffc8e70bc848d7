#include "kernels/attention/cpu_tiled.h"

#include <string>
#include <utility>

#include "kernels/attention/cpu_passes.h"
#include "kernels/common/cpu_features.h"

namespace ordo::kernels::attention {
namespace {

// What problem.h has and these kernels do not.
absl::Status SupportsTerms(const Problem& p) {
  const std::pair<bool, const char*> terms[] = {
      {p.device != Device::kCpu, "tensors on another device"},
      {p.by_channel && p.far_from > 0, "products of far pairs by channel"},
      {p.gates != Gates::kNone, "counted positions"},
  };
  for (const auto& [has, what] : terms) {
    if (has) {
      return absl::UnimplementedError(
          std::string("tiled attention does not do ") + what);
    }
  }
  return absl::OkStatus();
}

absl::Status SupportsAvx512(const Problem& problem) {
  const absl::Status status = HasAvx512();
  return status.ok() ? SupportsTerms(problem) : status;
}

absl::Status SupportsAvx2(const Problem& problem) {
  const absl::Status status = HasAvx2();
  return status.ok() ? SupportsTerms(problem) : status;
}

}  // namespace

std::vector<Kernel> TiledKernels() {
  return {CpuKernel("cpu_tiled_avx512", kTiledAvx512, SupportsAvx512),
          CpuKernel("cpu_tiled_avx2", kTiledAvx2, SupportsAvx2),
          CpuKernel("cpu_tiled", kTiledBaseline, SupportsTerms)};
}

}  // namespace ordo::kernels::attention

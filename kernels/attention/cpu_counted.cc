#include "kernels/attention/cpu_counted.h"

#include <string>
#include <utility>

#include "kernels/attention/cpu_counted_code.h"
#include "kernels/attention/cpu_passes.h"
#include "kernels/common/cpu_features.h"

namespace ordo::kernels::attention {
namespace {

// What problem.h has and these kernels do not.
absl::Status SupportsTerms(const Problem& p) {
  const std::pair<bool, const char*> terms[] = {
      {p.device != Device::kCpu, "tensors on another device"},
      {p.gates == Gates::kNone, "positions that nothing counts"},
      {p.query_band > 0 || p.key_band > 0, "vectors of distances"},
      {p.by_channel, "products by channel"},
      {p.far_from > 0, "a far product"},
      {p.summed, "sums of weights by distance"},
  };
  for (const auto& [has, what] : terms) {
    if (has) {
      return absl::UnimplementedError(
          std::string("counted attention does not do ") + what);
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

std::vector<Kernel> CountedKernels() {
  return {CpuKernel("cpu_counted_avx512", kCountedAvx512, SupportsAvx512),
          CpuKernel("cpu_counted_avx2", kCountedAvx2, SupportsAvx2),
          CpuKernel("cpu_counted", kCountedBaseline, SupportsTerms)};
}

}  // namespace ordo::kernels::attention

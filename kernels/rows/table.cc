#include "kernels/rows/table.h"

#include "base/check.h"
#include "kernels/common/left_out.h"
#include "kernels/rows/cpu_fused.h"

namespace ordo::kernels::rows {

namespace {

// Selected kernels are pointed to, so the table does not move.
constexpr size_t kMaxKernels = 16;

std::vector<Kernel>& AllKernels() {
  static auto* const kernels = [] {
    auto* const made = new std::vector<Kernel>(FusedKernels());
    made->reserve(kMaxKernels);
    return made;
  }();
  return *kernels;
}

}  // namespace

const std::vector<Kernel>& Kernels() { return AllKernels(); }

void AddKernels(const std::vector<Kernel>& kernels) {
  std::vector<Kernel>& all = AllKernels();
  ORDO_CHECK(all.size() + kernels.size() <= kMaxKernels);
  all.insert(all.end(), kernels.begin(), kernels.end());
}

absl::StatusOr<const Kernel*> Select(Device device) {
  absl::Status why_not =
      absl::UnimplementedError("no kernels for rows on a GPU are loaded");
  for (const Kernel& kernel : Kernels()) {
    if (kernel.device != device) continue;
    why_not = CheckLeftIn("rows", kernel.name);
    if (why_not.ok()) why_not = kernel.supports();
    if (why_not.ok()) return &kernel;
  }
  return why_not;
}

}  // namespace ordo::kernels::rows

#include "kernels/rows/table.h"

#include <algorithm>

#include "kernels/rows/cpu_fused.h"

namespace ordo::kernels::rows {

const std::vector<Kernel>& Kernels() {
  static const auto* const kernels = new std::vector<Kernel>(FusedKernels());
  return *kernels;
}

const Kernel& Select() {
  static const Kernel& first = *std::find_if(
      Kernels().begin(), Kernels().end(),
      [](const Kernel& kernel) { return kernel.supports().ok(); });
  return first;
}

}  // namespace ordo::kernels::rows

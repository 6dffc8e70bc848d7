#ifndef ORDO_KERNELS_ATTENTION_CPU_PASSES_H_
#define ORDO_KERNELS_ATTENTION_CPU_PASSES_H_

#include <functional>
#include <string>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/table.h"

// Rows of the table whose passes are code for units of work: threads, workspace
// and the sums of what units have of the tables' gradients.

namespace ordo::kernels::attention {

// `code` outlives it.
Kernel CpuKernel(const std::string& name, const TiledCode& code,
                 std::function<absl::Status(const Problem&)> supports);

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PASSES_H_

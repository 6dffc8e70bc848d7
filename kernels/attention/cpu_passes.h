#ifndef ORDO_KERNELS_ATTENTION_CPU_PASSES_H_
#define ORDO_KERNELS_ATTENTION_CPU_PASSES_H_

#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/table.h"

// Rows of the table whose passes are code for units of work: threads, workspace
// and the sums of what units have of the tables' gradients.

namespace ordo::kernels::attention {

// The code of one kernel by instruction set; outlives the kernels.
struct CpuCode {
  const TiledCode& avx512;
  const TiledCode& avx2;
  const TiledCode& baseline;
};

// What a kernel does not do, and whether a problem has it.
using Refusals = std::vector<std::pair<bool, const char*>>;

// Rows <name>_avx512, <name>_avx2 and <name>, best first, each for processors
// that have its instructions and for problems without any of the refusals.
std::vector<Kernel> CpuKernels(const std::string& name, const CpuCode& code,
                               Refusals (*refusals)(const Problem& problem));

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PASSES_H_

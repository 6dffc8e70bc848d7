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

// The code of a row of the table; what it points at outlives the row.
struct CpuCode {
  // Of the row's name, behind its family's.
  const char* suffix;
  const TiledCode* passes;
  // OK if this processor has its instructions.
  absl::Status (*has_instructions)();
  // Unit::products.
  const PairProducts* products = nullptr;
};

// What a kernel does not do, and whether a problem has it.
using Refusals = std::vector<std::pair<bool, const char*>>;

// A row for problems without any of the refusals.
Kernel CpuKernel(const std::string& family, const CpuCode& code,
                 Refusals (*refusals)(const Problem& problem));

// The code of one kernel by instruction set; outlives the kernels.
struct VectorCode {
  const TiledCode& avx512;
  const TiledCode& avx2;
  const TiledCode& baseline;
};

// Rows <family>_avx512, <family>_avx2 and <family>, best first.
std::vector<Kernel> CpuKernels(const std::string& family,
                               const VectorCode& code,
                               Refusals (*refusals)(const Problem& problem));

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PASSES_H_

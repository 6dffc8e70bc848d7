#include "kernels/update/table.h"

#include "absl/strings/str_cat.h"
#include "kernels/update/cpu_fused.h"

namespace ordo::kernels::update {

const std::vector<Kernel>& Kernels() {
  static const auto* const kernels = new std::vector<Kernel>(FusedKernels());
  return *kernels;
}

absl::StatusOr<const Kernel*> Select(const Problem& problem) {
  const struct {
    const char* name;
    int64_t value;
    int64_t least;
  } fields[] = {{"batch", problem.batch, 1},
                {"heads", problem.heads, 1},
                {"tokens", problem.tokens, 1},
                {"width", problem.width, 1},
                {"inner", problem.inner, 0}};
  for (const auto& field : fields) {
    if (field.value >= field.least) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the change of a state: ", field.name, " is ", field.value,
                     "; at least ", field.least, " is needed"));
  }
  absl::Status why_not;
  for (const Kernel& kernel : Kernels()) {
    why_not = kernel.supports(problem);
    if (why_not.ok()) return &kernel;
  }
  return why_not;
}

}  // namespace ordo::kernels::update

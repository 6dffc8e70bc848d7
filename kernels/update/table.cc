#include "kernels/update/table.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "kernels/common/left_out.h"
#include "kernels/update/cpu_fused.h"

namespace ordo::kernels::update {

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
  absl::Status why_not = absl::UnimplementedError(
      "no kernels for the change of a state on a GPU are loaded");
  for (const Kernel& kernel : Kernels()) {
    if (kernel.device != problem.device) continue;
    why_not = CheckLeftIn("update", kernel.name);
    if (why_not.ok()) why_not = kernel.supports(problem);
    if (why_not.ok()) return &kernel;
  }
  return why_not;
}

}  // namespace ordo::kernels::update

#include "kernels/attention/table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "kernels/attention/cpu_counted.h"
#include "kernels/attention/cpu_pairs.h"
#include "kernels/attention/cpu_tiled.h"
#include "kernels/common/left_out.h"

namespace ordo::kernels::attention {
namespace {

absl::Status Refused(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("attention: ", std::string(field), " ", std::string(what)));
}

absl::Status CheckTerms(const Problem& problem) {
  if (problem.reach < 0) return Refused("reach", "must not be negative");
  if (problem.pieces < 0) return Refused("pieces", "must not be negative");
  if ((problem.pieces > 0) != HasMod(problem)) {
    return Refused("pieces", "must be positive with a mod, and 0 without one");
  }
  if (problem.query_band < 0 || problem.key_band < 0) {
    return Refused("query_band and key_band", "must not be negative");
  }
  if (problem.table_heads != 1 && problem.table_heads != problem.heads) {
    return Refused("table_heads", "must be 1 or heads");
  }
  if (problem.far_from < 0) return Refused("far_from", "must not be negative");
  if (problem.far_from > 0 && !problem.causal) {
    return Refused("far_from", "must be 0 unless causal");
  }
  if (problem.positions < 0) {
    return Refused("positions", "must not be negative");
  }
  if (problem.positions > 0 && problem.gates == Gates::kNone) {
    return Refused("positions", "must be 0 without gates");
  }
  return absl::OkStatus();
}

// Selected kernels are pointed to, so the table does not move.
constexpr size_t kMaxKernels = 64;

std::vector<Kernel>& AllKernels() {
  static auto* const kernels = [] {
    auto* const made = new std::vector<Kernel>;
    made->reserve(kMaxKernels);
    for (Kernel& kernel : PairKernels()) made->push_back(std::move(kernel));
    for (Kernel& kernel : TiledKernels()) made->push_back(std::move(kernel));
    for (Kernel& kernel : CountedKernels()) made->push_back(std::move(kernel));
    return made;
  }();
  return *kernels;
}

const char* NameOf(Type type) {
  if (type == Type::kFloat32) return "fp32";
  return type == Type::kFloat16 ? "fp16" : "bf16";
}

// What no kernel does, where one does it in another type; else OK. Why the last
// row refuses says less.
absl::Status WhyNotType(const Problem& problem) {
  for (const Type type : {Type::kFloat32, Type::kBfloat16, Type::kFloat16}) {
    if (type == problem.type) continue;
    Problem other = problem;
    other.type = type;
    for (const Kernel& kernel : Kernels()) {
      if (!CheckLeftIn("attention", kernel.name).ok() ||
          !kernel.supports(other).ok()) {
        continue;
      }
      return absl::UnimplementedError(absl::StrCat(
          "attention: no kernel does this in ", NameOf(problem.type), "; ",
          kernel.name, " does it in ", NameOf(type)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<Kernel>& Kernels() { return AllKernels(); }

void AddKernels(const std::vector<Kernel>& kernels) {
  std::vector<Kernel>& all = AllKernels();
  ORDO_CHECK(all.size() + kernels.size() <= kMaxKernels);
  all.insert(all.end(), kernels.begin(), kernels.end());
}

absl::Status CheckProblem(const Problem& problem) {
  if (problem.batch < 1) return Refused("batch", "must be positive");
  if (problem.heads < 1) return Refused("heads", "must be positive");
  if (problem.key_heads < 1 || problem.heads % problem.key_heads != 0) {
    return Refused("key_heads", "must divide heads");
  }
  if (problem.queries < 1) return Refused("queries", "must be positive");
  if (problem.keys < problem.queries) {
    return Refused("keys", "must be at least the queries");
  }
  if (problem.width < 1) return Refused("width", "must be positive");
  if (problem.num_values < 1 || problem.num_values > kMaxValues) {
    return Refused("num_values", absl::StrCat("must be in 1..", kMaxValues));
  }
  for (int v = 0; v < problem.num_values; ++v) {
    const ValueShape& value = problem.values[v];
    if (value.width < 1) return Refused("values.width", "must be positive");
    if (value.heads != problem.heads && value.heads != problem.key_heads) {
      return Refused("values.heads", "must be heads or key_heads");
    }
  }
  return CheckTerms(problem);
}

absl::StatusOr<const Kernel*> Select(const Problem& problem,
                                     std::string_view name) {
  absl::Status why = CheckProblem(problem);
  if (!why.ok()) return why;
  if (problem.summed && problem.reach > kMaxSummedReach) {
    return absl::UnimplementedError(
        absl::StrCat("attention: sums of weights by distance are of distances "
                     "up to ",
                     kMaxSummedReach, ", and reach is ", problem.reach));
  }
  if (problem.positions > kMaxPositions) {
    return absl::UnimplementedError(
        absl::StrCat("attention: terms of counted positions are of at most ",
                     kMaxPositions, ", and positions is ", problem.positions));
  }
  why = absl::NotFoundError(
      absl::StrCat("no attention kernel is named \"", std::string(name), "\""));
  for (const Kernel& kernel : Kernels()) {
    if (!name.empty() && kernel.name != name) continue;
    why = CheckLeftIn("attention", kernel.name);
    if (why.ok()) why = kernel.supports(problem);
    if (why.ok()) return &kernel;
  }
  const absl::Status only_type = name.empty() ? WhyNotType(problem) : why;
  return only_type.ok() ? why : only_type;
}

}  // namespace ordo::kernels::attention

#include "model/catalog/benchmark.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/nearest.h"
#include "model/catalog/attention_classes.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

constexpr int kMaxNameLength = 63;
constexpr int kTokensOnGpu = 32768;
constexpr int kRowsOnCpu = 2;

// Of its report, whose folder has that name.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength &&
         absl::ascii_islower(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) ||
                  c == '-' || c == '_';
         });
}

// What a list of names may hold; each once.
void CheckNames(const std::string& field,
                const google::protobuf::RepeatedPtrField<std::string>& names,
                const std::vector<std::string>& known, Violations* violations) {
  std::set<std::string> seen;
  for (int i = 0; i < names.size(); ++i) {
    const std::string path = absl::StrCat(field, "[", i, "]");
    if (std::find(known.begin(), known.end(), names[i]) == known.end()) {
      const std::string nearest = base::Nearest(names[i], known);
      violations->push_back(
          {path, absl::StrCat("must be one of ", absl::StrJoin(known, ", "),
                              ", is '", names[i], "'",
                              nearest.empty() ? ""
                                              : absl::StrCat("; did you mean '",
                                                             nearest, "'?"))});
    } else if (!seen.insert(names[i]).second) {
      violations->push_back(
          {path, absl::StrCat("'", names[i], "' is there twice")});
    }
  }
}

// All that are standard on a device: as docs/kernels.md says.
void AddShapes(bool is_gpu, v1::Benchmark* benchmark) {
  const auto add = [&](int tokens, int heads, int length, int width) {
    v1::BenchmarkShape& shape = *benchmark->add_shapes();
    shape.set_batch(tokens / length);
    shape.set_heads(heads);
    shape.set_length(length);
    shape.set_width(width);
  };
  if (!is_gpu) {
    for (int n = 256; n <= 4096; n *= 2) add(kRowsOnCpu * n, 12, n, 64);
    return;
  }
  for (int n = 512; n <= 16384; n *= 2) add(kTokensOnGpu, 12, n, 64);
  for (int n = 512; n <= 16384; n *= 2) add(kTokensOnGpu / 2, 32, n, 128);
}

void ResolveShape(const std::string& path, bool is_gpu,
                  v1::BenchmarkShape* shape, Violations* violations) {
  const size_t num_before = violations->size();
  const bool has_length =
      ResolveNumber({"length", 1, 65536, {}}, path, shape, violations);
  const double rows = is_gpu && has_length
                          ? std::max(1, kTokensOnGpu / shape->length())
                          : kRowsOnCpu;
  ResolveNumber({"batch", 1, 32768, rows}, path, shape, violations);
  ResolveNumber({"heads", 1, 1024, 12}, path, shape, violations);
  if (ResolveNumber({"width", 2, 256, 64}, path, shape, violations) &&
      shape->width() % 2 != 0) {
    violations->push_back({FieldPath(path, "width"),
                           absl::StrCat("must be even, is ", shape->width())});
  }
  const int64_t numbers = int64_t{shape->batch()} * shape->heads() *
                          shape->length() * shape->width();
  if (violations->size() == num_before && numbers > kMaxBenchmarkNumbers) {
    violations->push_back(
        {path, absl::StrCat("batch * heads * length * width must be at most ",
                            kMaxBenchmarkNumbers, ", is ", numbers)});
  }
}

// Whether a kernel for the device does the class in the type. Those of a GPU do
// fp16 where they are built for it.
bool HasKernel(const AttentionClass& about, const std::string& device,
               const std::string& type) {
  const auto& kernels = AttentionKernels();
  return std::any_of(
      kernels.begin(), kernels.end(), [&](const AttentionKernel& kernel) {
        const auto& families = about.kernels;
        const auto& types = kernel.precisions;
        return kernel.device == device &&
               std::find(families.begin(), families.end(), kernel.family) !=
                   families.end() &&
               (type == "fp16" ||
                std::find(types.begin(), types.end(), type) != types.end());
      });
}

// A benchmark of nothing that a kernel does fails when it runs; one of some
// such classes or types leaves them out.
void CheckSomethingRuns(std::string_view field, const std::string& device,
                        const v1::Benchmark& benchmark,
                        Violations* violations) {
  std::string why;
  bool is_type = false;
  for (const std::string& name : benchmark.classes()) {
    for (const AttentionClass& about : AttentionClasses()) {
      if (about.name != name) continue;
      for (const std::string& type : benchmark.types()) {
        if (HasKernel(about, device, type)) return;
      }
      if (why.empty()) why = about.no_cuda;
      is_type = is_type || about.no_cuda.empty();
    }
  }
  violations->push_back(
      {FieldPath(field, is_type ? "types" : "classes"),
       absl::StrCat("no kernel for ", device, " does ",
                    absl::StrJoin(benchmark.classes(), ", "), " in ",
                    absl::StrJoin(benchmark.types(), ", "),
                    is_type ? "; add bf16"
                            : absl::StrCat(": ", why,
                                           "; add another class, or set "
                                           "resources.device to cpu"))});
}

}  // namespace

void ResolveBenchmark(std::string_view field, const v1::Resources& resources,
                      v1::Benchmark* benchmark, Violations* violations) {
  const size_t num_before = violations->size();
  const bool is_gpu = resources.device() == "cuda";
  if (benchmark->name().empty()) benchmark->set_name("attention");
  if (!IsName(benchmark->name())) {
    violations->push_back(
        {FieldPath(field, "name"),
         absl::StrCat("must be lower-case letters, digits, '-' and '_', "
                      "starting with a letter, at most ",
                      kMaxNameLength, " characters")});
  }
  std::vector<std::string> classes;
  for (const AttentionClass& about : AttentionClasses()) {
    if (about.is_measured) classes.push_back(about.name);
  }
  if (benchmark->classes().empty()) {
    benchmark->mutable_classes()->Assign(classes.begin(), classes.end());
  }
  CheckNames(FieldPath(field, "classes"), benchmark->classes(), classes,
             violations);
  std::vector<std::string> types = {"fp32", "bf16"};
  if (benchmark->types().empty()) {
    benchmark->mutable_types()->Assign(types.begin() + (is_gpu ? 1 : 0),
                                       types.end());
  }
  if (is_gpu) types.emplace_back("fp16");
  CheckNames(FieldPath(field, "types"), benchmark->types(), types, violations);
  if (violations->size() == num_before) {
    CheckSomethingRuns(field, resources.device(), *benchmark, violations);
  }
  if (benchmark->shapes().empty()) AddShapes(is_gpu, benchmark);
  if (benchmark->shapes_size() > kMaxBenchmarkShapes) {
    violations->push_back(
        {FieldPath(field, "shapes"),
         absl::StrCat("has ", benchmark->shapes_size(), " entries; at most ",
                      kMaxBenchmarkShapes)});
    return;
  }
  for (int i = 0; i < benchmark->shapes_size(); ++i) {
    ResolveShape(absl::StrCat(FieldPath(field, "shapes"), "[", i, "]"), is_gpu,
                 benchmark->mutable_shapes(i), violations);
  }
  ResolveChoice({"passes", {"forward_backward", "forward"}}, field, benchmark,
                violations);
  ResolveNumber({"rounds", 1, 100, 15}, field, benchmark, violations);
  ResolveNumber({"seconds", 1, 86400, 540}, field, benchmark, violations);
}

}  // namespace ordo::model::catalog

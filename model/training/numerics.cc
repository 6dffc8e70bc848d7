#include "model/training/numerics.h"

#include "ATen/Context.h"
#include "ATen/Parallel.h"
#include "ATen/Version.h"
#include "ATen/native/DispatchStub.h"
#include "absl/strings/str_cat.h"
#include "torch/version.h"

namespace ordo::model::training {
namespace {

void Compare(const std::string& what, const std::string& before,
             const std::string& now, std::vector<std::string>* differences) {
  if (before == now) return;
  differences->push_back(absl::StrCat(what, " was ", before, " and is ", now));
}

// Instruction sets beyond LibTorch's own dispatch that MKL and oneDNN pick
// their kernels by.
std::string Extensions() {
  std::string text;
  if (__builtin_cpu_supports("fma")) text += "+fma";
  if (__builtin_cpu_supports("avx512f")) text += "+avx512f";
  if (__builtin_cpu_supports("avx512vnni")) text += "+vnni";
  if (__builtin_cpu_supports("avx512bf16")) text += "+bf16";
  if (__builtin_cpu_is("intel")) text += "+intel";
  return text;
}

}  // namespace

std::vector<std::string> Differences(const Environment& before,
                                     const Environment& now) {
  std::vector<std::string> differences;
  Compare("the trainer's build", before.build_digest, now.build_digest,
          &differences);
  Compare("the number of threads", std::to_string(before.threads),
          std::to_string(now.threads), &differences);
  Compare("the CPU instruction set", before.cpu_capability, now.cpu_capability,
          &differences);
  Compare("LibTorch's version", before.torch_version, now.torch_version,
          &differences);
  return differences;
}

void ConfigureNumerics(int threads) {
  at::set_num_threads(threads);
  // Can be set once in a process, before anything ran.
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

Environment CurrentEnvironment(const std::string& build_digest) {
  Environment environment;
  environment.build_digest = build_digest;
  environment.threads = at::get_num_threads();
  environment.cpu_capability =
      absl::StrCat(at::get_cpu_capability(), Extensions());
  environment.torch_version = TORCH_VERSION;
  return environment;
}

}  // namespace ordo::model::training

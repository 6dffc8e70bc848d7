#include "model/training/numerics.h"

#include <cpuid.h>
#include <cstdlib>
#include <dlfcn.h>

#include "ATen/Context.h"
#include "ATen/Parallel.h"
#include "ATen/Version.h"
#include "ATen/native/DispatchStub.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/attention/table.h"
#include "kernels/common/left_out.h"
#include "kernels/torch/gpu.h"
#include "model/training/loaded_libraries.h"

namespace ordo::model::training {
namespace {

void Compare(const std::string& what, const std::string& before,
             const std::string& now, std::vector<std::string>* differences) {
  if (before == now) return;
  differences->push_back(absl::StrCat(what, " was ", before, " and is ", now));
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", text, "'");
}

// Extensions that MKL and oneDNN pick their kernels by, but not LibTorch's own
// dispatch. The compiler's name for one is not every compiler's.
std::string Extensions() {
  std::string text;
  if (__builtin_cpu_supports("fma")) text += "+fma";
  if (__builtin_cpu_supports("avx2")) text += "+avx2";
  if (__builtin_cpu_supports("avx512f")) text += "+avx512f";
  if (__builtin_cpu_supports("avx512vnni")) text += "+vnni";
  if (__builtin_cpu_supports("avx512bf16")) text += "+bf16";
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  // Intel's manual, volume 2, CPUID, leaf 7.
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    if ((edx >> 22 & 1) != 0) text += "+amx-bf16";
    if ((edx >> 23 & 1) != 0) text += "+avx512fp16";
    if ((edx >> 24 & 1) != 0) text += "+amx-tile";
    if ((edx >> 25 & 1) != 0) text += "+amx-int8";
  }
  return text;
}

// " GenuineIntel 6/143", the family and model being those of leaf 1: MKL picks
// block sizes by them.
std::string Processor() {
  unsigned int eax = 0, vendor[3] = {}, rest = 0;
  if (__get_cpuid(0, &eax, &vendor[0], &vendor[2], &vendor[1]) == 0) return "";
  const std::string name(reinterpret_cast<const char*>(vendor), sizeof(vendor));
  if (__get_cpuid(1, &eax, &rest, &rest, &rest) == 0) return "";
  const unsigned int base_family = eax >> 8 & 0xf;
  const unsigned int family = base_family + (eax >> 20 & 0xff);
  const unsigned int model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
  return absl::StrCat(" ", name, " ", family, "/", model);
}

constexpr const char* kSettings[] = {
    "ATEN_CPU_CAPABILITY", "MKL_CBWR",           "MKL_ENABLE_INSTRUCTIONS",
    "OMP_THREAD_LIMIT",    "ONEDNN_MAX_CPU_ISA",
};

// How much memory cuBLAS takes for parts of sums; it computes alike from run to
// run only where it is told.
constexpr char kCublasWorkspace[] = "CUBLAS_WORKSPACE_CONFIG";
constexpr const char* kSettingsOfGpu[] = {
    kCublasWorkspace, "CUBLASLT_WORKSPACE_SIZE", "NVIDIA_TF32_OVERRIDE"};

// Of the GPU that was opened; empty: none was.
std::string& OpenedGpu() {
  static auto* const text = new std::string;
  return *text;
}

// The libraries that compute, LibTorch's and what it computes with.
const char* const kLibraries[] = {
    "libtorch_cpu.", "libc10.",        "libgomp.",  "libm.",
    "libc10_cuda.",  "libtorch_cuda.", "libcublas", "libordo_cuda."};

// "2.11.0 0f3a..": as the loaded LibTorch names itself, which need not be the
// one whose headers were compiled, and what else tells builds apart.
std::string TorchVersion() {
  constexpr char kKey[] = "TORCH_VERSION=";
  const std::string config = at::show_config();
  std::string version = "unknown";
  if (const size_t at = config.find(kKey); at != std::string::npos) {
    const size_t begin = at + sizeof(kKey) - 1;
    version = config.substr(begin, config.find_first_of(", \n", begin) - begin);
  }
  return absl::StrCat(
      version, " ",
      DigestOfLoaded({std::begin(kLibraries), std::end(kLibraries)}));
}

// OMP_DYNAMIC lets the runtime take fewer threads than were asked for when the
// machine is busy. Found by its name: LibTorch brings its own runtime along.
void TakeAllThreads() {
  auto* const set_dynamic =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_dynamic"));
  if (set_dynamic != nullptr) set_dynamic(0);
}

std::string Settings() {
  std::vector<const char*> names(std::begin(kSettings), std::end(kSettings));
  if (!OpenedGpu().empty()) {
    names.insert(names.end(), std::begin(kSettingsOfGpu),
                 std::end(kSettingsOfGpu));
  }
  std::vector<std::string> set;
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr) set.push_back(absl::StrCat(name, "=", value));
  }
  return absl::StrJoin(set, " ");
}

// Our kernels for attention that this processor runs in a type, or the GPU in
// bf16; best first.
std::vector<std::string> AttentionKernels(kernels::Type type) {
  kernels::attention::Problem problem;
  problem.type = type;
  problem.batch = problem.heads = problem.key_heads = 1;
  problem.queries = problem.keys = problem.width = 1;
  if (!OpenedGpu().empty()) {
    problem.device = kernels::Device::kCuda;
    problem.type = kernels::Type::kBfloat16;
    problem.width = 64;
  }
  problem.values[0] = {problem.width, 1};
  std::vector<std::string> names;
  for (const auto& kernel : kernels::attention::Kernels()) {
    if (kernel.supports(problem).ok() &&
        kernels::CheckLeftIn("attention", kernel.name).ok()) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

// What computes: those named, for attention, and what of all tables must do
// without.
std::string ChoiceOfKernels(std::vector<std::string> names) {
  for (const std::string& name : kernels::LeftOut()) {
    names.push_back("without:" + name);
  }
  return absl::StrJoin(names, " ");
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
  Compare("the choice of kernels", before.kernels, now.kernels, &differences);
  Compare("the environment's settings", Quoted(before.settings),
          Quoted(now.settings), &differences);
  Compare("the GPU", Quoted(before.gpu), Quoted(now.gpu), &differences);
  Compare("the number of ranks", std::to_string(before.ranks),
          std::to_string(now.ranks), &differences);
  return differences;
}

absl::StatusOr<c10::Device> OpenDevice(const std::string& kind,
                                       const std::string& kernels) {
  if (kind != "cuda") return c10::Device(c10::DeviceType::CPU);
  // Read when cuBLAS is first used.
  setenv(kCublasWorkspace, ":4096:8", /*overwrite=*/0);
  const auto gpu = kernels::torch::OpenGpu(kernels);
  if (!gpu.ok()) return gpu.status();
  OpenedGpu() = *gpu;
  return c10::Device(c10::DeviceType::CUDA, 0);
}

void ConfigureNumerics(int threads) {
  TakeAllThreads();
  at::set_num_threads(threads);
  // Can be set once in a process, before anything ran.
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

bool IsDeterministic() {
  const at::Context& context = at::globalContext();
  return context.deterministicAlgorithms() &&
         !context.deterministicAlgorithmsWarnOnly();
}

std::string KernelsIn(const std::string& precision) {
  return ChoiceOfKernels(AttentionKernels(precision == "bf16"
                                              ? kernels::Type::kBfloat16
                                              : kernels::Type::kFloat32));
}

Environment CurrentEnvironment(const std::string& build_digest,
                               const std::string& kernel) {
  Environment environment;
  environment.build_digest = build_digest;
  environment.threads = at::get_num_threads();
  environment.cpu_capability =
      absl::StrCat(at::get_cpu_capability(), Extensions(), Processor());
  environment.torch_version = TorchVersion();
  environment.kernels =
      ChoiceOfKernels(kernel.empty()
                          // Some rows take nothing else.
                          ? AttentionKernels(kernels::Type::kBfloat16)
                          : std::vector<std::string>{kernel});
  environment.settings = Settings();
  environment.gpu = OpenedGpu();
  return environment;
}

}  // namespace ordo::model::training

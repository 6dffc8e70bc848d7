#ifndef ORDO_MODEL_TRAINING_NUMERICS_H_
#define ORDO_MODEL_TRAINING_NUMERICS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "c10/core/Device.h"

// What numbers depend on beside the specification. Bit equality is promised
// where all of it is equal.

namespace ordo::model::training {

struct Environment {
  // SHA-256 of the program.
  std::string build_digest;
  // CPU threads per rank.
  int threads = 0;
  // Instruction set that LibTorch's own kernels use, such as AVX512, and what
  // its libraries choose theirs by: extensions, vendor, family and model.
  std::string cpu_capability;
  // The version that the loaded LibTorch gives itself, and a digest of it and
  // of the libraries that it computes with, those for a GPU included where they
  // are loaded.
  std::string torch_version;
  // Which of our own kernels may compute attention, best first, or the one that
  // the recipe names.
  std::string kernels = "";
  // Variables of the environment that LibTorch's libraries choose code or
  // threads by, as NAME=value, those that are set.
  std::string settings = "";
  // What the GPU is called, its processors and its driver; empty on a CPU.
  std::string gpu = "";
  // Processes among which the passes of a batch are divided.
  int ranks = 1;
};

// What differs, a sentence each: "threads were 2 and are 4". Empty when bit
// equality holds between the two.
std::vector<std::string> Differences(const Environment& before,
                                     const Environment& now);

// The device of a kind (training.v1.Resources.device): "cpu", or "cuda", the
// first GPU that the process sees, which is made ready; `kernels` is the
// library of kernels for it. FAILED_PRECONDITION says what is missing. Call it
// before anything else of LibTorch.
absl::StatusOr<c10::Device> OpenDevice(const std::string& kind,
                                       const std::string& kernels);

// Takes `threads` CPU threads for operations, neither more nor fewer whatever
// OMP_DYNAMIC says, and one between them, and only algorithms whose results do
// not vary from run to run. For the process and the calling thread, which is
// the one that trains; call it before the first operation.
void ConfigureNumerics(int threads);

// Whether computing the same again in this process gives the same bits:
// ConfigureNumerics has been called. LibTorch then refuses what varies, and our
// own kernels never do, on no device.
bool IsDeterministic();

// Environment::kernels of a recipe that names none and computes in `precision`,
// "fp32" or "bf16", on a CPU; on a GPU in "bf16". After OpenDevice.
std::string KernelsIn(const std::string& precision);

// The environment of this process after OpenDevice and ConfigureNumerics, of a
// recipe that names an attention kernel, or none.
Environment CurrentEnvironment(const std::string& build_digest,
                               const std::string& kernel = "");

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_NUMERICS_H_

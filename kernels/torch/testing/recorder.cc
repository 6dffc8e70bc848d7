#include "kernels/torch/testing/recorder.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/attention/table.h"

namespace ordo::kernels::torch::testing {
namespace {

using attention::Call;
using attention::Kernel;
using attention::Problem;

std::vector<Problem> recorded;

absl::StatusOr<const Kernel*> BestOther(const Problem& problem) {
  absl::Status why = absl::NotFoundError("there are no other kernels");
  for (const Kernel& kernel : attention::Kernels()) {
    if (kernel.name == kRecorder) continue;
    why = kernel.supports(problem);
    if (why.ok()) return &kernel;
  }
  return why;
}

Kernel Recorder() {
  Kernel kernel;
  kernel.name = kRecorder;
  kernel.supports = [](const Problem& problem) {
    return BestOther(problem).status();
  };
  kernel.workspace_bytes = [](const Problem& problem, Way way, int threads) {
    return (*BestOther(problem))->workspace_bytes(problem, way, threads);
  };
  kernel.forward = [](const Call& call, const Resources& resources) {
    recorded.push_back(call.problem);
    return (*BestOther(call.problem))->forward(call, resources);
  };
  kernel.backward = [](const Call& call, const Resources& resources) {
    return (*BestOther(call.problem))->backward(call, resources);
  };
  return kernel;
}

}  // namespace

void AddRecorder() {
  static const bool added = [] {
    attention::AddKernels({Recorder()});
    return true;
  }();
  static_cast<void>(added);
}

std::vector<Problem> TakeRecorded() { return std::exchange(recorded, {}); }

}  // namespace ordo::kernels::torch::testing

#include "kernels/probe/testing/broken_kernels.h"

#include <algorithm>
#include <csignal>

#include "absl/status/status.h"
#include "kernels/attention/table.h"

namespace ordo::kernels::probe::testing {
namespace {

using attention::Call;
using attention::Kernel;
using attention::Problem;

// The row that does what broken ones pretend to, on any processor.
const Kernel& Right() {
  return *std::find_if(
      attention::Kernels().begin(), attention::Kernels().end(),
      [](const Kernel& kernel) { return kernel.name == "cpu_tiled"; });
}

Kernel Named(const char* name) {
  Kernel kernel = Right();
  kernel.name = name;
  return kernel;
}

absl::Status Nothing(const Call&, const Resources&) { return absl::OkStatus(); }

}  // namespace

void AddBrokenKernels() {
  Kernel crashing = Named("cpu_crashing");
  crashing.forward = [](const Call&, const Resources&) {
    std::raise(SIGILL);
    return absl::OkStatus();
  };
  Kernel idle = Named("cpu_idle");
  idle.forward = idle.backward = Nothing;
  Kernel wrong = Named("cpu_wrong");
  wrong.backward = [](const Call& call, const Resources& resources) {
    const absl::Status status = Right().backward(call, resources);
    const attention::View& keys = call.d_inputs[attention::kK];
    if (call.problem.padded && call.problem.type == Type::kFloat32) {
      static_cast<float*>(keys.data)[keys.batch_stride] += 0.5F;
    }
    return status;
  };
  Kernel shy = Named("cpu_shy");
  shy.supports = [](const Problem&) {
    return absl::UnimplementedError("never");
  };
  attention::AddKernels({crashing, idle, wrong, shy});
}

}  // namespace ordo::kernels::probe::testing

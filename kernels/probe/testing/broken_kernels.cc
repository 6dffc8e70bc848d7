#include "kernels/probe/testing/broken_kernels.h"

#include <algorithm>
#include <csignal>
#include <vector>

#include "absl/status/status.h"
#include "kernels/attention/table.h"
#include "kernels/update/table.h"

namespace ordo::kernels::probe::testing {
namespace {

using attention::Call;
using attention::Kernel;
using attention::Problem;

// The rows that do what broken ones pretend to, on any processor.
template <typename AnyKernel>
const AnyKernel& Row(const std::vector<AnyKernel>& all, const char* name) {
  return *std::find_if(all.begin(), all.end(), [name](const AnyKernel& kernel) {
    return kernel.name == name;
  });
}

const Kernel& Right() { return Row(attention::Kernels(), "cpu_tiled"); }

const update::Kernel& RightUpdate() {
  return Row(update::Kernels(), "cpu_fused");
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
  update::Kernel forgetful = RightUpdate();
  forgetful.name = "cpu_forgetful";
  forgetful.forward = [](const update::Call& call, const Resources& resources) {
    const absl::Status status = RightUpdate().forward(call, resources);
    const update::Problem& p = call.problem;
    if (p.heads == 12 && call.out.type == Type::kFloat32) {
      constexpr int64_t kTile = 16;
      static_cast<float*>(call.out.data)[kTile * call.out.token_stride] += 1;
    }
    return status;
  };
  update::AddKernels({forgetful});
}

}  // namespace ordo::kernels::probe::testing

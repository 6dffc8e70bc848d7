#include "kernels/torch/testing/witness.h"

#include <string>
#include <utility>
#include <vector>

#include <torch/library.h>

#include "ATen/core/dispatch/Dispatcher.h"
#include "ATen/ops/ones.h"
#include "absl/strings/str_cat.h"
#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_rows.h"
#include "kernels/attention/table.h"
#include "kernels/rows/table.h"
#include "kernels/update/table.h"

namespace ordo::kernels::torch::testing {
namespace {

using Named = std::pair<const char*, const void*>;

// Tensors without memory begin at null; views of them a little after.
constexpr uintptr_t kFirstAddress = uintptr_t{1} << 32;

absl::Status ExpectNowhere(const std::vector<Named>& tensors) {
  for (const auto& [name, data] : tensors) {
    if (reinterpret_cast<uintptr_t>(data) < kFirstAddress) continue;
    return absl::InternalError(absl::StrCat(name, " lies on the host"));
  }
  return absl::OkStatus();
}

Witnessed witnessed;

// Reads one number, for the host.
constexpr char kRead[] = "aten::_local_scalar_dense";

// As if all numbers were 1, which gives shapes.
void OnOnes(const c10::OperatorHandle& op, c10::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  const size_t first = stack->size() - arguments.size();
  // Those that it writes to.
  std::vector<at::Tensor> written;
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = (*stack)[first + i];
    if (value.isDevice()) value = c10::Device(at::kCPU);
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor x = value.toTensor();
    TORCH_CHECK(x.is_meta() || x.dim() == 0, op.schema().name(),
                ": an argument lies on ", x.device().str());
    const auto* const alias = arguments[i].alias_info();
    if (alias != nullptr && alias->isWrite()) written.push_back(x);
    value = at::ones(x.sizes(), x.options().device(at::kCPU));
  }
  op.callBoxed(stack);
  for (size_t i = first; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (!value.isTensor()) continue;
    const at::Tensor result = value.toTensor();
    value = i - first < written.size()
                ? written[i - first].resize_(result.sizes())
                : result.to(at::kMeta);
  }
}

at::Scalar ReadZero(const at::Tensor& /*x*/) { return 0; }

void AddOperations() {
  static auto* const library =
      new ::torch::Library(::torch::Library::IMPL, "aten",
                           c10::DispatchKey::Meta, __FILE__, __LINE__);
  c10::Dispatcher& all = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : all.getAllOpNames()) {
    const auto op = all.findOp(name);
    const bool lacks = name.getNamespace() == "aten" && op.has_value() &&
                       op->hasKernelForDispatchKey(c10::DispatchKey::CPU) &&
                       !op->hasKernelForDispatchKey(c10::DispatchKey::Meta);
    if (!lacks || name.name == kRead) continue;
    library->impl(c10::toString(name).c_str(),
                  ::torch::CppFunction::makeFromBoxedFunction<&OnOnes>());
  }
  library->impl(kRead, ReadZero);
}

absl::Status TakeAttention(const attention::Call& call) {
  ++witnessed.attention;
  std::vector<Named> tensors = {{"real", call.facts.real_BS},
                                {"positions", call.facts.positions_BS},
                                {"first", call.facts.first_BHT},
                                {"knots", call.facts.knots},
                                {"lse", call.lse_BHT}};
  for (int i = 0; i < attention::kNumInputs; ++i) {
    const char* const name = NameOf(static_cast<attention::Input>(i));
    tensors.emplace_back(name, call.inputs[i].data);
    tensors.emplace_back(name, call.d_inputs[i].data);
  }
  for (int o = 0; o < attention::kNumOutputs; ++o) {
    const char* const name = NameOf(static_cast<attention::Output>(o));
    tensors.emplace_back(name, call.outputs[o].data);
    tensors.emplace_back(name, call.d_outputs[o].data);
  }
  return ExpectNowhere(tensors);
}

absl::Status TakeUpdate(const update::Call& call) {
  ++witnessed.update;
  const update::Inputs& in = call.inputs;
  const update::Gradients& gradients = call.gradients;
  return ExpectNowhere({{"base", in.base.data},
                        {"x", in.x.data},
                        {"mix", in.mix_HH},
                        {"in", in.in_EH},
                        {"out", in.out_HE},
                        {"psi", in.psi_BTE},
                        {"out", call.out.data},
                        {"d_out", gradients.d_out.data},
                        {"d_x", gradients.d_x.data},
                        {"d_mix", gradients.d_mix_HH},
                        {"d_in", gradients.d_in_EH},
                        {"d_out", gradients.d_out_HE},
                        {"d_psi", gradients.d_psi_BTE}});
}

absl::Status TakeRows(const std::vector<Named>& tensors) {
  ++witnessed.rows;
  return ExpectNowhere(tensors);
}

absl::Status TakeRotation(const rows::Rotation& rotation, const Resources&) {
  std::vector<Named> tensors = {{"table", rotation.table_BHTR.data},
                                {"d_table", rotation.d_table_BHTR.data}};
  for (int i = 0; i < rotation.num_turned; ++i) {
    const rows::Turned& turned = rotation.turned[i];
    tensors.emplace_back("x", turned.x_BHTD.data);
    tensors.emplace_back("y", turned.y_BHTD.data);
    tensors.emplace_back("d_y", turned.d_y_BHTD.data);
    tensors.emplace_back("d_x", turned.d_x_BHTD.data);
  }
  return TakeRows(tensors);
}

absl::Status TakeNorm(const rows::Norm& norm, const Resources&) {
  return TakeRows({{"x", norm.x_NC},
                   {"weight", norm.weight_C},
                   {"y", norm.y_NC},
                   {"scale", norm.scale_N},
                   {"d_y", norm.d_y_NC},
                   {"d_x", norm.d_x_NC},
                   {"d_weight", norm.d_weight_C}});
}

absl::Status TakeGate(const rows::Gate& gate, const Resources&) {
  return TakeRows({{"gate", gate.gate_NC},
                   {"up", gate.up_NC},
                   {"y", gate.y_NC},
                   {"d_y", gate.d_y_NC},
                   {"d_gate", gate.d_gate_NC},
                   {"d_up", gate.d_up_NC}});
}

absl::Status TakeAdam(const rows::Adam& adam, const Resources&) {
  return TakeRows({{"parameter", adam.parameter},
                   {"gradient", adam.parts[0].gradient},
                   {"m", adam.m},
                   {"v", adam.v}});
}

absl::Status TakeLoss(const rows::Loss& loss, const Resources&) {
  return TakeRows({{"logits", loss.logits_NC},
                   {"targets", loss.targets_N},
                   {"loss", loss.loss_N},
                   {"log_sum", loss.log_sum_N}});
}

// Of any table that chooses by the problem.
template <typename Kernel, typename Problem, typename Call>
Kernel Witness(absl::Status (*take)(const Call&)) {
  Kernel kernel;
  kernel.name = "witness";
  kernel.device = Device::kCuda;
  kernel.supports = [](const Problem& problem) {
    return problem.device == Device::kCuda
               ? absl::OkStatus()
               : absl::UnimplementedError("witness: not on the host");
  };
  kernel.workspace_bytes = [](const Problem&, Way, int) { return 64; };
  kernel.forward = kernel.backward =
      [take](const Call& call, const Resources&) { return take(call); };
  return kernel;
}

// The row of a GPU's kernel, which takes what the kernel takes.
attention::Kernel WitnessOf(const attention::CudaCode& code) {
  attention::Kernel kernel = attention::CudaKernel(code);
  kernel.forward =
      kernel.backward = [](const attention::Call& call, const Resources&) {
        return TakeAttention(call);
      };
  return kernel;
}

rows::Kernel WitnessOfRows() {
  rows::Kernel kernel;
  kernel.name = "witness";
  kernel.device = Device::kCuda;
  kernel.supports = [] { return absl::OkStatus(); };
  kernel.turn = kernel.turn_backward = TakeRotation;
  kernel.norm = kernel.norm_backward = TakeNorm;
  kernel.gate = kernel.gate_backward = TakeGate;
  kernel.adam = TakeAdam;
  kernel.loss = kernel.loss_backward = TakeLoss;
  kernel.norm_workspace_bytes = [](const rows::Norm&) { return 64; };
  return kernel;
}

}  // namespace

void AddWitnesses() {
  static const bool added = [] {
    attention::AddKernels(
        {Witness<attention::Kernel, attention::Problem>(TakeAttention),
         WitnessOf(attention::HopperCuda()), WitnessOf(attention::TiledCuda()),
         WitnessOf(attention::CountedCuda())});
    update::AddKernels({Witness<update::Kernel, update::Problem>(TakeUpdate)});
    rows::AddKernels({WitnessOfRows()});
    AddOperations();
    return true;
  }();
  static_cast<void>(added);
}

Witnessed NumWitnessed() { return witnessed; }

}  // namespace ordo::kernels::torch::testing

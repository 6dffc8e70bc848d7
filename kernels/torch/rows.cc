#include "kernels/torch/rows.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/rsqrt.h"
#include "ATen/ops/silu.h"
#include "kernels/rows/table.h"
#include "kernels/torch/launch.h"

namespace ordo::kernels::torch {
namespace {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;
using ::torch::autograd::variable_list;

at::Tensor EmptyLike(const at::Tensor& x) {
  return at::empty_like(x, at::MemoryFormat::Contiguous);
}

rows::View ViewOf(const at::Tensor& x_BHTD) {
  return {const_cast<void*>(ConstData<void>(x_BHTD)), x_BHTD.stride(0),
          x_BHTD.stride(1), x_BHTD.stride(2)};
}

bool IsSingle(const at::Tensor& x) { return x.scalar_type() == at::kFloat; }

// Whether there is a kernel where all of them are.
bool HasKernel(at::TensorList xs) {
  const std::optional<Device> device = DeviceOfAll(xs);
  return device.has_value() && rows::Select(*device).ok();
}

int64_t WorkspaceBytes(const rows::Kernel& kernel, const rows::Norm& norm) {
  return kernel.norm_workspace_bytes(norm);
}
template <typename Problem>
int64_t WorkspaceBytes(const rows::Kernel& /*kernel*/, const Problem&) {
  return 0;
}

template <typename Problem>
void Run(rows::Pass<Problem> rows::Kernel::*pass, const Problem& problem,
         const at::Tensor& beside) {
  const rows::Kernel& kernel = *rows::Select(*DeviceOf(beside)).value();
  const Launch launch(WorkspaceBytes(kernel, problem), beside);
  ExpectRan((kernel.*pass)(problem, launch.resources()), kernel.name);
}

// Of the table [B,H,T,R], which heads share by strides of 0, and of what it
// turns.
class Turned : public Function<Turned> {
 public:
  static variable_list forward(AutogradContext* context,
                               const at::Tensor& table, at::TensorList xs,
                               const Turning& turning) {
    context->saved_data["channels"] = turning.channels;
    context->saved_data["interleaved"] = turning.interleaved;
    variable_list saved = {table};
    variable_list results;
    rows::Rotation rotation = RotationOf(turning, table, xs[0]);
    rotation.num_turned = static_cast<int>(xs.size());
    for (size_t i = 0; i < xs.size(); ++i) {
      results.push_back(EmptyLike(xs[i]));
      rotation.turned[i].heads = xs[i].size(1);
      rotation.turned[i].x_BHTD = ViewOf(xs[i]);
      rotation.turned[i].y_BHTD = ViewOf(results[i]);
      if (table.requires_grad()) saved.push_back(xs[i]);
    }
    context->save_for_backward(saved);
    Run(&rows::Kernel::turn, rotation, table);
    return results;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& table = saved[0];
    Turning turning;
    turning.channels = context->saved_data["channels"].toInt();
    turning.interleaved = context->saved_data["interleaved"].toBool();
    rows::Rotation rotation = RotationOf(turning, table, gradients[0]);
    rotation.num_turned = static_cast<int>(gradients.size());
    variable_list results = {at::Tensor()};
    if (context->needs_input_grad(0)) {
      results[0] = EmptyLike(table);
      rotation.d_table_BHTR = ViewOf(results[0]);
    }
    // What views point at.
    variable_list kept;
    for (size_t i = 0; i < gradients.size(); ++i) {
      kept.push_back(InRows(gradients[i]));
      results.emplace_back();
      rows::Turned& turned = rotation.turned[i];
      turned.heads = gradients[i].size(1);
      turned.d_y_BHTD = ViewOf(kept[i]);
      if (saved.size() > 1) turned.x_BHTD = ViewOf(saved[i + 1]);
      if (!context->needs_input_grad(i + 1)) continue;
      results.back() = EmptyLike(gradients[i]);
      turned.d_x_BHTD = ViewOf(results.back());
    }
    Run(&rows::Kernel::turn_backward, rotation, table);
    // Of the turning.
    results.emplace_back();
    return results;
  }

 private:
  static rows::Rotation RotationOf(const Turning& turning,
                                   const at::Tensor& table,
                                   const at::Tensor& x) {
    rows::Rotation rotation;
    rotation.type = TypeOf(x);
    rotation.batch = x.size(0);
    rotation.heads = table.size(1);
    rotation.tokens = x.size(2);
    rotation.width = x.size(3);
    rotation.channels = turning.channels;
    rotation.interleaved = turning.interleaved;
    rotation.table_BHTR = ViewOf(table);
    return rotation;
  }
};

// The table for x, if there is a kernel for them; else undefined.
at::Tensor TableFor(const at::Tensor& table, const at::Tensor& x) {
  if (!IsSingle(table) || !HasKernel({table, x})) return {};
  return table.expand({x.size(0), x.size(1), x.size(2), table.size(-1)});
}

at::Tensor PlainTurn(const Turning& turning, const at::Tensor& table,
                     const at::Tensor& x_BHTD) {
  const at::Tensor x = x_BHTD.to(table.scalar_type());
  const int64_t staying = x.size(-1) - turning.channels;
  const at::Tensor turned = x.narrow(-1, 0, turning.channels);
  const std::vector<at::Tensor> part =
      turning.interleaved
          ? turned.unflatten(-1, {turning.channels / 2, 2}).unbind(-1)
          : turned.chunk(2, -1);
  const std::vector<at::Tensor> number = table.chunk(2, -1);
  std::vector<at::Tensor> results = {
      part[0] * number[0] - part[1] * number[1],
      part[0] * number[1] + part[1] * number[0],
  };
  if (staying > 0) {
    results.push_back(x.narrow(-1, turning.channels, staying));
  }
  return at::cat(results, -1).to(x_BHTD.scalar_type());
}

class Normed : public Function<Normed> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in,
                            const at::Tensor& weight, double epsilon) {
    const at::Tensor x = x_in.contiguous();
    const at::Tensor y = at::empty_like(x);
    rows::Norm norm = NormOf(x, weight);
    const at::Tensor scale = at::empty({norm.rows}, x.options());
    norm.epsilon = static_cast<float>(epsilon);
    norm.y_NC = Data<void>(y);
    norm.scale_N = Data<float>(scale);
    context->save_for_backward({x, weight, scale});
    Run(&rows::Kernel::norm, norm, x);
    return y;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor d_y = gradients[0].contiguous();
    rows::Norm norm = NormOf(x, weight);
    norm.scale_N = Data<float>(saved[2]);
    norm.d_y_NC = ConstData<void>(d_y);
    at::Tensor d_x, d_weight;
    if (context->needs_input_grad(0)) {
      d_x = at::empty_like(x);
      norm.d_x_NC = Data<void>(d_x);
    }
    if (context->needs_input_grad(1)) {
      d_weight = at::empty_like(weight);
      norm.d_weight_C = Data<float>(d_weight);
    }
    Run(&rows::Kernel::norm_backward, norm, x);
    return {d_x, d_weight, at::Tensor()};
  }

 private:
  static rows::Norm NormOf(const at::Tensor& x, const at::Tensor& weight) {
    rows::Norm norm;
    norm.type = TypeOf(x);
    norm.width = x.size(-1);
    norm.rows = x.numel() / norm.width;
    norm.x_NC = ConstData<void>(x);
    norm.weight_C = ConstData<float>(weight);
    return norm;
  }
};

class Gated : public Function<Gated> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate,
                            const at::Tensor& up) {
    const at::Tensor y = at::empty_like(gate);
    rows::Gate call = GateOf(gate, up);
    call.y_NC = Data<void>(y);
    context->save_for_backward({gate, up});
    Run(&rows::Kernel::gate, call, y);
    return y;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor d_y = gradients[0].contiguous();
    const at::Tensor d_gate = at::empty_like(saved[0]);
    const at::Tensor d_up = at::empty_like(saved[1]);
    rows::Gate call = GateOf(saved[0], saved[1]);
    call.d_y_NC = ConstData<void>(d_y);
    call.d_gate_NC = Data<void>(d_gate);
    call.d_up_NC = Data<void>(d_up);
    Run(&rows::Kernel::gate_backward, call, d_y);
    return {d_gate, d_up};
  }

 private:
  static rows::Gate GateOf(const at::Tensor& gate, const at::Tensor& up) {
    rows::Gate call;
    call.type = TypeOf(gate);
    call.width = gate.size(-1);
    call.rows = gate.numel() / call.width;
    call.gate_NC = ConstData<void>(gate);
    call.up_NC = ConstData<void>(up);
    return call;
  }
};

void PlainStepAdam(const AdamStep& step, const AdamTensors& tensors) {
  for (const AdamGradient& part : tensors.gradients) {
    const at::Tensor g = part.gradient.flatten().mul(step.gradient_scale);
    const auto of_part = [&](const at::Tensor& x_N) {
      return x_N.narrow(0, part.first, g.numel());
    };
    const at::Tensor m = of_part(tensors.m_N), v = of_part(tensors.v_N);
    m.mul_(step.beta1).add_(g, 1 - step.beta1);
    v.mul_(step.beta2).addcmul_(g, g, 1 - step.beta2);
    const at::Tensor denominator = v.sqrt().div_(step.root).add_(step.epsilon);
    of_part(tensors.parameter_N)
        .mul_(step.keep)
        .addcdiv_(m, denominator, -step.step);
  }
}

}  // namespace

at::Tensor Turn(const Turning& turning, const at::Tensor& table,
                const at::Tensor& x_BHTD) {
  if (turning.channels == 0) return x_BHTD;
  const at::Tensor x = InRows(x_BHTD);
  const at::Tensor shared = TableFor(table, x);
  if (!shared.defined()) return PlainTurn(turning, table, x);
  return Turned::apply(shared, at::TensorList(x), turning)[0];
}

void TurnBoth(const Turning& turning, const at::Tensor& table,
              at::Tensor* q_BHTD, at::Tensor* k_BGTD) {
  // Gradients of a table are of as many heads as what it turns.
  const bool alone =
      table.requires_grad() && q_BHTD->size(1) != k_BGTD->size(1);
  const variable_list both = {InRows(*q_BHTD), InRows(*k_BGTD)};
  const at::Tensor shared = TableFor(table, both[0]);
  if (turning.channels == 0 || alone || !shared.defined() || !HasKernel(both) ||
      both[0].scalar_type() != both[1].scalar_type() ||
      both[0].size(1) < both[1].size(1)) {
    *q_BHTD = Turn(turning, table, *q_BHTD);
    *k_BGTD = Turn(turning, table, *k_BGTD);
    return;
  }
  const variable_list turned =
      Turned::apply(shared, at::TensorList(both), turning);
  *q_BHTD = turned[0];
  *k_BGTD = turned[1];
}

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight_C,
                   double epsilon) {
  if (IsSingle(x) && IsSingle(weight_C) && HasKernel({x, weight_C})) {
    return Normed::apply(x, weight_C, epsilon);
  }
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor scale =
      at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + epsilon);
  return (wide * scale).to(x.scalar_type()) * weight_C;
}

at::Tensor SwiGlu(const at::Tensor& gate, const at::Tensor& up) {
  if (HasKernel({gate, up}) && gate.scalar_type() == up.scalar_type() &&
      gate.sizes() == up.sizes()) {
    return Gated::apply(gate.contiguous(), up.contiguous());
  }
  return at::silu(gate) * up;
}

void StepAdam(const AdamStep& step, const AdamTensors& tensors) {
  variable_list all = {tensors.parameter_N, tensors.m_N, tensors.v_N};
  for (const AdamGradient& part : tensors.gradients) {
    all.push_back(part.gradient.contiguous().view(-1));
  }
  if (tensors.gradients.empty()) return;
  const bool fit = std::all_of(all.begin(), all.end(), [](const auto& x) {
    return IsSingle(x) && x.is_contiguous();
  });
  if (!fit || !HasKernel(all)) return PlainStepAdam(step, tensors);
  rows::Adam adam;
  std::vector<rows::AdamPart> parts;
  for (size_t i = 0; i < tensors.gradients.size(); ++i) {
    const at::Tensor& gradient = all[i + 3];
    parts.push_back({ConstData<float>(gradient), tensors.gradients[i].first,
                     gradient.numel()});
  }
  adam.parameter = Data<float>(tensors.parameter_N);
  adam.m = Data<float>(tensors.m_N);
  adam.v = Data<float>(tensors.v_N);
  adam.parts = parts.data();
  adam.num_parts = static_cast<int64_t>(parts.size());
  adam.gradient_scale = static_cast<float>(step.gradient_scale);
  adam.beta1 = static_cast<float>(step.beta1);
  adam.one_less_beta1 = static_cast<float>(1 - step.beta1);
  adam.beta2 = static_cast<float>(step.beta2);
  adam.one_less_beta2 = static_cast<float>(1 - step.beta2);
  adam.epsilon = static_cast<float>(step.epsilon);
  adam.keep = static_cast<float>(step.keep);
  adam.step = static_cast<float>(step.step);
  adam.root = static_cast<float>(step.root);
  Run(&rows::Kernel::adam, adam, tensors.parameter_N);
}

}  // namespace ordo::kernels::torch

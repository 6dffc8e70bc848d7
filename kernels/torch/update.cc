#include "kernels/torch/update.h"

#include <vector>

#include <torch/csrc/autograd/custom_function.h>

#include "ATen/TensorOperators.h"
#include "ATen/ops/bmm.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/matmul.h"
#include "kernels/torch/launch.h"
#include "kernels/update/table.h"

namespace ordo::kernels::torch {
namespace {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;
using ::torch::autograd::variable_list;

update::View ViewOf(const at::Tensor& x_BHTW) {
  return {const_cast<void*>(ConstData<void>(x_BHTW)), TypeOf(x_BHTW),
          x_BHTW.stride(0), x_BHTW.stride(1), x_BHTW.stride(2)};
}

update::Problem ProblemOf(const at::Tensor& x_BHTW, int64_t inner) {
  return {x_BHTW.size(0), x_BHTW.size(1), x_BHTW.size(2),
          x_BHTW.size(3), inner,          *DeviceOf(x_BHTW)};
}

void Run(const update::Call& call, Way way, const at::Tensor& beside) {
  const update::Kernel* const kernel = update::Select(call.problem).value();
  ExpectRan(RunPass(*kernel, way, call, beside), kernel->name);
}

// An empty tensor for the gradient of input i, if it is wanted; and where it
// is, or null.
at::Tensor Wanted(AutogradContext* context, size_t i, const at::Tensor& like) {
  if (!context->needs_input_grad(i)) return {};
  return at::empty_like(like, at::MemoryFormat::Contiguous);
}

float* Floats(const at::Tensor& x) {
  return x.defined() ? Data<float>(x) : nullptr;
}

class Mixed : public Function<Mixed> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& state,
                            const at::Tensor& x, const at::Tensor& mix_HH) {
    const at::Tensor mix = mix_HH.contiguous();
    context->save_for_backward({x, mix});
    const at::Tensor out = at::empty_like(state, at::MemoryFormat::Contiguous);
    update::Call call = CallOf(x, mix);
    call.inputs.base = ViewOf(state);
    call.out = ViewOf(out);
    Run(call, Way::kForward, out);
    return out;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &mix = saved[1];
    const at::Tensor d_out = InRows(gradients[0]);
    const at::Tensor d_x = Wanted(context, 1, x);
    const at::Tensor d_mix = Wanted(context, 2, mix);
    update::Call call = CallOf(x, mix);
    call.gradients.d_out = ViewOf(d_out);
    if (d_x.defined()) call.gradients.d_x = ViewOf(d_x);
    call.gradients.d_mix_HH = Floats(d_mix);
    Run(call, Way::kBackward, d_out);
    return {gradients[0], d_x, d_mix};
  }

 private:
  static update::Call CallOf(const at::Tensor& x, const at::Tensor& mix) {
    update::Call call;
    call.problem = ProblemOf(x, 0);
    call.inputs.x = ViewOf(x);
    call.inputs.mix_HH = ConstData<float>(mix);
    return call;
  }
};

class MixedByToken : public Function<MixedByToken> {
 public:
  // The state, W1, W2 and psi.
  static at::Tensor forward(AutogradContext* context, at::TensorList tensors) {
    variable_list inputs = {tensors[0]};
    for (size_t i = 1; i < tensors.size(); ++i) {
      inputs.push_back(tensors[i].contiguous());
    }
    context->save_for_backward(inputs);
    const at::Tensor out =
        at::empty_like(inputs[0], at::MemoryFormat::Contiguous);
    update::Call call = CallOf(inputs);
    call.out = ViewOf(out);
    Run(call, Way::kForward, out);
    return out;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor d_out = InRows(gradients[0]);
    variable_list results;
    for (size_t i = 0; i < saved.size(); ++i) {
      results.push_back(Wanted(context, i, saved[i]));
    }
    update::Call call = CallOf(saved);
    call.gradients.d_out = ViewOf(d_out);
    if (results[0].defined()) call.gradients.d_x = ViewOf(results[0]);
    call.gradients.d_in_EH = Floats(results[1]);
    call.gradients.d_out_HE = Floats(results[2]);
    if (results[3].defined()) {
      call.gradients.d_psi_BTE = Data<void>(results[3]);
    }
    Run(call, Way::kBackward, d_out);
    return results;
  }

 private:
  static update::Call CallOf(const variable_list& inputs) {
    update::Call call;
    call.problem = ProblemOf(inputs[0], inputs[1].size(0));
    call.inputs.x = ViewOf(inputs[0]);
    call.inputs.in_EH = ConstData<float>(inputs[1]);
    call.inputs.out_HE = ConstData<float>(inputs[2]);
    call.inputs.psi_BTE = ConstData<void>(inputs[3]);
    call.inputs.psi_type = TypeOf(inputs[3]);
    return call;
  }
};

// Whether a kernel changes x by `weights`, which it reads as fp32 only.
bool HasKernel(at::TensorList states, at::TensorList weights, int64_t inner) {
  for (const at::Tensor& weight : weights) {
    if (weight.scalar_type() != at::kFloat) return false;
  }
  std::vector<at::Tensor> all = states.vec();
  all.insert(all.end(), weights.begin(), weights.end());
  return DeviceOfAll(all).has_value() &&
         update::Select(ProblemOf(states[0], inner)).ok();
}

}  // namespace

at::Tensor AddMixed(const at::Tensor& state_BHTW, const at::Tensor& x_BHTW,
                    const at::Tensor& mix_HH) {
  const at::Tensor state = InRows(state_BHTW), x = InRows(x_BHTW);
  if (HasKernel({state, x}, {mix_HH}, 0)) {
    return Mixed::apply(state, x, mix_HH);
  }
  const int64_t batch = x.size(0), heads = x.size(1);
  return state + at::bmm(mix_HH.expand({batch, heads, heads}),
                         x.reshape({batch, heads, -1}))
                     .view_as(x);
}

at::Tensor AddMixedByToken(const at::Tensor& state_BHTW,
                           const UpdateWeights& weights,
                           const at::Tensor& psi_BTE) {
  const at::Tensor state = InRows(state_BHTW);
  if (HasKernel({state, psi_BTE}, {weights.in_EH, weights.out_HE},
                weights.in_EH.size(0))) {
    const variable_list inputs = {state, weights.in_EH, weights.out_HE,
                                  psi_BTE};
    return MixedByToken::apply(at::TensorList(inputs));
  }
  // A matrix [H,H] for each token: nothing of B*T*E*W numbers is written.
  // outer[h * H + g, e] = W2[h, e] W1[e, g].
  const int64_t heads = state.size(1);
  const at::Tensor outer =
      (weights.out_HE.unsqueeze(1) * weights.in_EH.t().unsqueeze(0))
          .flatten(0, 1);
  const at::Tensor mix_BTHH = at::linear(psi_BTE.to(outer.scalar_type()), outer)
                                  .unflatten(-1, {heads, heads});
  return state +
         at::matmul(mix_BTHH.to(state.scalar_type()), state.transpose(1, 2))
             .transpose(1, 2);
}

}  // namespace ordo::kernels::torch

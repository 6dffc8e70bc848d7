#include "kernels/torch/loss.h"

#include <algorithm>
#include <optional>

#include <torch/csrc/autograd/custom_function.h>

#include "ATen/TensorOperators.h"
#include "ATen/autocast_mode.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/mm.h"
#include "kernels/rows/table.h"
#include "kernels/torch/launch.h"

namespace ordo::kernels::torch {
namespace {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;
using ::torch::autograd::variable_list;

// Logits of a block: 32 MiB, so that a product is large and its result is still
// in a cache when it is read. A GPU needs larger products to be busy.
constexpr int64_t kBlockLogits = int64_t{1} << 23;
constexpr int64_t kBlockLogitsOfGpu = int64_t{1} << 26;

int64_t BlockLogits(const at::Tensor& x) {
  return x.device().is_cpu() ? kBlockLogits : kBlockLogitsOfGpu;
}

void CheckTargets(const LossInputs& inputs) {
  const at::Tensor& targets = inputs.targets_N;
  TORCH_CHECK(targets.device().is_cpu(), "targets lie on the host");
  TORCH_CHECK(targets.dim() == 1 && targets.size(0) == inputs.x_NC.size(0) &&
                  targets.min().item<int64_t>() >= 0 &&
                  targets.max().item<int64_t>() < inputs.head_VC.size(0),
              "targets are numbers of rows of the head, one for each of the ",
              inputs.x_NC.size(0), " rows of x");
}

// The pass over the rows.
class Blocks {
 public:
  // `type` is that of the products' operands.
  Blocks(const LossInputs& inputs, c10::ScalarType type, double factor)
      : x_(inputs.x_NC.to(type)),
        head_(inputs.head_VC.to(type)),
        targets_(CopyTo(inputs.targets_N.contiguous(), x_.device())),
        factor_(factor),
        rows_(std::clamp<int64_t>(BlockLogits(x_) / head_.size(0), 1,
                                  x_.size(0))),
        products_(at::empty({rows_, head_.size(0)}, x_.options())),
        logits_(type == at::kFloat ? products_ : products_.to(at::kFloat)),
        log_sums_(at::empty({rows_}, logits_.options())),
        losses_(at::empty({x_.size(0)}, logits_.options())) {}

  // Gradients are fp32; undefined where nobody wants them.
  void Run(const at::Tensor& d_x_NC, const at::Tensor& d_head_VC) {
    for (int64_t first = 0; first < x_.size(0); first += rows_) {
      RunBlock(first, std::min(rows_, x_.size(0) - first), d_x_NC, d_head_VC);
    }
  }

  at::Tensor Sum() const {
    return (losses_.sum(at::kDouble) * factor_).to(at::kFloat);
  }

 private:
  void RunBlock(int64_t first, int64_t count, const at::Tensor& d_x_NC,
                const at::Tensor& d_head_VC) {
    const at::Tensor x = x_.narrow(0, first, count);
    at::Tensor products = products_.narrow(0, 0, count);
    at::Tensor logits = logits_.narrow(0, 0, count);
    at::mm_out(products, x, head_.t());
    if (x.scalar_type() != at::kFloat) logits.copy_(products);
    rows::Loss loss;
    loss.rows = count;
    loss.width = head_.size(0);
    loss.logits_NC = Data<float>(logits);
    loss.targets_N = ConstData<int64_t>(targets_) + first;
    loss.loss_N = Data<float>(losses_) + first;
    loss.log_sum_N = Data<float>(log_sums_);
    loss.factor = static_cast<float>(factor_);
    const Launch launch(0, x);
    const rows::Kernel& kernel = *rows::Select(*DeviceOf(x)).value();
    ExpectRan(kernel.loss(loss, launch.resources()), kernel.name);
    if (!d_x_NC.defined() && !d_head_VC.defined()) return;
    ExpectRan(kernel.loss_backward(loss, launch.resources()), kernel.name);
    if (x.scalar_type() != at::kFloat) products.copy_(logits);
    if (d_x_NC.defined()) {
      at::Tensor d_x = d_x_NC.narrow(0, first, count);
      if (x.scalar_type() == at::kFloat) {
        at::mm_out(d_x, products, head_);
      } else {
        d_x.copy_(at::mm(products, head_));
      }
    }
    if (d_head_VC.defined()) AddToHead(products, x, first == 0, d_head_VC);
  }

  static void AddToHead(const at::Tensor& d_logits, const at::Tensor& x,
                        bool is_first, at::Tensor d_head_VC) {
    if (x.scalar_type() != at::kFloat) {
      const at::Tensor part = at::mm(d_logits.t(), x);
      is_first ? d_head_VC.copy_(part) : d_head_VC.add_(part);
    } else if (is_first) {
      at::mm_out(d_head_VC, d_logits.t(), x);
    } else {
      d_head_VC.addmm_(d_logits.t(), x);
    }
  }

  const at::Tensor x_;
  const at::Tensor head_;
  const at::Tensor targets_;
  const double factor_;
  const int64_t rows_;
  // What the products are written to, and as fp32.
  const at::Tensor products_;
  const at::Tensor logits_;
  const at::Tensor log_sums_;
  const at::Tensor losses_;
};

class BlockedLoss : public Function<BlockedLoss> {
 public:
  // x, the head, the targets.
  static at::Tensor forward(AutogradContext* context, at::TensorList inputs,
                            c10::ScalarType type, double factor) {
    const LossInputs of_loss = {inputs[0], inputs[1], inputs[2]};
    const auto wanted = [](const at::Tensor& x) {
      return x.requires_grad() ? at::empty_like(x, at::MemoryFormat::Contiguous)
                               : at::Tensor();
    };
    const at::Tensor d_x = wanted(inputs[0]), d_head = wanted(inputs[1]);
    Blocks blocks(of_loss, type, factor);
    blocks.Run(d_x, d_head);
    context->save_for_backward({d_x, d_head});
    return blocks.Sum();
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    variable_list results = context->get_saved_variables();
    const at::Tensor& by = gradients[0];
    // A GPU's number would be waited for.
    const bool is_one = by.device().is_cpu() && by.item<float>() == 1;
    for (at::Tensor& result : results) {
      if (result.defined() && !is_one) result = result * by;
    }
    // Of the targets, the type and the factor.
    results.resize(5);
    return results;
  }
};

bool HasKernel(const LossInputs& inputs) {
  const std::optional<Device> device =
      DeviceOfAll({inputs.x_NC, inputs.head_VC});
  return device.has_value() && inputs.x_NC.scalar_type() == at::kFloat &&
         inputs.head_VC.scalar_type() == at::kFloat &&
         rows::Select(*device).ok();
}

}  // namespace

at::Tensor SumOfLosses(const LossInputs& inputs, double factor) {
  CheckTargets(inputs);
  if (!HasKernel(inputs)) {
    const at::Tensor logits = at::linear(inputs.x_NC, inputs.head_VC);
    const at::Tensor wide =
        logits.scalar_type() == at::kDouble ? logits : logits.to(at::kFloat);
    return at::cross_entropy_loss(wide, CopyTo(inputs.targets_N, wide.device()),
                                  {}, at::Reduction::Sum) *
           factor;
  }
  const auto device = inputs.x_NC.device().type();
  const auto type = !inputs.x_NC.device().is_meta() &&
                            at::autocast::is_autocast_enabled(device)
                        ? at::autocast::get_autocast_dtype(device)
                        : at::kFloat;
  if (!at::GradMode::is_enabled()) {
    Blocks blocks(inputs, type, factor);
    blocks.Run({}, {});
    return blocks.Sum();
  }
  const variable_list all = {inputs.x_NC, inputs.head_VC, inputs.targets_N};
  return BlockedLoss::apply(at::TensorList(all), type, factor);
}

}  // namespace ordo::kernels::torch

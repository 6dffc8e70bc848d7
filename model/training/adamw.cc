#include "model/training/adamw.h"

#include <cmath>
#include <sstream>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/zeros_like.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "kernels/torch/rows.h"

namespace ordo::model::training {
namespace {

std::string ShapeText(const at::Tensor& tensor) {
  std::ostringstream text;
  text << c10::toString(tensor.scalar_type()) << tensor.sizes();
  return text.str();
}

}  // namespace

AdamW::AdamW(const std::vector<parameters::NamedTensor>& parameters,
             const AdamWOptions& options)
    : options_(options) {
  for (const parameters::NamedTensor& named : parameters) {
    const at::Tensor parameter = named.tensor.detach();
    slots_.push_back({named.name, named.tensor, at::zeros_like(parameter),
                      at::zeros_like(parameter),
                      parameter.dim() >= 2 ? options.weight_decay : 0.0});
  }
}

void AdamW::Step(double learning_rate, double gradient_scale) {
  const at::NoGradGuard no_grad;
  ++num_updates_;
  const double t = static_cast<double>(num_updates_);
  kernels::torch::AdamStep step;
  step.gradient_scale = gradient_scale;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.epsilon = options_.epsilon;
  step.step = learning_rate / (1 - std::pow(options_.beta1, t));
  step.root = std::sqrt(1 - std::pow(options_.beta2, t));
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    step.keep = 1 - learning_rate * slot.weight_decay;
    kernels::torch::StepAdam(step, {slot.parameter, slot.parameter.grad(),
                                    slot.exp_avg, slot.exp_avg_sq});
  }
}

TensorMap AdamW::State() const {
  TensorMap state;
  for (const Slot& slot : slots_) {
    state[slot.name + ".exp_avg"] = slot.exp_avg;
    state[slot.name + ".exp_avg_sq"] = slot.exp_avg_sq;
  }
  return state;
}

absl::Status AdamW::Load(const TensorMap& state, int64_t num_updates) {
  ORDO_RETURN_IF_ERROR(CopyTensors(state, State(), "load optimizer state"));
  num_updates_ = num_updates;
  return absl::OkStatus();
}

absl::Status CheckTensors(const TensorMap& from, const TensorMap& to,
                          const std::string& what) {
  for (const auto& [name, tensor] : to) {
    const auto found = from.find(name);
    if (found == from.end()) {
      return absl::DataLossError(
          absl::StrCat(what, ": tensor '", name, "' is missing"));
    }
    if (found->second.sizes() != tensor.sizes() ||
        found->second.scalar_type() != tensor.scalar_type()) {
      return absl::DataLossError(absl::StrCat(
          what, ": tensor '", name, "' is ", ShapeText(found->second),
          " but the model has ", ShapeText(tensor)));
    }
  }
  for (const auto& [name, tensor] : from) {
    if (to.count(name) == 0) {
      return absl::DataLossError(absl::StrCat(
          what, ": tensor '", name, "' does not belong to the model"));
    }
  }
  return absl::OkStatus();
}

absl::Status CopyTensors(const TensorMap& from, const TensorMap& to,
                         const std::string& what) {
  ORDO_RETURN_IF_ERROR(CheckTensors(from, to, what));
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : to) tensor.copy_(from.at(name));
  return absl::OkStatus();
}

}  // namespace ordo::model::training

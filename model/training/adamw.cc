#include "model/training/adamw.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/zeros.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "kernels/torch/rows.h"

namespace ordo::model::training {
namespace {

// Parameters begin where LibTorch's own memory may on any device: products of
// matrices have the same bits as if each were alone.
int64_t RoundUp(int64_t numbers) { return (numbers + 127) / 128 * 128; }

at::Tensor PartOf(const at::Tensor& all_N, int64_t first,
                  const at::Tensor& shaped_as) {
  return all_N.narrow(0, first, shaped_as.numel()).view(shaped_as.sizes());
}

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
    const at::Tensor& parameter = named.tensor;
    const double decay = parameter.dim() >= 2 ? options.weight_decay : 0.0;
    const auto is_of = [&](const Group& group) {
      const at::Tensor& first = group.slots[0].parameter;
      return group.weight_decay == decay &&
             first.scalar_type() == parameter.scalar_type() &&
             first.device() == parameter.device();
    };
    auto group = std::find_if(groups_.begin(), groups_.end(), is_of);
    if (group == groups_.end()) {
      group = groups_.emplace(group);
      group->weight_decay = decay;
    }
    group->slots.push_back({named.name, parameter, 0});
  }
  for (Group& group : groups_) Flatten(&group);
}

void AdamW::Flatten(Group* group) {
  const at::NoGradGuard no_grad;
  int64_t count = 0;
  for (Slot& slot : group->slots) {
    slot.first = count;
    count += RoundUp(slot.parameter.numel());
  }
  const auto like = group->slots[0].parameter.options().requires_grad(false);
  group->parameter_N = at::zeros({count}, like);
  group->exp_avg_N = at::zeros({count}, like);
  group->exp_avg_sq_N = at::zeros({count}, like);
  for (const Slot& slot : group->slots) {
    const at::Tensor place =
        PartOf(group->parameter_N, slot.first, slot.parameter);
    place.copy_(slot.parameter);
    slot.parameter.set_data(place);
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
  for (const Group& group : groups_) {
    kernels::torch::AdamTensors tensors{
        group.parameter_N, group.exp_avg_N, group.exp_avg_sq_N, {}};
    for (const Slot& slot : group.slots) {
      const at::Tensor& gradient = slot.parameter.grad();
      if (gradient.defined())
        tensors.gradients.push_back({slot.first, gradient});
    }
    step.keep = 1 - learning_rate * group.weight_decay;
    kernels::torch::StepAdam(step, tensors);
  }
}

TensorMap AdamW::State() const {
  TensorMap state;
  for (const Group& group : groups_) {
    for (const Slot& slot : group.slots) {
      state[slot.name + ".exp_avg"] =
          PartOf(group.exp_avg_N, slot.first, slot.parameter);
      state[slot.name + ".exp_avg_sq"] =
          PartOf(group.exp_avg_sq_N, slot.first, slot.parameter);
    }
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

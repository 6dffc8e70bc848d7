#include "model/transformer/blockwise.h"

#include <utility>

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "ATen/autocast_mode.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/zeros.h"
#include "c10/core/ScalarType.h"

namespace ordo::model::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// For its scope, autocast as it was when the settings were taken, without the
// cache of weights: what the backward pass puts there nobody clears, and the
// next step would read weights of the last one.
class Autocast {
 public:
  struct Settings {
    explicit Settings(at::DeviceType d)
        : device(d), caches(at::autocast::is_autocast_cache_enabled()) {
      if (!at::autocast::is_autocast_available(d)) return;
      enabled = at::autocast::is_autocast_enabled(d);
      type = at::autocast::get_autocast_dtype(d);
    }

    at::DeviceType device;
    bool caches;
    bool enabled = false;
    at::ScalarType type = at::kFloat;
  };

  explicit Autocast(Settings settings) : before_(settings.device) {
    settings.caches = false;
    Set(settings);
  }
  ~Autocast() { Set(before_); }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  static void Set(const Settings& settings) {
    at::autocast::set_autocast_cache_enabled(settings.caches);
    if (!at::autocast::is_autocast_available(settings.device)) return;
    at::autocast::set_autocast_enabled(settings.device, settings.enabled);
    at::autocast::set_autocast_dtype(settings.device, settings.type);
  }

  const Settings before_;
};

// Held by the autograd graph; its input without the tensors.
struct Held : torch::CustomClassHolder {
  Held(BlockwiseInput i, Autocast::Settings a)
      : input(std::move(i)), autocast(a) {}

  const BlockwiseInput input;
  const Autocast::Settings autocast;
};

// The gradients of the tensors and the parameters, block by block.
class Gradients {
 public:
  Gradients(const BlockwiseInput& input, const AutogradContext& context,
            const variable_list& of_outputs)
      : input_(input),
        tensors_(context.get_saved_variables()),
        of_outputs_(of_outputs),
        sums_(tensors_.size()) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      is_wanted_.push_back(context.needs_input_grad(i));
    }
  }

  void Add(const Block& block) {
    variable_list parts, wanted;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      // The function reads the parameters themselves.
      const at::Tensor x =
          IsParameter(i) ? tensors_[i] : Part(i, tensors_[i], block).detach();
      if (is_wanted_[i]) wanted.push_back(x.requires_grad_());
      if (!IsParameter(i)) parts.push_back(x);
    }
    variable_list roots, of_roots;
    const variable_list outputs = input_.function(block, parts);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!of_outputs_[i].defined() || !outputs[i].requires_grad()) continue;
      roots.push_back(outputs[i]);
      of_roots.push_back(PartOf(of_outputs_[i], Axis::kQueries, block));
    }
    if (roots.empty()) return;
    const variable_list found =
        torch::autograd::grad(roots, wanted, of_roots, /*retain_graph=*/{},
                              /*create_graph=*/false, /*allow_unused=*/true);
    auto next = found.begin();
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!is_wanted_[i]) continue;
      const at::Tensor& gradient = *next++;
      if (!gradient.defined()) continue;
      at::Tensor& sum = sums_[i];
      if (!sum.defined()) {
        sum = at::zeros(tensors_[i].sizes(),
                        tensors_[i].options().dtype(TypeOfSum(i)));
      }
      Part(i, sum, block).add_(gradient);
    }
  }

  variable_list Sums() const {
    variable_list sums = sums_;
    for (size_t i = 0; i < sums.size(); ++i) {
      if (sums[i].defined()) sums[i] = sums[i].to(tensors_[i].scalar_type());
    }
    return sums;
  }

 private:
  bool IsParameter(size_t i) const { return i >= input_.axes.size(); }

  // As one pass adds them up.
  at::ScalarType TypeOfSum(size_t i) const {
    const at::ScalarType own = tensors_[i].scalar_type();
    return c10::isReducedFloatingType(own) ? at::kFloat : own;
  }

  // The block's of what has the shape of tensor number `i`.
  at::Tensor Part(size_t i, const at::Tensor& x, const Block& block) const {
    return IsParameter(i) ? x : PartOf(x, input_.axes[i], block);
  }

  const BlockwiseInput& input_;
  // With the parameters after them.
  const variable_list tensors_;
  const variable_list& of_outputs_;
  std::vector<bool> is_wanted_;
  variable_list sums_;
};

class Blockwise : public Function<Blockwise> {
 public:
  // Of the tensors and the parameters.
  static variable_list forward(AutogradContext* context, at::TensorList tensors,
                               const c10::intrusive_ptr<Held>& held) {
    const Autocast autocast(held->autocast);
    const BlockwiseInput& input = held->input;
    std::vector<variable_list> pieces;
    for (const Block& block : input.blocks) {
      variable_list parts;
      for (size_t i = 0; i < input.axes.size(); ++i) {
        parts.push_back(PartOf(tensors[i], input.axes[i], block));
      }
      const variable_list outputs = input.function(block, parts);
      pieces.resize(outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        pieces[i].push_back(outputs[i]);
      }
    }
    context->save_for_backward(tensors.vec());
    context->saved_data["held"] = c10::IValue::make_capsule(held);
    variable_list all;
    for (const variable_list& of_output : pieces) {
      all.push_back(at::cat(of_output, 2));
    }
    return all;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& of_outputs) {
    const auto held = c10::static_intrusive_pointer_cast<Held>(
        context->saved_data["held"].toCapsule());
    const Autocast autocast(held->autocast);
    const at::AutoGradMode with_graph(true);
    Gradients gradients(held->input, *context, of_outputs);
    for (const Block& block : held->input.blocks) gradients.Add(block);
    variable_list results = gradients.Sums();
    // Of what is held.
    results.emplace_back();
    return results;
  }
};

}  // namespace

at::Tensor PartOf(const at::Tensor& x, Axis axis, const Block& block) {
  switch (axis) {
    case Axis::kShared:
      return x;
    case Axis::kQueries:
      return x.narrow(-2, block.first_query, block.num_queries);
    case Axis::kKeys:
      return x.narrow(-2, block.first_key, block.num_keys);
  }
  return {};
}

std::vector<at::Tensor> InBlocks(BlockwiseInput input) {
  const Autocast::Settings autocast(input.tensors[0].device().type());
  variable_list tensors = std::move(input.tensors);
  tensors.insert(tensors.end(), input.parameters.begin(),
                 input.parameters.end());
  input.tensors.clear();
  input.parameters.clear();
  return Blockwise::apply(
      at::TensorList(tensors),
      c10::make_intrusive<Held>(std::move(input), autocast));
}

}  // namespace ordo::model::transformer

#include <memory>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/log1p.h"
#include "ATen/ops/maximum.h"
#include "ATen/ops/relu.h"
#include "c10/core/ScalarType.h"
#include "c10/core/impl/LocalDispatchKeySet.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"

// FIRE (Li et al. 2024, section 3.2 and appendix): a learned function of the
// distance relative to the query's own position,
//   b_h = f(psi(|i - j|) / (psi(max(i, L)) + epsilon)), psi(x) = ln(|c x| + 1),
// with L = |l * length|, so that positions before L have one scale. f is an MLP
// with one hidden layer and ReLU.
//
// Legend: B batch, H heads, T queries, S keys, M width of the MLP.

namespace ordo::model::encodings {
namespace {

constexpr double kEpsilon = 1e-6;
// Where the knot of a unit is that no number switches.
constexpr double kFar = 1e30;

struct FireOptions {
  int64_t mlp_width = 0;
  double length = 0.0;
  double initial_c = 0.0;
};

struct FireLayer {
  at::Tensor c;
  at::Tensor l;
  at::Tensor in_M1;
  at::Tensor in_bias_M;
  at::Tensor out_HM;
  at::Tensor out_bias_H;
};

class Fire : public Encoding {
 public:
  Fire(const FireOptions& options, const ModelShape& shape,
       parameters::ParameterSet* parameters)
      : options_(options), causal_(shape.causal), layers_(shape.layers) {
    for (const int layer : shape.ActingLayers()) {
      layers_[layer] = AddLayer(layer, shape.heads, parameters);
    }
  }

  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& /*product*/) const override {
    // Ratios of positions are told apart in fp32, in bf16 few are.
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(
        c10::autocast_dispatch_keyset);
    const FireLayer& layer = layers_[input.layer.layer];
    const Pass& pass = input.layer.pass;
    const auto wide = c10::promoteTypes(layer.c.scalar_type(), at::kFloat);
    const at::Tensor ratio =
        Psi(layer, Distances(pass).abs().to(wide)) *
        Scale(layer, pass.positions_BT.unsqueeze(1).unsqueeze(-1).to(wide));
    const at::Tensor hidden =
        at::relu(at::linear(ratio.squeeze(1).unsqueeze(-1),
                            layer.in_M1.to(wide), layer.in_bias_M.to(wide)));
    return at::linear(hidden, layer.out_HM.to(wide), layer.out_bias_H.to(wide))
        .permute({0, 3, 1, 2})
        .to(layer.c.scalar_type());
  }

  // The MLP is piecewise linear, a slope and an offset in each piece: each of
  // its units has a knot where it comes on or goes off.
  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(
        c10::autocast_dispatch_keyset);
    const FireLayer& layer = layers_[input.layer.layer];
    const Pass& pass = input.layer.pass;
    kernels::torch::Terms terms;
    terms.reach = pass.reach;
    const at::Tensor distances =
        TableDistances(pass.reach, causal_, pass.positions_BS);
    const auto rows = [](const at::Tensor& x) {
      return x.unsqueeze(1).unsqueeze(1);
    };
    const at::Tensor in_M = layer.in_M1.squeeze(1).to(at::kFloat);
    const at::Tensor bias_M = layer.in_bias_M.to(at::kFloat);
    at::Tensor active_FM;
    {
      const at::NoGradGuard no_grad;
      const at::Tensor in = in_M.to(at::kDouble);
      const at::Tensor bias = bias_M.to(at::kDouble);
      terms.knots = std::get<0>(
          (bias.neg() / in).nan_to_num(kFar).clamp(-kFar, kFar).sort());
      // A number of each piece.
      const at::Tensor below =
          at::cat({terms.knots.narrow(0, 0, 1) - 1.0, terms.knots});
      const at::Tensor above =
          at::cat({terms.knots,
                   terms.knots.narrow(0, terms.knots.size(0) - 1, 1) + 1.0});
      const at::Tensor inside = (below + above) / 2.0;
      active_FM = (inside.unsqueeze(1) * in + bias).gt(0.0).to(at::kFloat);
    }
    terms.mod = kernels::attention::ScoreMod::kRamp;
    terms.inputs[kernels::attention::kModDistance] =
        rows(Psi(layer, distances.abs().to(at::kFloat)).unsqueeze(0));
    terms.inputs[kernels::attention::kModQuery] =
        rows(Scale(layer, pass.positions_BT.to(at::kFloat)));
    const auto of_units = [&](const at::Tensor& of_unit_M) {
      return at::linear(layer.out_HM.to(at::kFloat), active_FM * of_unit_M);
    };
    const at::Tensor offset_HF =
        of_units(bias_M) + layer.out_bias_H.to(at::kFloat).unsqueeze(1);
    terms.inputs[kernels::attention::kModParameter] =
        at::cat({of_units(in_M), offset_HF}, -1).unsqueeze(1).unsqueeze(0);
    return terms;
  }

 private:
  static at::Tensor Psi(const FireLayer& layer, const at::Tensor& x) {
    return at::log1p((layer.c.to(x.scalar_type()) * x).abs());
  }

  // What a query multiplies psi of its distances by.
  at::Tensor Scale(const FireLayer& layer, const at::Tensor& query) const {
    const at::Tensor least =
        (layer.l.to(query.scalar_type()) * options_.length).abs();
    return 1.0 / (Psi(layer, at::maximum(query, least)) + kEpsilon);
  }

  FireLayer AddLayer(int number, int64_t heads,
                     parameters::ParameterSet* parameters) const {
    const int64_t inner = options_.mlp_width;
    // The usual start of a linear layer: uniform within 1 / sqrt(inputs).
    const auto add = [&](const std::string& name,
                         const std::vector<int64_t>& shape, int64_t inputs) {
      parameters::Initial initial;
      initial.mean = -1.0 / std::sqrt(static_cast<double>(inputs));
      initial.uniform_width = -2.0 * initial.mean;
      return parameters->Add(LayerScope(number) + "fire." + name, shape,
                             initial);
    };
    const auto constant = [&](const std::string& name, double value) {
      return parameters->Add(LayerScope(number) + "fire." + name, {1},
                             {0.0, value});
    };
    FireLayer layer;
    layer.c = constant("c", options_.initial_c);
    layer.l = constant("l", 1.0);
    layer.in_M1 = add("in_proj.weight", {inner, 1}, 1);
    layer.in_bias_M = add("in_proj.bias", {inner}, 1);
    layer.out_HM = add("out_proj.weight", {heads, inner}, inner);
    layer.out_bias_H = add("out_proj.bias", {heads}, inner);
    return layer;
  }

  const FireOptions options_;
  const bool causal_;
  // By number; empty where the layer does not act.
  std::vector<FireLayer> layers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeFire(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  FireOptions options;
  options.mlp_width = params.Integer("mlp_width");
  options.length = params.Number("length");
  options.initial_c = params.Number("initial_c");
  return std::make_unique<Fire>(options, shape, parameters);
}

}  // namespace ordo::model::encodings

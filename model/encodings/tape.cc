#include <memory>
#include <string>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/bmm.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/silu.h"
#include "model/catalog/catalog.h"
#include "model/encodings/factories.h"
#include "model/encodings/rotary.h"

// TAPE (Zhu et al. 2025), the canonical reading: every token and head carries
// R/2 complex numbers e, one per frequency, which start as rope's rotations and
// are changed from layer to layer by attention (equation 7) and by the MLP's
// output (equation 8). All changes act across heads and leave frequencies
// apart, and real and imaginary parts go through the same real weights; so a
// phase per frequency that heads and tokens share passes through unchanged.
//
// Legend: B batch, H heads, T tokens, C model width, R turning channels,
// E inner width of the position MLP (the paper's B'). The state is [B,H,T,R],
// real parts first, as RotaryTable lays it out.

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;

// Standard deviation of W1 and X (the paper's appendix, as in its code).
constexpr double kInitialStd = 0.02;

struct TapeOptions {
  RotaryOptions rotary;
  ModelShape shape;
  int64_t position_size = 0;
  bool attention_update = true;
  bool mlp_update = true;
};

// The parameters of one layer; undefined where an update is off.
struct TapeLayer {
  // G of equation 7: [H,H].
  at::Tensor mix_HH;
  // W1, W2 and X of equation 8: [E,H], [H,E], [E,C].
  at::Tensor in_EH;
  at::Tensor out_HE;
  at::Tensor gate_EC;
};

class Tape : public Encoding {
 public:
  Tape(const TapeOptions& options, parameters::ParameterSet* parameters)
      : options_(options) {
    // The state that leaves the last layer is never read: no parameters there.
    for (int layer = 0; layer + 1 < options_.shape.layers; ++layer) {
      layers_.push_back(AddLayer(layer, parameters));
    }
  }

  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    const at::Tensor table =
        RotaryTable(options_.rotary, pass.positions_BT, x_BTC.scalar_type());
    return {{table.expand({x_BTC.size(0), options_.shape.heads, x_BTC.size(1),
                           options_.rotary.channels})},
            {}};
  }

  // Equation 6: the state takes rope's place.
  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    const at::Tensor& state = input.carried.tensors[0];
    *q_BHTD = Rotate(options_.rotary, state, *q_BHTD);
    *k_BGTD = Rotate(options_.rotary, state, *k_BGTD);
  }

  int NumMixedValues(int layer) const override {
    return options_.attention_update && !IsLast(layer) ? 1 : 0;
  }

  std::vector<at::Tensor> MixedValues(const LayerInput& input) const override {
    if (NumMixedValues(input.layer) == 0) return {};
    return {input.carried.tensors[0]};
  }

  // Equation 7: e <- e + G e~, e~ the attended states.
  void AfterAttention(int layer, const AttentionOutput& output,
                      Carried* carried) const override {
    if (NumMixedValues(layer) == 0) return;
    at::Tensor& state = carried->tensors[0];
    const int64_t batch = state.size(0), heads = state.size(1);
    const at::Tensor mixed =
        at::bmm(layers_[layer].mix_HH.expand({batch, heads, heads}),
                output.attended[0].reshape({batch, heads, -1}));
    state = state + mixed.view_as(state);
  }

  // Equation 8: e <- e + W2 diag(psi) W1 e with psi = SiLU(X m). Per token
  // that is one [H,H] matrix, which costs less to form than to apply in two
  // steps.
  void AfterMlp(int layer, const at::Tensor& mlp_output_BTC,
                Carried* carried) const override {
    if (!options_.mlp_update || IsLast(layer)) return;
    const TapeLayer& weights = layers_[layer];
    at::Tensor& state = carried->tensors[0];
    const int64_t batch = state.size(0), heads = state.size(1);
    const int64_t length = state.size(2);
    const at::Tensor psi_BTE =
        at::silu(at::linear(mlp_output_BTC, weights.gate_EC));
    // outer[h * H + g, e] = W2[h, e] W1[e, g].
    const at::Tensor outer =
        (weights.out_HE.unsqueeze(1) * weights.in_EH.t().unsqueeze(0))
            .flatten(0, 1);
    const at::Tensor map =
        at::linear(psi_BTE, outer).reshape({batch * length, heads, heads});
    const at::Tensor states = state.transpose(1, 2).reshape(
        {batch * length, heads, options_.rotary.channels});
    const at::Tensor change =
        at::bmm(map, states)
            .view({batch, length, heads, options_.rotary.channels});
    state = state + change.transpose(1, 2);
  }

 private:
  bool IsLast(int layer) const { return layer + 1 >= options_.shape.layers; }

  TapeLayer AddLayer(int layer, parameters::ParameterSet* parameters) const {
    const std::string prefix = LayerScope(layer) + "tape.";
    const int64_t heads = options_.shape.heads, inner = options_.position_size;
    const int64_t width = options_.shape.width;
    TapeLayer result;
    if (options_.attention_update) {
      result.mix_HH =
          parameters->Add(prefix + "mix.weight", {heads, heads}, {});
    }
    if (options_.mlp_update) {
      result.in_EH = parameters->Add(prefix + "in_proj.weight", {inner, heads},
                                     {kInitialStd});
      result.out_HE =
          parameters->Add(prefix + "out_proj.weight", {heads, inner}, {});
      result.gate_EC = parameters->Add(prefix + "gate_proj.weight",
                                       {inner, width}, {kInitialStd});
    }
    return result;
  }

  const TapeOptions options_;
  std::vector<TapeLayer> layers_;
};

// The rope component that the state starts from: the one given, or defaults.
RotaryOptions StartOptions(const Component& component,
                           const ModelShape& shape) {
  if (component.with_size() > 0) {
    return RotaryFromComponent(component.with(0), shape);
  }
  RotaryOptions options;
  options.channels = shape.head_width();
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeTape(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  TapeOptions options;
  options.rotary = StartOptions(component, shape);
  options.shape = shape;
  options.position_size = params.Integer("position_size");
  options.attention_update = params.Bool("attention_update");
  options.mlp_update = params.Bool("mlp_update");
  return std::make_unique<Tape>(options, parameters);
}

}  // namespace ordo::model::encodings

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/matmul.h"
#include "model/catalog/attention_classes.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/rows.h"

// Contextual position encoding (Golovneva et al. 2024, arXiv:2405.18719): a
// gate for each pair says whether the key counts; a key's position is the sum
// of the gates from it to the query (equation 4), and logits interpolate
// between embeddings of whole positions (equation 5, with the weights of
// Listing 1: equations 5 and 8 print them swapped).
//
// Legend: P positions with an embedding, N width of the MLP.

namespace ordo::model::encodings {
namespace {

enum class Form { kTable, kMlp, kAlibi };
enum class Gates {
  // The logits as attention uses them.
  kUsed,
  // q and k before they are turned.
  kPlain,
  // Keys of their own.
  kOwnKeys,
  kValues,
};

struct CopeOptions {
  Gates gates = Gates::kUsed;
  // Whether the positions' term is divided by sqrt(D) too.
  bool divide_position = false;
  // Of the ALiBi form: -1 makes far tokens less likely.
  double sign = -1.0;
};

struct CopeLayer {
  Form form = Form::kTable;
  // Undefined where the form or the gates have no use for it.
  at::Tensor gate_CC;   // [G*D,C]
  at::Tensor table_PD;  // e
  at::Tensor in_N;      // the MLP's first weight and bias
  at::Tensor in_bias_N;
  at::Tensor out_DN;  // its second
  at::Tensor out_bias_D;
  at::Tensor slope_H;
};

class Cope : public Encoding {
 public:
  Cope(const CopeOptions& options, std::vector<CopeLayer> layers)
      : options_(options), layers_(std::move(layers)) {}

  int NumExtraKeys() const override {
    return options_.gates == Gates::kUsed ? 0 : 1;
  }

  std::vector<at::Tensor> ExtraKeys(const LayerInput& input) const override {
    switch (options_.gates) {
      case Gates::kUsed:
        return {};
      case Gates::kPlain:
        return {input.k_BGTD};
      case Gates::kOwnKeys:
        return {at::linear(input.hidden_BTC, layers_[input.layer].gate_CC)
                    .unflatten(-1, {input.k_BGTD.size(1), -1})
                    .transpose(1, 2)};
      case Gates::kValues:
        return {input.v_BGTD};
    }
    return {};
  }

  bool ReadsProduct() const override { return options_.gates == Gates::kUsed; }

  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& product) const override {
    const CopeLayer& layer = layers_[input.layer.layer];
    const at::Tensor position = Positions(input, product);
    const at::Tensor& q = input.layer.q_BHTD;
    at::Tensor term;
    switch (layer.form) {
      case Form::kTable:
        term = Interpolate(at::linear(q, layer.table_PD), position);
        break;
      case Form::kMlp:
        term = OfMlp(layer, q, position);
        break;
      case Form::kAlibi:
        return (position * layer.slope_H.view({1, -1, 1, 1}) * options_.sign)
            .to(q.scalar_type());
    }
    if (!options_.divide_position) return term;
    return term * (1.0 / std::sqrt(static_cast<double>(q.size(3))));
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const CopeLayer& layer = layers_[input.layer.layer];
    const at::Tensor& q = input.layer.q_BHTD;
    kernels::torch::Terms terms;
    terms.gates = kernels::attention::Gates::kLogits;
    if (options_.gates != Gates::kUsed) {
      terms.gates = kernels::attention::Gates::kOwn;
      terms.inputs[kernels::attention::kGateQ] = q;
      terms.inputs[kernels::attention::kGateK] = input.extra_keys[0];
    }
    const double factor = options_.divide_position
                              ? 1.0 / std::sqrt(static_cast<double>(q.size(3)))
                              : 1.0;
    switch (layer.form) {
      case Form::kTable:
        // Before it is made: it would be larger than all else.
        if (layer.table_PD.size(0) > catalog::kMaxPositions) {
          return {};
        }
        terms.inputs[kernels::attention::kPositionTerm] =
            at::linear(q, layer.table_PD) * factor;
        return terms;
      case Form::kMlp:
        return {};
      case Form::kAlibi:
        terms.inputs[kernels::attention::kPositionSlope] =
            layer.slope_H.view({1, -1, 1, 1}) * options_.sign;
        return terms;
    }
    return {};
  }

 private:
  // p_ij, the sum of gates from key j to the query, [B,H,T,S]; at least fp32,
  // so that counts of thousands are exact.
  at::Tensor Positions(const ScoresInput& input,
                       const at::Tensor& product) const {
    at::Tensor logits = product;
    if (options_.gates != Gates::kUsed) {
      const at::Tensor& q = input.layer.q_BHTD;
      const at::Tensor& keys = input.extra_keys[0];
      logits =
          ScaledProduct(q, keys.repeat_interleave(q.size(1) / keys.size(1), 1));
    }
    const auto wide =
        logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor gates = logits.to(wide).sigmoid().masked_fill(
        input.layer.pass.visible.get().logical_not(), 0.0);
    return gates.flip(-1).cumsum(-1).flip(-1);
  }

  // (1 - w) z[floor(p)] + w z[ceil(p)] with w = p - floor(p), p at most P - 1.
  static at::Tensor Interpolate(const at::Tensor& z_BHTP,
                                const at::Tensor& position) {
    const int64_t last = z_BHTP.size(3) - 1;
    const at::Tensor clamped = position.clamp_max(static_cast<double>(last));
    const at::Tensor below = clamped.floor();
    const at::Tensor weight = (clamped - below).to(z_BHTP.scalar_type());
    const at::Tensor low = below.detach().to(at::kLong);
    const at::Tensor high = clamped.detach().ceil().to(at::kLong);
    return z_BHTP.gather(-1, low) * (1.0 - weight) +
           z_BHTP.gather(-1, high) * weight;
  }

  // q . (W2 relu(w1 p + b1) + b2).
  static at::Tensor OfMlp(const CopeLayer& layer, const at::Tensor& q,
                          const at::Tensor& position) {
    const at::Tensor in = layer.in_N.to(position.scalar_type());
    const at::Tensor in_bias = layer.in_bias_N.to(position.scalar_type());
    const at::Tensor inner =
        (position.unsqueeze(-1) * in + in_bias).relu().to(q.scalar_type());
    const at::Tensor of_query_BHTN = at::linear(q, layer.out_DN.t());
    return at::matmul(inner, of_query_BHTN.unsqueeze(-1)).squeeze(-1) +
           at::matmul(q, layer.out_bias_D.to(q.scalar_type())).unsqueeze(-1);
  }

  const CopeOptions options_;
  const std::vector<CopeLayer> layers_;
};

Form FormOf(const catalog::Params& params, bool first_layer) {
  const std::string form = params.String("form");
  if (form == "alibi") return Form::kAlibi;
  if (form == "table") return Form::kTable;
  const bool everywhere = params.String("mlp_layers") == "all";
  return everywhere || first_layer ? Form::kMlp : Form::kTable;
}

Gates GatesOf(const catalog::Params& params) {
  const std::string gates = params.String("gates");
  if (gates == "plain") return Gates::kPlain;
  if (gates == "sep_keys") return Gates::kOwnKeys;
  if (gates == "values") return Gates::kValues;
  return Gates::kUsed;
}

// 2^-(e + 4 h / H), h = 0 .. H - 1: with four heads the paper's sets.
at::Tensor FixedSlopes(int64_t exponent, int64_t heads) {
  std::vector<double> slopes(heads);
  for (int64_t h = 0; h < heads; ++h) {
    slopes[h] =
        std::exp2(-(static_cast<double>(exponent) +
                    4.0 * static_cast<double>(h) / static_cast<double>(heads)));
  }
  return at::from_blob(slopes.data(), {heads}, at::kDouble).clone();
}

// The parameters of one form.
class Positions {
 public:
  Positions(const catalog::Params& params, const ModelShape& shape,
            parameters::ParameterSet* parameters)
      : params_(params), shape_(shape), parameters_(parameters) {}

  CopeLayer Add(Form form, const std::string& scope) const {
    CopeLayer layer;
    layer.form = form;
    const int64_t width = shape_.head_width();
    switch (form) {
      case Form::kTable:
        layer.table_PD =
            parameters_->Add(scope + "cope.positions.weight",
                             {params_.Integer("max_position"), width}, {});
        break;
      case Form::kMlp: {
        const int64_t n = params_.Integer("mlp_width");
        layer.in_N = Uniform(scope + "cope.mlp.0.weight", {n}, 1);
        layer.in_bias_N = Uniform(scope + "cope.mlp.0.bias", {n}, 1);
        layer.out_DN = Uniform(scope + "cope.mlp.1.weight", {width, n}, n);
        layer.out_bias_D = Uniform(scope + "cope.mlp.1.bias", {width}, n);
        break;
      }
      case Form::kAlibi:
        layer.slope_H =
            params_.Bool("learned_slopes")
                ? parameters_->Add(scope + "cope.slope", {shape_.heads}, {})
                : FixedSlopes(params_.Integer("slope_exponent"), shape_.heads)
                      .to(parameters_->options().device,
                          parameters_->options().dtype);
        break;
    }
    return layer;
  }

 private:
  // Uniform within 1 / sqrt(inputs), as linear layers commonly start.
  at::Tensor Uniform(const std::string& name, const std::vector<int64_t>& sizes,
                     int64_t inputs) const {
    const double bound = 1.0 / std::sqrt(static_cast<double>(inputs));
    return parameters_->Add(name, sizes, {0.0, -bound, 2.0 * bound});
  }

  const catalog::Params& params_;
  const ModelShape& shape_;
  parameters::ParameterSet* parameters_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeCope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  CopeOptions options;
  options.gates = GatesOf(params);
  options.divide_position = params.Bool("divide_position");
  options.sign = params.String("sign") == "plus" ? 1.0 : -1.0;
  const std::vector<int> acting = shape.ActingLayers();
  const Positions positions(params, shape, parameters);
  const bool shared = params.String("share") == "model";
  CopeLayer of_model;
  if (shared) {
    of_model = positions.Add(FormOf(params, /*first_layer=*/true), shape.scope);
  }
  std::vector<CopeLayer> layers(shape.layers);
  for (const int layer : acting) {
    const Form form = FormOf(params, layer == acting.front());
    layers[layer] = shared ? of_model : positions.Add(form, LayerScope(layer));
    if (options.gates == Gates::kOwnKeys) {
      layers[layer].gate_CC = parameters->Add(
          LayerScope(layer) + "cope.gate_proj.weight",
          {int64_t{shape.num_key_heads()} * shape.head_width(), shape.width},
          {0.02});
    }
  }
  return std::make_unique<Cope>(options, std::move(layers));
}

}  // namespace ordo::model::encodings

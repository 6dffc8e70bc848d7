#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/where.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"
#include "model/encodings/rotary_scaling.h"
#include "model/encodings/rows.h"

// Transformer-XL (Dai et al. 2019, arXiv:1901.02860, section 3.3): sinusoids of
// the distance, projected, meet q and a learned vector; another learned vector
// meets k. Optionally attention runs in segments with a memory (section 3.2).
//
// Legend: W = C, the width of the sinusoids: C / 2 sines, then C / 2 cosines;
// P = H D.

namespace ordo::model::encodings {
namespace {

class TransformerXl : public Encoding {
 public:
  struct Options {
    // Distances beyond it count as it; 0: none do.
    int64_t clamp_length = 0;
    encodings::Segments segments;
    bool causal = true;
  };

  struct Weights {
    // u and v, [H,D], shared by all layers.
    at::Tensor key_bias_HD;
    at::Tensor distance_bias_HD;
    // W_r of each layer that acts, [P,W].
    std::vector<at::Tensor> distance_PW;
  };

  TransformerXl(const Options& options, at::Tensor frequencies, Weights weights)
      : options_(options),
        frequencies_(std::move(frequencies)),
        weights_(std::move(weights)) {}

  encodings::Segments segments() const override { return options_.segments; }

  // Waves at queries and keys.
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    const auto waves = [&](const at::Tensor& positions) {
      return WavesOf(positions, frequencies_, x_BTC.scalar_type());
    };
    const Waves queries = waves(pass.positions_BT);
    const Waves keys = waves(pass.positions_BS);
    Carried carried;
    carried.queries = {queries.sin, queries.cos};
    carried.keys = {keys.sin, keys.cos};
    return carried;
  }

  // [u . k + (q + v) . W_r R] / sqrt(D).
  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& /*product*/) const override {
    const Carried& carried = input.layer.carried;
    const at::Tensor of_key = at::matmul(weights_.key_bias_HD.unsqueeze(1),
                                         input.k_BHSD.transpose(2, 3));
    // (q + v) . W_r R = (W_r^T (q + v)) . R, per head.
    const at::Tensor x_BHTW =
        at::matmul(input.layer.q_BHTD + weights_.distance_bias_HD.unsqueeze(1),
                   DistanceWeights(input.layer.layer));
    at::Tensor of_distance =
        DotWavesOfDistance(x_BHTW, {carried.queries[0], carried.queries[1]},
                           {carried.keys[0], carried.keys[1]});
    const int64_t clamp = options_.clamp_length;
    if (clamp > 0) {
      const at::Tensor distance = Distances(input.layer.pass);
      of_distance =
          at::where(distance.gt(clamp), AtClamp(x_BHTW, clamp), of_distance);
      of_distance =
          at::where(distance.lt(-clamp), AtClamp(x_BHTW, -clamp), of_distance);
    }
    return (of_key + of_distance) *
           (1.0 / std::sqrt(static_cast<double>(input.q_BHTD.size(3))));
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const at::Tensor& q = input.layer.q_BHTD;
    const int64_t clamp = options_.clamp_length;
    kernels::torch::Terms terms;
    terms.reach = input.layer.pass.reach;
    if (clamp > 0) terms.reach = std::min(terms.reach, clamp);
    const at::Tensor angle_LF = TableDistances(terms.reach, options_.causal,
                                               input.layer.pass.positions_BS)
                                    .to(at::kDouble)
                                    .unsqueeze(1) *
                                frequencies_;
    const at::Tensor wave_LW =
        at::cat({angle_LF.sin(), angle_LF.cos()}, 1).to(q.scalar_type());
    terms.inputs[kernels::attention::kQ] =
        input.q_BHTD + weights_.key_bias_HD.unsqueeze(1);
    terms.inputs[kernels::attention::kQueryBand] =
        q + weights_.distance_bias_HD.unsqueeze(1);
    terms.inputs[kernels::attention::kQueryVector] =
        at::matmul(wave_LW, DistanceWeights(input.layer.layer).transpose(1, 2))
            .unsqueeze(0);
    return terms;
  }

 private:
  // W_r by head, [H,D,W].
  at::Tensor DistanceWeights(int layer) const {
    return weights_.distance_PW[layer].unflatten(
        0, weights_.distance_bias_HD.sizes());
  }

  // x . R of one distance, [B,H,T,1].
  at::Tensor AtClamp(const at::Tensor& x_BHTW, int64_t distance) const {
    const at::Tensor angle = frequencies_ * static_cast<double>(distance);
    const at::Tensor wave_W =
        at::cat({angle.sin(), angle.cos()}).to(x_BHTW.scalar_type());
    return at::matmul(x_BHTW, wave_W).unsqueeze(-1);
  }

  const Options options_;
  const at::Tensor frequencies_;
  const Weights weights_;
};

at::Tensor Frequencies(int64_t width) {
  std::vector<double> values = GeometricFrequencies(10000.0, width);
  return at::from_blob(values.data(), {width / 2}, at::kDouble).clone();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeTransformerXl(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  const parameters::Initial normal{0.02};
  TransformerXl::Options options;
  options.clamp_length = params.Integer("clamp_length");
  options.causal = shape.causal;
  options.segments = {params.Integer("segment_length"),
                      params.Integer("memory_length")};
  const auto bias = [&](const std::string& name) {
    return parameters->Add(shape.scope + "transformer_xl." + name,
                           {shape.heads, shape.head_width()}, {});
  };
  TransformerXl::Weights weights{bias("key_bias"), bias("distance_bias"), {}};
  weights.distance_PW.resize(shape.layers);
  for (const int layer : shape.ActingLayers()) {
    weights.distance_PW[layer] = parameters->Add(
        LayerScope(layer) + "transformer_xl.distance_proj.weight",
        {int64_t{shape.heads} * shape.head_width(), shape.width}, normal);
  }
  return std::make_unique<TransformerXl>(
      options, Frequencies(shape.width).to(parameters->options().device),
      std::move(weights));
}

}  // namespace ordo::model::encodings

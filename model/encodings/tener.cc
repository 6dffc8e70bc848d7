#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/matmul.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/rows.h"

// TENER (Yan et al. 2019, arXiv:1911.04474, equations 15 to 18): sinusoids of
// the signed distance meet q and a learned vector, and k meets another.
//
// Legend: M = D / 2 frequencies.

namespace ordo::model::encodings {
namespace {

struct TenerOptions {
  // Keys are the layer's input itself, split into heads.
  bool plain_keys = false;
  // 1 / sqrt(D), or 1.
  double scale = 1.0;
};

class Tener : public Encoding {
 public:
  struct Layer {
    // u and v, [H,D].
    at::Tensor key_bias_HD;
    at::Tensor distance_bias_HD;
  };

  Tener(const TenerOptions& options, at::Tensor frequencies,
        std::vector<Layer> layers)
      : options_(options),
        frequencies_(std::move(frequencies)),
        layers_(std::move(layers)) {}

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

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    if (!options_.plain_keys) return;
    *k_BGTD =
        input.hidden_BTC.unflatten(-1, {q_BHTD->size(1), -1}).transpose(1, 2);
  }

  // (q + u) . k + (q + v) . R_(i - j).
  at::Tensor Product(const ScoresInput& input) const override {
    const Layer& layer = layers_[input.layer.layer];
    const Carried& carried = input.layer.carried;
    const at::Tensor of_key =
        at::matmul(input.q_BHTD + layer.key_bias_HD.unsqueeze(1),
                   input.k_BHSD.transpose(2, 3));
    const at::Tensor of_distance =
        DotWavesOfDistance(input.q_BHTD + layer.distance_bias_HD.unsqueeze(1),
                           {carried.queries[0], carried.queries[1]},
                           {carried.keys[0], carried.keys[1]});
    return (of_key + of_distance) * options_.scale;
  }

  // The waves of a difference are products of those of its ends, so that both
  // products are one of vectors of twice the width.
  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const Layer& layer = layers_[input.layer.layer];
    const Carried& carried = input.layer.carried;
    const at::Tensor& sin = carried.queries[0];
    const at::Tensor& cos = carried.queries[1];
    const at::Tensor& k = input.k_BHSD;
    const std::vector<at::Tensor> of_distance =
        (input.q_BHTD + layer.distance_bias_HD.unsqueeze(1)).chunk(2, -1);
    const at::Tensor &a = of_distance[0], &b = of_distance[1];
    const auto for_each_head = [&](const at::Tensor& x) {
      return x.expand({k.size(0), k.size(1), k.size(2), x.size(-1)})
          .to(k.scalar_type());
    };
    kernels::torch::Terms terms;
    terms.scale = options_.scale;
    terms.inputs[kernels::attention::kQ] =
        at::cat({input.q_BHTD + layer.key_bias_HD.unsqueeze(1),
                 a * sin + b * cos, b * sin - a * cos},
                -1);
    terms.inputs[kernels::attention::kK] = at::cat(
        {k, for_each_head(carried.keys[1]), for_each_head(carried.keys[0])},
        -1);
    return terms;
  }

 private:
  const TenerOptions options_;
  const at::Tensor frequencies_;
  const std::vector<Layer> layers_;
};

// 10000^(-f / (M - 1)).
at::Tensor Frequencies(int64_t head_width) {
  const int64_t m = head_width / 2;
  std::vector<double> values(m);
  for (int64_t f = 0; f < m; ++f) {
    values[f] = std::pow(10000.0, -static_cast<double>(f) / (m - 1));
  }
  return at::from_blob(values.data(), {m}, at::kDouble).clone();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeTener(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  const int64_t width = shape.head_width();
  TenerOptions options;
  options.plain_keys = !params.Bool("project_keys");
  if (params.Bool("scale")) {
    options.scale = 1.0 / std::sqrt(static_cast<double>(width));
  }
  // Xavier's normal for a matrix [H,D].
  const parameters::Initial xavier{
      std::sqrt(2.0 / static_cast<double>(shape.heads + width))};
  std::vector<Tener::Layer> layers(shape.layers);
  for (const int layer : shape.ActingLayers()) {
    const auto add = [&](const std::string& name) {
      return parameters->Add(LayerScope(layer) + "tener." + name,
                             {shape.heads, width}, xavier);
    };
    layers[layer] = {add("key_bias"), add("distance_bias")};
  }
  return std::make_unique<Tener>(
      options, Frequencies(width).to(parameters->options().device),
      std::move(layers));
}

}  // namespace ordo::model::encodings

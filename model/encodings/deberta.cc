#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/matmul.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"
#include "model/encodings/rows.h"

// Disentangled attention (He et al. 2021, arXiv:2006.03654, equations 2 to 4):
// content meets the other token's relative position, both ways.
//
// Legend: R = 2K rows of the table, K the largest distance; P = H D.

namespace ordo::model::encodings {
namespace {

class Deberta : public Encoding {
 public:
  struct Options {
    int64_t max_distance = 0;
    // The last term takes the row of (j, i), as the paper prints, rather than
    // that of (i, j), as the authors' code.
    bool paper_index = false;
    int64_t heads = 0;
    bool causal = true;
  };

  struct Layer {
    // Positions' projections; only that of queries has a bias.
    at::Tensor query_PC;
    at::Tensor query_bias_P;
    at::Tensor key_PC;
  };

  Deberta(const Options& options, at::Tensor positions_RC,
          std::vector<Layer> layers)
      : options_(options),
        positions_RC_(std::move(positions_RC)),
        layers_(std::move(layers)) {}

  at::Tensor Product(const ScoresInput& input) const override {
    return at::matmul(input.q_BHTD, input.k_BHSD.transpose(2, 3)) *
           Scale(input);
  }

  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& /*product*/) const override {
    const Projected projected = Project(input.layer.layer);
    const at::Tensor distance = Distances(input.layer.pass);
    const at::Tensor to_position = TakeRows(
        at::matmul(input.layer.q_BHTD, projected.key_HRD.transpose(1, 2)),
        RowOfQuery(distance));
    const at::Tensor from_position =
        TakeRows(at::matmul(input.k_BHSD, projected.query_HRD.transpose(1, 2)),
                 RowOfKey(distance).transpose(2, 3))
            .transpose(2, 3);
    return (to_position + from_position) * Scale(input);
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    kernels::torch::Terms terms;
    terms.scale = Scale(input);
    terms.reach = options_.max_distance;
    const Projected projected = Project(input.layer.layer);
    const at::Tensor distance = TableDistances(terms.reach, options_.causal,
                                               input.layer.pass.positions_BS);
    terms.inputs[kernels::attention::kQueryBand] = input.layer.q_BHTD;
    terms.inputs[kernels::attention::kQueryVector] =
        projected.key_HRD.index_select(1, RowOfQuery(distance)).unsqueeze(0);
    terms.inputs[kernels::attention::kKeyBand] = input.k_BHSD;
    terms.inputs[kernels::attention::kKeyVector] =
        projected.query_HRD.index_select(1, RowOfKey(distance)).unsqueeze(0);
    return terms;
  }

 private:
  // The table as queries and as keys.
  struct Projected {
    at::Tensor query_HRD;
    at::Tensor key_HRD;
  };
  Projected Project(int number) const {
    const Layer& layer = layers_[number];
    const auto heads = [&](const at::Tensor& x_RP) {
      return x_RP.unflatten(-1, {options_.heads, -1}).transpose(0, 1);
    };
    return {
        heads(at::linear(positions_RC_, layer.query_PC, layer.query_bias_P)),
        heads(at::linear(positions_RC_, layer.key_PC))};
  }

  // The rows that the query's and the key's content meets.
  at::Tensor RowOfQuery(const at::Tensor& distance) const {
    const int64_t k = options_.max_distance;
    return (distance + k).clamp(0, 2 * k - 1);
  }
  at::Tensor RowOfKey(const at::Tensor& distance) const {
    return RowOfQuery(options_.paper_index ? distance.neg() : distance);
  }

  static double Scale(const ScoresInput& input) {
    return 1.0 / std::sqrt(3.0 * static_cast<double>(input.q_BHTD.size(3)));
  }

  const Options options_;
  const at::Tensor positions_RC_;
  const std::vector<Layer> layers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeDeberta(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  const parameters::Initial normal{0.02};
  Deberta::Options options;
  options.max_distance = params.Integer("max_distance");
  options.paper_index = params.String("index") == "paper";
  options.heads = shape.heads;
  options.causal = shape.causal;
  const int64_t width = shape.width;
  const int64_t projected = int64_t{shape.heads} * shape.head_width();
  const at::Tensor positions =
      parameters->Add(shape.scope + "deberta.positions.weight",
                      {2 * options.max_distance, width}, normal);
  std::vector<Deberta::Layer> layers(shape.layers);
  for (const int layer : shape.ActingLayers()) {
    const std::string scope = LayerScope(layer) + "deberta.";
    layers[layer] = {
        parameters->Add(scope + "query_proj.weight", {projected, width},
                        normal),
        parameters->Add(scope + "query_proj.bias", {projected}, {}),
        parameters->Add(scope + "key_proj.weight", {projected, width}, normal)};
  }
  return std::make_unique<Deberta>(options, positions, std::move(layers));
}

}  // namespace ordo::model::encodings

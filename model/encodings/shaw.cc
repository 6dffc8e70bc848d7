#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/zeros.h"
#include "model/catalog/catalog.h"
#include "model/encodings/layer_tensor.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"
#include "model/encodings/rows.h"

// Relative representations (Shaw et al. 2018, equations 3 and 4): a vector for
// each clipped distance is added to the key, and optionally to the value.
//
// Legend: R rows of a table.

namespace ordo::model::encodings {
namespace {

struct ShawOptions {
  // K: the largest distance with a row of its own.
  int64_t max_distance = 0;
  bool causal = true;
  // Distances past K add nothing, rather than the last row.
  bool drops_unseen = false;
};

class Shaw : public Encoding {
 public:
  // Tables [R,D] of layers; those for values undefined without that term.
  Shaw(const ShawOptions& options, std::vector<at::Tensor> keys,
       std::vector<at::Tensor> values)
      : options_(options), keys_(std::move(keys)), values_(std::move(values)) {}

  // q_i . w_row / sqrt(D).
  at::Tensor Bias(const ScoresInput& input,
                  const at::Tensor& /*product*/) const override {
    const at::Tensor& q = input.layer.q_BHTD;
    const at::Tensor distance = Distances(input.layer.pass);
    const at::Tensor of_row = at::linear(q, keys_[input.layer.layer]);
    const at::Tensor term = TakeRows(of_row, RowOf(distance)) *
                            (1.0 / std::sqrt(static_cast<double>(q.size(3))));
    return options_.drops_unseen ? term * Seen(distance, term) : term;
  }

  bool HasValueTerm() const override {
    return std::any_of(values_.begin(), values_.end(),
                       [](const at::Tensor& table) { return table.defined(); });
  }

  // sum_j a_ij w'_row: the weights of each row together, times its vector.
  at::Tensor ValueTerm(const ScoresInput& input,
                       const at::Tensor& weights_BHTS) const override {
    const at::Tensor distance = Distances(input.layer.pass);
    const at::Tensor& table = values_[input.layer.layer];
    const at::Tensor weights = options_.drops_unseen
                                   ? weights_BHTS * Seen(distance, weights_BHTS)
                                   : weights_BHTS;
    const at::Tensor of_row =
        at::zeros(
            {weights.size(0), weights.size(1), weights.size(2), table.size(0)},
            weights.options())
            .scatter_add(-1, RowOf(distance).expand_as(weights), weights);
    return at::linear(of_row, table.t());
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    kernels::torch::Terms terms;
    // With a row of zeros for those that add nothing.
    terms.reach = options_.max_distance + (options_.drops_unseen ? 1 : 0);
    const at::Tensor distance = TableDistances(terms.reach, options_.causal,
                                               input.layer.pass.positions_BS);
    const auto table = [&](const at::Tensor& rows_RD) {
      const at::Tensor taken = rows_RD.index_select(0, RowOf(distance));
      return options_.drops_unseen
                 ? taken * Seen(distance, rows_RD).unsqueeze(1)
                 : taken;
    };
    const int layer = input.layer.layer;
    terms.inputs[kernels::attention::kQueryBand] = input.layer.q_BHTD;
    terms.inputs[kernels::attention::kQueryVector] =
        table(keys_[layer]).unsqueeze(0).unsqueeze(0);
    if (values_[layer].defined())
      terms.value_vectors_LM = table(values_[layer]);
    return terms;
  }

 private:
  // Which row each pair takes.
  at::Tensor RowOf(const at::Tensor& distance) const {
    const int64_t k = options_.max_distance;
    return options_.causal ? distance.clamp(0, k) : distance.clamp(-k, k) + k;
  }

  // Which pairs take one, as 0 or 1.
  at::Tensor Seen(const at::Tensor& distance, const at::Tensor& like) const {
    return distance.abs().le(options_.max_distance).to(like.scalar_type());
  }

  const ShawOptions options_;
  const std::vector<at::Tensor> keys_;
  const std::vector<at::Tensor> values_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeShaw(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  ShawOptions options;
  options.max_distance = params.Integer("max_distance");
  options.causal = shape.causal;
  options.drops_unseen = params.String("unseen") == "none";
  const int64_t rows =
      options.causal ? options.max_distance + 1 : 2 * options.max_distance + 1;
  const parameters::Initial initial{
      1.0 / std::sqrt(static_cast<double>(shape.head_width()))};
  const auto tables = [&](const std::string& name) {
    return AddLayerTensor({"shaw." + name + ".weight",
                           {rows, shape.head_width()},
                           initial,
                           params.String("share") == "layer"},
                          shape, parameters);
  };
  const std::vector<at::Tensor> keys = tables("key");
  std::vector<at::Tensor> values(shape.layers);
  if (params.Bool("values")) values = tables("value");
  return std::make_unique<Shaw>(options, keys, values);
}

}  // namespace ordo::model::encodings

#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/embedding.h"
#include "model/catalog/catalog.h"
#include "model/encodings/layer_tensor.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"

// The bias of windows of an image (Liu et al. 2021, Swin, equation 4; Bao et
// al. 2022, BEiT): one learned number for each head and each pair of distances
// in rows and columns. Position id p is row p / columns, column p mod columns.

namespace ordo::model::encodings {
namespace {

constexpr double kInitialStd = 0.02;

struct WindowOptions {
  int64_t rows = 0;
  int64_t columns = 0;
  bool per_layer = false;
};

class WindowBias2d : public PositionBias {
 public:
  WindowBias2d(const WindowOptions& options, const ModelShape& shape,
               std::vector<at::Tensor> tables)
      : PositionBias(shape, options.per_layer),
        options_(options),
        tables_(std::move(tables)) {}

  // Rows of the table are differences of such numbers.
  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const at::Tensor& ids = input.layer.pass.positions_BS;
    Check(input.layer.pass);
    const int64_t stride = 2 * options_.columns - 1;
    kernels::torch::Terms terms;
    terms.positions_BS = ids.floor_divide(options_.columns) * stride +
                         ids.remainder(options_.columns);
    terms.reach = (options_.rows - 1) * stride + options_.columns - 1;
    const at::Tensor rows =
        TableDistances(terms.reach, causal(), ids) + terms.reach;
    terms.inputs[kernels::attention::kBias] =
        BiasOf(rows.view({1, 1, 1, -1}), input.layer.layer);
    return terms;
  }

 private:
  void Check(const Pass& pass) const {
    CheckPositions(pass.PositionsOnHost(), options_.rows * options_.columns,
                   "raise rows or columns");
  }

  // Rows of the table.
  at::Tensor Places(const Pass& pass, c10::ScalarType /*wide*/) const override {
    Check(pass);
    const auto difference = [](const at::Tensor& queries,
                               const at::Tensor& keys) {
      return queries.unsqueeze(1).unsqueeze(-1) -
             keys.unsqueeze(1).unsqueeze(1);
    };
    const auto row = [&](const at::Tensor& positions) {
      return positions.floor_divide(options_.columns);
    };
    const auto column = [&](const at::Tensor& positions) {
      return positions.remainder(options_.columns);
    };
    const at::Tensor rows =
        difference(row(pass.positions_BT), row(pass.positions_BS));
    const at::Tensor columns =
        difference(column(pass.positions_BT), column(pass.positions_BS));
    return (rows + (options_.rows - 1)) * (2 * options_.columns - 1) +
           (columns + (options_.columns - 1));
  }

  at::Tensor BiasOf(const at::Tensor& places, int layer) const override {
    return at::embedding(tables_[layer], places.squeeze(1))
        .permute({0, 3, 1, 2});
  }

  const WindowOptions options_;
  // By layer, each [(2 rows - 1)(2 columns - 1), H].
  const std::vector<at::Tensor> tables_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeWindowBias2d(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  WindowOptions options;
  options.rows = params.Integer("rows");
  options.columns = params.Integer("columns");
  options.per_layer = params.Bool("per_layer");
  LayerTensorOptions table;
  table.name = "window_bias_2d.weight";
  table.shape = {(2 * options.rows - 1) * (2 * options.columns - 1),
                 shape.heads};
  table.initial.std = kInitialStd;
  table.per_layer = options.per_layer;
  return std::make_unique<WindowBias2d>(
      options, shape, AddLayerTensor(table, shape, parameters));
}

}  // namespace ordo::model::encodings

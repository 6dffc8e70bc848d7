#include <memory>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/div.h"
#include "ATen/ops/linalg_matrix_exp.h"
#include "ATen/ops/stack.h"
#include "ATen/ops/tril_indices.h"
#include "ATen/ops/zeros.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/rotary.h"

// LieRE (Ostmeier et al. 2024, arXiv:2406.10322): q and k turn by R(p) =
// exp(sum over axes a of p_a A_a), with learned skew-symmetric A_a in blocks on
// the diagonal. They start as rope's (one axis) or rope_2d's (two),
// interleaved.
//
// Legend: A axes, G key heads, N blocks of size E, V = E (E - 1) / 2 values of
// a block below its diagonal, B batch, T tokens, H heads, D = N E head width.

namespace ordo::model::encodings {
namespace {

struct LiereOptions {
  double base = 0.0;
  int64_t axes = 1;
  int64_t columns = 1;
  // E, a divisor of the head width.
  int64_t block = 0;
};

// What the entries below the diagonal of [D,D] start as in channels (2f, 2f +
// 1), one list of D/2 for each axis.
std::vector<std::vector<double>> StartFrequencies(const LiereOptions& options,
                                                  int64_t width) {
  if (options.axes == 1) return {GeometricFrequencies(options.base, width)};
  // The first half of the pairs by the row, the second by the column.
  const int64_t pairs = width / 2, rows = (pairs + 1) / 2;
  std::vector<std::vector<double>> start(2, std::vector<double>(pairs, 0.0));
  const std::vector<double> half = GeometricFrequencies(options.base, 2 * rows);
  for (int64_t f = 0; f < pairs; ++f) {
    start[f < rows ? 0 : 1][f] = half[f % rows];
  }
  return start;
}

class Liere : public Encoding {
 public:
  Liere(const LiereOptions& options, const ModelShape& shape,
        parameters::ParameterSet* parameters)
      : options_(options), layers_(shape.layers) {
    const at::Tensor start = Start(shape);
    for (const int layer : shape.ActingLayers()) {
      layers_[layer] =
          parameters->Add(LayerScope(layer) + "liere.generators", start);
    }
  }

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    const at::Tensor rotation =
        RotationOfTokens(layers_[input.layer], input.pass.positions_BT);
    *q_BHTD = Turn(rotation, *q_BHTD);
    *k_BGTD = Turn(rotation, *k_BGTD);
  }

 private:
  int64_t NumValues() const {
    return options_.block * (options_.block - 1) / 2;
  }

  // [A,G,N,V], in the dtype of parameters.
  at::Tensor Start(const ModelShape& shape) const {
    const int64_t width = shape.head_width(), block = options_.block;
    const auto start = StartFrequencies(options_, width);
    at::Tensor values = at::zeros(
        {options_.axes, shape.num_key_heads(), width / block, NumValues()},
        at::kDouble);
    for (int64_t axis = 0; axis < options_.axes; ++axis) {
      for (int64_t channel = 1; channel < width; channel += 2) {
        // Row-major below the diagonal: row r starts at r (r - 1) / 2.
        const int64_t row = channel % block;
        values.select(0, axis)
            .select(1, channel / block)
            .select(1, row * (row - 1) / 2 + row - 1)
            .fill_(start[axis][channel / 2]);
      }
    }
    return values;
  }

  // exp(sum of p_a A_a), [B or 1,G,T,N,E,E], in double: an angle far out would
  // lose its digits in fp32.
  at::Tensor RotationOfTokens(const at::Tensor& generators,
                              const at::Tensor& positions) const {
    const int64_t block = options_.block;
    const at::Tensor index = at::tril_indices(
        block, block, -1, generators.options().dtype(at::kLong));
    const at::Tensor values = generators.to(at::kDouble);
    std::vector<int64_t> sizes = values.sizes().vec();
    sizes.back() = block * block;
    const at::Tensor lower =
        at::zeros(sizes, values.options())
            .index_add(-1, index[0] * block + index[1], values)
            .unflatten(-1, {block, block});
    // [A,1,G,1,N,E,E].
    const at::Tensor skew =
        (lower - lower.transpose(-1, -2)).unsqueeze(1).unsqueeze(3);
    // [A,B or 1,1,T,1,1,1].
    const at::Tensor place = Places(positions)
                                 .to(at::kDouble)
                                 .unsqueeze(2)
                                 .unsqueeze(-1)
                                 .unsqueeze(-1)
                                 .unsqueeze(-1);
    return at::linalg_matrix_exp((place * skew).sum(0));
  }

  // The axes of positions [B,T]: [A,B,T].
  at::Tensor Places(const at::Tensor& positions) const {
    if (options_.axes == 1) return positions.unsqueeze(0);
    return at::stack({at::div(positions, options_.columns, "floor"),
                      positions.remainder(options_.columns)});
  }

  // x [B,H,T,D] turned by its key head's rotation.
  static at::Tensor Turn(const at::Tensor& rotation, const at::Tensor& x) {
    const int64_t key_heads = rotation.size(1), block = rotation.size(-1);
    const auto dtype = x.scalar_type();
    // At least fp32, and products apart from autocast.
    const at::Tensor turn =
        rotation.to(dtype == at::kDouble ? at::kDouble : at::kFloat);
    const at::Tensor blocks =
        x.unflatten(1, {key_heads, -1}).unflatten(-1, {-1, block});
    return (turn.unsqueeze(2) * blocks.unsqueeze(-2))
        .sum(-1)
        .flatten(-2)
        .flatten(1, 2)
        .to(dtype);
  }

  const LiereOptions options_;
  // [A,G,N,V] of each layer.
  std::vector<at::Tensor> layers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeLiere(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  LiereOptions options;
  options.base = params.Number("base");
  options.axes = params.Integer("axes");
  options.columns = params.Integer("columns");
  options.block = params.Integer("block");
  if (options.block == 0) options.block = shape.head_width();
  return std::make_unique<Liere>(options, shape, parameters);
}

}  // namespace ordo::model::encodings

#include <memory>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/div.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/rotary.h"

// Rope over a grid (Fang et al. 2023, EVA-02, arXiv:2303.11331; Heo et al.
// 2024, arXiv:2403.13298): position id p is the cell in row p / columns and
// column p mod columns. Of the R channels that turn, the first half is a rope
// of width R/2 by the row, the second one by the column.

namespace ordo::model::encodings {
namespace {

class Rope2d : public Encoding {
 public:
  // `half` is one of the two ropes, R/2 channels.
  Rope2d(const RotaryOptions& half, int64_t columns)
      : half_(half), rotation_({RotaryFrequencies(half)}), columns_(columns) {}

  // Tables of the rows and of the columns.
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    const auto table = [&](const at::Tensor& positions) {
      return RotaryTable(rotation_, positions, x_BTC.scalar_type());
    };
    const at::Tensor& cell = pass.positions_BT;
    return {{table(at::div(cell, columns_, "floor")),
             table(cell.remainder(columns_))},
            {}};
  }

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    *q_BHTD = Turn(input.carried.tensors, *q_BHTD);
    *k_BGTD = Turn(input.carried.tensors, *k_BGTD);
  }

 private:
  at::Tensor Turn(const std::vector<at::Tensor>& tables,
                  const at::Tensor& x) const {
    const int64_t width = half_.channels;
    const std::vector<at::Tensor> part =
        x.split_with_sizes({width, width, x.size(-1) - 2 * width}, -1);
    return at::cat({Rotate(half_, tables[0], part[0]),
                    Rotate(half_, tables[1], part[1]), part[2]},
                   -1);
  }

  const RotaryOptions half_;
  const Rotation rotation_;
  const int64_t columns_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeRope2d(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  RotaryOptions half = RotaryFromComponent(component, shape);
  half.channels /= 2;
  return std::make_unique<Rope2d>(
      half, catalog::Params(component.params()).Integer("columns"));
}

}  // namespace ordo::model::encodings

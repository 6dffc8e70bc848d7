#include <memory>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/sinusoid.h"

// Sinusoids added to the token embeddings (Vaswani et al. 2017, section 3.5).
//   sinusoidal       of the position id
//   grid_sinusoidal  half of the channels of the row p / columns, the rest of
//                    the column p mod columns, each half a sinusoid of its own
//                    width

namespace ordo::model::encodings {
namespace {

class Sinusoidal : public Encoding {
 public:
  explicit Sinusoidal(double base) : base_(base) {}

  at::Tensor Embed(const at::Tensor& x_BTC, const Pass& pass) const override {
    return x_BTC + Sinusoid(pass.positions_BT, x_BTC.size(-1), base_)
                       .to(x_BTC.scalar_type());
  }

 private:
  const double base_;
};

class GridSinusoidal : public Encoding {
 public:
  GridSinusoidal(double base, int64_t columns)
      : base_(base), columns_(columns) {}

  at::Tensor Embed(const at::Tensor& x_BTC, const Pass& pass) const override {
    const int64_t half = x_BTC.size(-1) / 2;
    const at::Tensor row = pass.positions_BT.floor_divide(columns_);
    const at::Tensor column = pass.positions_BT.remainder(columns_);
    return x_BTC +
           at::cat({Sinusoid(row, half, base_), Sinusoid(column, half, base_)},
                   -1)
               .to(x_BTC.scalar_type());
  }

 private:
  const double base_;
  const int64_t columns_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeSinusoidal(
    const ordo::training::v1::Component& component, const ModelShape& /*shape*/,
    parameters::ParameterSet* /*parameters*/) {
  const catalog::Params params(component.params());
  return std::make_unique<Sinusoidal>(params.Number("base"));
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeGridSinusoidal(
    const ordo::training::v1::Component& component, const ModelShape& /*shape*/,
    parameters::ParameterSet* /*parameters*/) {
  const catalog::Params params(component.params());
  return std::make_unique<GridSinusoidal>(params.Number("base"),
                                          params.Integer("columns"));
}

}  // namespace ordo::model::encodings

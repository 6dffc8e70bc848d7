#include <memory>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/pow.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"

// Sandwich (Chi, Fan, Rudnicky, Ramadge 2023, section 5): the inner product of
// two sinusoidal embeddings of width W, a sum over f < W/2 of
// cos((i - j) base^(-2f/W)), divided by 8h/H in head h = 1..H.

namespace ordo::model::encodings {
namespace {

// Divides in the last head.
constexpr double kGreatestRatio = 8.0;

class Sandwich : public PositionBias {
 public:
  Sandwich(const catalog::Params& params, const ModelShape& shape)
      : PositionBias(shape, /*per_layer=*/false),
        base_(params.Number("base")),
        width_(params.Integer("width")),
        heads_(shape.heads) {}

 private:
  // The sums.
  at::Tensor Places(const Pass& pass, c10::ScalarType wide) const override {
    const at::Tensor queries = Waves(pass.positions_BT);
    const at::Tensor keys = Waves(pass.positions_BS);
    return at::matmul(queries, keys.transpose(1, 2)).unsqueeze(1).to(wide);
  }

  at::Tensor BiasOf(const at::Tensor& places, int /*layer*/) const override {
    const at::Tensor ratio =
        at::arange(1, heads_ + 1, places.options()).view({-1, 1, 1}) *
        (kGreatestRatio / heads_);
    return places / ratio;
  }

  // Sines and cosines of position ids [.,T], in double: [.,T,W].
  at::Tensor Waves(const at::Tensor& positions) const {
    const at::Tensor f =
        at::arange(width_ / 2, positions.options().dtype(at::kDouble));
    const at::Tensor angle = positions.to(at::kDouble).unsqueeze(-1) *
                             at::pow(base_, f * (-2.0 / width_));
    return at::cat({angle.sin(), angle.cos()}, -1);
  }

  const double base_;
  const int64_t width_;
  const int heads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeSandwich(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  return std::make_unique<Sandwich>(catalog::Params(component.params()), shape);
}

}  // namespace ordo::model::encodings

#include <memory>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/embedding.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"

// Axial embeddings (Kitaev, Kaiser, Levskaya 2020, Reformer, as its code has
// them): position i < n1 n2 takes its first d1 channels from row i mod n1 of
// one table and the rest from row i / n1 of another.

namespace ordo::model::encodings {
namespace {

constexpr double kInitialStd = 0.02;

class Axial : public Encoding {
 public:
  // [n1,d1] and [n2,d2].
  Axial(at::Tensor first, at::Tensor second)
      : first_(std::move(first)), second_(std::move(second)) {}

  at::Tensor Embed(const at::Tensor& x_BTC, const Pass& pass) const override {
    const int64_t size = first_.size(0);
    CheckPositions(pass.PositionsOnHost(), size * second_.size(0),
                   "raise first_size or second_size");
    return x_BTC +
           at::cat(
               {at::embedding(first_, pass.positions_BT.remainder(size)),
                at::embedding(second_, pass.positions_BT.floor_divide(size))},
               -1);
  }

 private:
  const at::Tensor first_;
  const at::Tensor second_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeAxial(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  const int64_t width =
      catalog::FirstAxialWidth(component.params(), shape.width);
  const at::Tensor first =
      parameters->Add(shape.scope + "axial.first",
                      {params.Integer("first_size"), width}, {kInitialStd});
  const at::Tensor second = parameters->Add(
      shape.scope + "axial.second",
      {params.Integer("second_size"), shape.width - width}, {kInitialStd});
  return std::make_unique<Axial>(first, second);
}

}  // namespace ordo::model::encodings

#include <memory>
#include <string>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/embedding.h"
#include "model/catalog/catalog.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"

// A learned vector for each position, added to the token embeddings.
//   learned       GPT-2's (Radford et al. 2019)
//   grid_learned  one for each cell of a grid, row by row (Dosovitskiy et al.
//                 2021)

namespace ordo::model::encodings {
namespace {

constexpr double kInitialStd = 0.02;

class Learned : public Encoding {
 public:
  // `fix` says how the table gets larger.
  Learned(at::Tensor table_NC, std::string fix)
      : table_NC_(std::move(table_NC)), fix_(std::move(fix)) {}

  at::Tensor Embed(const at::Tensor& x_BTC, const Pass& pass) const override {
    CheckPositions(pass.PositionsOnHost(), table_NC_.size(0), fix_);
    return x_BTC + at::embedding(table_NC_, pass.positions_BT);
  }

 private:
  const at::Tensor table_NC_;
  const std::string fix_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeLearned(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  const at::Tensor table = parameters->Add(
      shape.scope + "learned.weight",
      {params.Integer("max_length"), shape.width}, {kInitialStd});
  return std::make_unique<Learned>(table, "raise max_length");
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeGridLearned(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  const at::Tensor table = parameters->Add(
      shape.scope + "grid_learned.weight",
      {params.Integer("rows") * params.Integer("columns"), shape.width},
      {kInitialStd});
  return std::make_unique<Learned>(table, "raise rows or columns");
}

}  // namespace ordo::model::encodings

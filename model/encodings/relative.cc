#include "model/encodings/relative.h"

#include "ATen/TensorOperators.h"
#include "c10/core/ScalarType.h"

namespace ordo::model::encodings {

at::Tensor Distances(const Pass& pass) {
  return pass.positions_BT.unsqueeze(1).unsqueeze(-1) -
         pass.positions_BS.unsqueeze(1).unsqueeze(1);
}

PositionBias::PositionBias(const ModelShape& shape, bool per_layer)
    : first_layer_(shape.ActingLayers().front()), per_layer_(per_layer) {}

Carried PositionBias::Start(const at::Tensor& x_BTC, const Pass& pass) const {
  const auto wide = c10::promoteTypes(x_BTC.scalar_type(), at::kFloat);
  const at::Tensor places = Places(pass, wide);
  if (per_layer_) return {{places}, {}};
  return {{BiasOf(places, first_layer_).to(x_BTC.scalar_type())}, {}};
}

at::Tensor PositionBias::Bias(const ScoresInput& input,
                              const at::Tensor& /*product*/) const {
  const at::Tensor& carried = input.layer.carried.tensors[0];
  return per_layer_ ? BiasOf(carried, input.layer.layer) : carried;
}

}  // namespace ordo::model::encodings

#include "model/encodings/relative.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "c10/core/ScalarType.h"

namespace ordo::model::encodings {

at::Tensor Distances(const Pass& pass) {
  return pass.positions_BT.unsqueeze(1).unsqueeze(-1) -
         pass.positions_BS.unsqueeze(1).unsqueeze(1);
}

at::Tensor TableDistances(int64_t reach, bool causal, const at::Tensor& like) {
  return at::arange(reach, causal ? -1 : -reach - 1, -1, like.options());
}

PositionBias::PositionBias(const ModelShape& shape, bool per_layer)
    : first_layer_(shape.ActingLayers().front()),
      per_layer_(per_layer),
      causal_(shape.causal) {}

at::Tensor PositionBias::Bias(const ScoresInput& input,
                              const at::Tensor& /*product*/) const {
  const auto type = input.layer.hidden_BTC.scalar_type();
  const at::Tensor places =
      Places(input.layer.pass, c10::promoteTypes(type, at::kFloat));
  if (per_layer_) return BiasOf(places, input.layer.layer);
  return BiasOf(places, first_layer_).to(type);
}

at::Tensor PositionBias::BiasOfKeys(const at::Tensor& query,
                                    const at::Tensor& keys, int layer) const {
  Pass pass;
  pass.positions_BT = query;
  pass.positions_BS = keys;
  return BiasOf(Places(pass, at::kFloat), per_layer_ ? layer : first_layer_);
}

std::optional<kernels::torch::Terms> PositionBias::KernelTerms(
    const ScoresInput& input) const {
  const int64_t reach = input.layer.pass.reach;
  const at::Tensor distances =
      TableDistances(reach, causal_, input.layer.pass.positions_BS);
  kernels::torch::Terms terms;
  terms.reach = reach;
  // Ids whose distances from the query's those are.
  terms.inputs[kernels::attention::kBias] =
      BiasOfKeys(distances.narrow(0, 0, 1).unsqueeze(0),
                 (reach - distances).unsqueeze(0), input.layer.layer);
  return terms;
}

}  // namespace ordo::model::encodings

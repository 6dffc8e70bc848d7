#include "model/encodings/encoding.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/ops/bmm.h"

namespace ordo::model::encodings {

std::vector<int> ModelShape::ActingLayers() const {
  if (!acting.empty()) return acting;
  std::vector<int> all(layers);
  for (int layer = 0; layer < layers; ++layer) all[layer] = layer;
  return all;
}

LayerInput PartOf(const LayerInput& whole, size_t part) {
  return {whole.layer,      whole.pass,   whole.carried.parts[part],
          whole.hidden_BTC, whole.q_BHTD, whole.k_BGTD,
          whole.v_BGTD};
}

std::string LayerScope(int layer) {
  return "model.layers." + std::to_string(layer) + ".self_attn.";
}

at::Tensor ScaledProduct(const at::Tensor& q_BHTD, const at::Tensor& k_BHSD) {
  const at::Tensor product =
      at::bmm(q_BHTD.flatten(0, 1), k_BHSD.flatten(0, 1).transpose(1, 2));
  const double scale = 1.0 / std::sqrt(static_cast<double>(q_BHTD.size(3)));
  return product.view({q_BHTD.size(0), q_BHTD.size(1), q_BHTD.size(2), -1}) *
         scale;
}

}  // namespace ordo::model::encodings

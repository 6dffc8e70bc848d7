#include "model/encodings/encoding.h"

namespace ordo::model::encodings {

std::vector<int> ModelShape::ActingLayers() const {
  if (!acting.empty()) return acting;
  std::vector<int> all(layers);
  for (int layer = 0; layer < layers; ++layer) all[layer] = layer;
  return all;
}

std::string LayerScope(int layer) {
  return "model.layers." + std::to_string(layer) + ".self_attn.";
}

}  // namespace ordo::model::encodings

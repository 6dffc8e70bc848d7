#include "model/encodings/layer_tensor.h"

namespace ordo::model::encodings {

std::vector<at::Tensor> AddLayerTensor(const LayerTensorOptions& options,
                                       const ModelShape& shape,
                                       parameters::ParameterSet* parameters) {
  std::vector<at::Tensor> tensors(shape.layers);
  at::Tensor shared;
  if (!options.per_layer) {
    shared = parameters->Add(shape.scope + options.name, options.shape,
                             options.initial);
  }
  for (const int layer : shape.ActingLayers()) {
    tensors[layer] = options.per_layer
                         ? parameters->Add(LayerScope(layer) + options.name,
                                           options.shape, options.initial)
                         : shared;
  }
  return tensors;
}

}  // namespace ordo::model::encodings

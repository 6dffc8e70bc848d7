#ifndef ORDO_MODEL_ENCODINGS_LAYER_TENSOR_H_
#define ORDO_MODEL_ENCODINGS_LAYER_TENSOR_H_

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/encodings/encoding.h"
#include "model/parameters/parameters.h"

namespace ordo::model::encodings {

struct LayerTensorOptions {
  // Without the scope: "t5.weight".
  std::string name;
  std::vector<int64_t> shape;
  parameters::Initial initial = {};
  // Each layer that acts has its own; otherwise they share one.
  bool per_layer = false;
};

// Adds the parameter and returns it by the number of the layer; undefined for
// layers that do not act.
std::vector<at::Tensor> AddLayerTensor(const LayerTensorOptions& options,
                                       const ModelShape& shape,
                                       parameters::ParameterSet* parameters);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_LAYER_TENSOR_H_

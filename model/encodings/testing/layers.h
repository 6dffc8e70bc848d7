#ifndef ORDO_MODEL_ENCODINGS_TESTING_LAYERS_H_
#define ORDO_MODEL_ENCODINGS_TESTING_LAYERS_H_

#include <memory>

#include <ATen/core/Tensor.h>

#include "model/encodings/encoding.h"
#include "model/parameters/parameters.h"

// An encoding that carries a state, in layers of attention and an MLP and
// nothing else: what the promises of such an encoding speak of.
//
// Legend: B batch, H heads, T tokens, C model width, W width of a head's state.

namespace ordo::model::encodings::testing {

// An encoding in double with its parameters, all of them random and none at a
// start of zero.
struct Made {
  parameters::ParameterSet parameters;
  std::unique_ptr<Encoding> encoding;
};

using MakeEncoding = std::unique_ptr<Encoding> (*)(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);

// Of the registry, or by `make`, which gets a resolved component. Dies where
// the component or the shape is wrong.
std::unique_ptr<Made> MakeRandom(const ordo::training::v1::Component& component,
                                 const ModelShape& shape,
                                 MakeEncoding make = nullptr);

// Tokens and states that enter layers and leave them.
struct Stream {
  at::Tensor x_BTC;
  at::Tensor state_BHTW;
};

// `layers` layers with random weights of their own, the same on every run.
Stream RunLayers(const Encoding& encoding, int layers, Stream stream,
                 bool causal);

// The state that the encoding starts with at positions [1,T] or [B,T].
at::Tensor StartState(const Encoding& encoding, const at::Tensor& x_BTC,
                      const at::Tensor& positions_BT);

}  // namespace ordo::model::encodings::testing

#endif  // ORDO_MODEL_ENCODINGS_TESTING_LAYERS_H_

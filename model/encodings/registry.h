#ifndef ORDO_MODEL_ENCODINGS_REGISTRY_H_
#define ORDO_MODEL_ENCODINGS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/encodings/encoding.h"
#include "model/parameters/parameters.h"
#include "proto/ordo/training/v1/component.pb.h"

// The table of positional encodings. A new one is a file with a factory, and a
// row in registry.cc and in model/catalog.

namespace ordo::model::encodings {

// Makes an encoding and adds its parameters to `parameters`. The component has
// been resolved by the catalogue. INVALID_ARGUMENT names what does not fit the
// model's shape.
using Factory = absl::StatusOr<std::unique_ptr<Encoding>>(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);

struct Row {
  std::string name;
  Factory* make;
};

// All of them, sorted by name.
const std::vector<Row>& Registry();

// Resolves the component with the catalogue and calls its factory.
// INVALID_ARGUMENT names all that is wrong with it.
absl::StatusOr<std::unique_ptr<Encoding>> Make(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);

// The same for a component that has been resolved and found to fit: for
// factories of encodings that are made of others.
absl::StatusOr<std::unique_ptr<Encoding>> MakeResolved(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_REGISTRY_H_

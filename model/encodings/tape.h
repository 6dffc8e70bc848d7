#ifndef ORDO_MODEL_ENCODINGS_TAPE_H_
#define ORDO_MODEL_ENCODINGS_TAPE_H_

#include <memory>

#include "model/encodings/encoding.h"
#include "model/parameters/parameters.h"
#include "proto/ordo/training/v1/component.pb.h"

namespace ordo::model::encodings {

// The encoding of a resolved tape component, with its state in real matrices
// (MakeBlockForm) also where complex numbers would do: what the faster path is
// compared with. Not for components with equivariant: false or embedding:
// vector.
std::unique_ptr<Encoding> MakeTapeInBlocks(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_TAPE_H_

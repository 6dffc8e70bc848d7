#ifndef ORDO_MODEL_FORMATS_TENSORS_H_
#define ORDO_MODEL_FORMATS_TENSORS_H_

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "absl/status/statusor.h"
#include "model/formats/tensor_names.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Another program's tensors, and what they are here.

namespace ordo::model::formats {

using TensorMap = std::map<std::string, at::Tensor>;

// Ours from theirs, tensors of the encoding (catalog/foreign.h) included. One
// that no rule speaks of is INVALID_ARGUMENT, which names it, and DATA_LOSS one
// whose shape does not fit.
absl::StatusOr<TensorMap> ImportTensors(
    const TensorNames& names, const ordo::training::v1::Model& model,
    const ordo::training::v1::Component& encoding, const TensorMap& theirs);

// Theirs from ours, with the prefix except where a rule's name begins with '/',
// which is left out. Every tensor has a rule, or INVALID_ARGUMENT names it.
absl::StatusOr<TensorMap> ExportTensors(const TensorNames& names,
                                        const ordo::training::v1::Model& model,
                                        const TensorMap& ours);

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_TENSORS_H_

#ifndef ORDO_MODEL_CATALOG_FOREIGN_H_
#define ORDO_MODEL_CATALOG_FOREIGN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/catalog/catalog.h"
#include "proto/ordo/training/v1/component.pb.h"

// What other programs' files call the encodings of the catalogue: the types of
// Hugging Face's `rope_scaling`, encodings that a model type implies, and names
// of encodings' tensors. Free of LibTorch.

namespace ordo::model::catalog {

// Rotary encoding as Hugging Face's configurations say it.
struct ForeignRope {
  double base = 10000.0;
  // Share of a head's channels that turn.
  double partial = 1.0;
  // The model's longest input; 0: not said.
  int64_t max_positions = 0;
  // `rope_scaling` or `rope_parameters` without the base: `rope_type` or, in
  // old files, `type`, and its numbers. Empty: plain rope.
  ParamMap scaling = {};
};

// INVALID_ARGUMENT names the key, as "rope_scaling.<key>", that is missing, not
// known, or of a type without an equivalent. Ranges are ResolveEncoding's to
// check.
absl::StatusOr<ordo::training::v1::Component> FromForeignRope(
    const ForeignRope& rope);

// The opposite for a resolved encoding; nothing where Hugging Face computes
// none that is the same.
std::optional<ForeignRope> ToForeignRope(
    const ordo::training::v1::Component& encoding);

// Encodings that a model type implies.
enum class ImpliedEncoding {
  // A learned vector for each of the positions.
  kLearned,
  // A penalty linear in the distance, with slopes by head.
  kLinearBias,
};

// `num_positions` is read for kLearned.
ordo::training::v1::Component FromImplied(ImpliedEncoding kind,
                                          int64_t num_positions);
// Whether a resolved encoding is that one; for kLearned also its positions.
bool IsImplied(ImpliedEncoding kind,
               const ordo::training::v1::Component& encoding);
int64_t LearnedPositions(const ordo::training::v1::Component& encoding);
// The tensor of kLearned, [positions, width].
std::string LearnedPositionsTensor();

// A tensor of an encoding in the public code of the TAPE paper
// (VITA-Group/TAPE), whose models have Llama's other names. `#` stands for the
// number of the layer.
struct ForeignTensor {
  std::string theirs;
  // Empty: nothing that the model needs, as it follows from the encoding.
  std::string ours;
  // Not empty: a constant there, which must equal this parameter.
  std::string param = {};
};

// Those of an encoding; empty where it has none.
std::vector<ForeignTensor> ForeignTensors(
    const ordo::training::v1::Component& encoding);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_FOREIGN_H_

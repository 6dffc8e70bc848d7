#ifndef ORDO_MODEL_FORMATS_TENSORS_H_
#define ORDO_MODEL_FORMATS_TENSORS_H_

#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Names and layouts of another program's tensors, and what they are here.

namespace ordo::model::formats {

using TensorMap = std::map<std::string, at::Tensor>;

// How a tensor of theirs holds one or three of ours. A bias is as a matrix of
// one column.
enum class Layout {
  // As ours.
  kSame,
  // [in, out].
  kTransposed,
  // q, k and v, one above the other.
  kJoined,
  // The same, [in, out].
  kJoinedTransposed,
  // For each head its rows of q, k and v. As many heads of keys as of queries.
  kJoinedByHead,
};

// `#` stands for the number of a layer in both names.
struct TensorRule {
  std::string theirs;
  // q, k and v where they are joined; empty: nothing that the model needs.
  std::vector<std::string> ours;
  Layout layout = Layout::kSame;
};

// Rules for `theirs`.weight and `theirs`.bias, the latter never transposed.
void AddRules(const std::string& theirs, const std::vector<std::string>& ours,
              Layout layout, std::vector<TensorRule>* rules);

struct TensorNames {
  // In front of their names, in some files; may be empty.
  std::string prefix;
  std::vector<TensorRule> rules;
  // Tensors that no rule speaks of have the same name here; otherwise there
  // must be none.
  bool others_keep_theirs = false;
};

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

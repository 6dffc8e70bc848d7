#ifndef ORDO_MODEL_FORMATS_TENSOR_NAMES_H_
#define ORDO_MODEL_FORMATS_TENSOR_NAMES_H_

#include <string>
#include <vector>

// Names and layouts of another program's tensors, as tables; tensors.h applies
// them.

namespace ordo::model::formats {

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

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_TENSOR_NAMES_H_

#include "model/formats/tensor_names.h"

#include <utility>

namespace ordo::model::formats {

void AddRules(const std::string& theirs, const std::vector<std::string>& ours,
              Layout layout, std::vector<TensorRule>* rules) {
  for (const char* suffix : {".weight", ".bias"}) {
    TensorRule rule{theirs + suffix, {}, layout};
    for (const std::string& name : ours) rule.ours.push_back(name + suffix);
    const bool bias = std::string(suffix) == ".bias";
    if (bias && layout == Layout::kTransposed) rule.layout = Layout::kSame;
    if (bias && layout == Layout::kJoinedTransposed) {
      rule.layout = Layout::kJoined;
    }
    rules->push_back(std::move(rule));
  }
}

}  // namespace ordo::model::formats

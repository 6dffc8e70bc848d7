#include "model/catalog/fine_tuning.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/nearest.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using Names = google::protobuf::RepeatedPtrField<std::string>;

const std::vector<std::string>& Targets() {
  static const auto* const targets =
      new std::vector<std::string>{"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                   "gate_proj", "up_proj", "down_proj"};
  return *targets;
}

// Each of `names` is one of `known`, and none stands there twice.
void CheckNames(const std::string& field, const Names& names,
                const std::vector<std::string>& known, Violations* violations) {
  std::set<std::string> seen;
  for (int i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::string path = absl::StrCat(field, "[", i, "]");
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      violations->push_back(
          {path,
           absl::StrCat("must be one of ", absl::StrJoin(known, ", "), ", is '",
                        name, "'", base::SuggestName(name, known))});
    } else if (!seen.insert(name).second) {
      violations->push_back(
          {path, absl::StrCat("'", name, "' is there twice; leave one out")});
    }
  }
}

void ResolveLora(const std::string& field, v1::Lora* lora,
                 Violations* violations) {
  ResolveNumber({"rank", 1, 65536, 8}, field, lora, violations);
  ResolveNumber({"alpha", 0, 1e6, 16, /*open_min=*/true}, field, lora,
                violations);
  CheckNames(FieldPath(field, "targets"), lora->targets(), Targets(),
             violations);
  if (!lora->targets().empty()) return;
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    lora->add_targets(name);
  }
}

}  // namespace

const std::vector<std::string>& ModelParts() {
  static const auto* const parts = new std::vector<std::string>{
      "embeddings", "head", "norms", "attention", "mlp", "encoding"};
  return *parts;
}

void ResolveFineTuning(std::string_view field, v1::Training* training,
                       Violations* violations) {
  if (training->has_lora()) {
    ResolveLora(FieldPath(field, "lora"), training->mutable_lora(), violations);
  }
  CheckNames(FieldPath(field, "trainable"), training->trainable(), ModelParts(),
             violations);
  if (!training->has_shifted_sparse()) return;
  const std::string path = FieldPath(field, "shifted_sparse");
  auto* sparse = training->mutable_shifted_sparse();
  if (ResolveNumber({"group", 2, 1e7, {}}, path, sparse, violations) &&
      sparse->group() % 2 != 0) {
    violations->push_back(
        {FieldPath(path, "group"),
         absl::StrCat("must be even, is ", sparse->group(),
                      ": half of the heads are shifted by half a group")});
  }
}

void CheckFineTuning(std::string_view field, const v1::Training& training,
                     const v1::Model& model, Violations* violations) {
  const auto& targets = training.lora().targets();
  const bool is_gated = model.mlp() == "swiglu" || model.mlp() == "geglu";
  for (int i = 0; i < targets.size(); ++i) {
    if (targets[i] != "gate_proj" || is_gated) continue;
    violations->push_back(
        {absl::StrCat(FieldPath(field, "lora.targets"), "[", i, "]"),
         absl::StrCat("gate_proj is not in a model with mlp: ", model.mlp(),
                      "; leave it out")});
  }
  if (model.tie_embeddings() && !model.output_projection()) {
    const auto& parts = training.trainable();
    const auto head = std::find(parts.begin(), parts.end(), "head");
    if (head != parts.end()) {
      violations->push_back(
          {absl::StrCat(FieldPath(field, "trainable"), "[",
                        head - parts.begin(), "]"),
           "the head is the embeddings' matrix (model.tie_embeddings); name "
           "embeddings"});
    }
  }
  if (!training.has_shifted_sparse()) return;
  const std::string path = FieldPath(field, "shifted_sparse");
  if (!model.causal()) {
    violations->push_back(
        {path, "is for causal models; leave out model.causal: false"});
  }
  if (model.heads() % 2 != 0) {
    violations->push_back(
        {path, absl::StrCat("needs an even number of heads, model.heads is ",
                            model.heads())});
  }
}

}  // namespace ordo::model::catalog

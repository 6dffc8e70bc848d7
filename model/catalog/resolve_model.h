#ifndef ORDO_MODEL_CATALOG_RESOLVE_MODEL_H_
#define ORDO_MODEL_CATALOG_RESOLVE_MODEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What a model and its encoding are, resolved as in resolve.h.

namespace ordo::model::catalog {

// Vocabulary of a model whose task does not say (SentencePiece of Llama).
inline constexpr int kDefaultVocabularySize = 32000;

// What a name stands for: sizes, and maybe more.
struct Preset {
  std::string name;
  int layers;
  int width;
  int heads;
  // 0: from the width, as DefaultMlpWidth says.
  int mlp_width;
  // For people.
  std::string text;
  // Other fields, of which `preset` is the name that a resolved model has in
  // the place of this one's.
  ordo::training::v1::Model fields = {};
};

// All presets; the first is the default.
const std::vector<Preset>& Presets();

// The smallest multiple of 32 that is at least 8/3 of `width`: a gated MLP of
// that width has about the parameters of a plain one of 4 * width.
int DefaultMlpWidth(int width);

// What encodings depend on, of a resolved model.
ModelShape ShapeOf(const ordo::training::v1::Model& model);

// `task_vocabulary_size` is that of the training task, 0 if there is none.
void ResolveModel(std::string_view field, int task_vocabulary_size,
                  ordo::training::v1::Model* model, Violations* violations);

// Resolves the component, and checks whether it fits the model, which has been
// resolved.
void ResolveEncoding(std::string_view field,
                     const ordo::training::v1::Model& model,
                     ordo::training::v1::Component* encoding,
                     Violations* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESOLVE_MODEL_H_

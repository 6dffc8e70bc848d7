#ifndef ORDO_MODEL_CATALOG_TOKENS_H_
#define ORDO_MODEL_CATALOG_TOKENS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Whether a model is asked in the tokens that it was trained with: ids of
// others mean something else, however many there are.

namespace ordo::model::catalog {

// What the ids of a task with these parameters are of: a tokenizer's file,
// kByteTokenizer, or the name of a vocabulary (Entry::vocabulary). Empty: the
// parameters do not say.
std::string TokensOf(const Entry& task, const ParamMap& params);

// An evaluation with parameters that are right, of a model that was trained on
// `trained_on`, which is resolved. Not owned.
struct AskedTokens {
  const Entry& task;
  // Path of the evaluation.
  std::string_view field;
  const ParamMap& params;
  const ordo::training::v1::Data& trained_on;
};

// Appends a violation where they are others for certain. Two files may have the
// same ids: that is left to AddTokenizerNotices.
void RefuseOtherTokens(const AskedTokens& asked, Violations* violations);

// Two files of tokenizers: the one that an evaluation names, and that of the
// training of its model.
struct TwoTokenizers {
  std::string named;
  std::string trained;
};

// Nothing where they are not two, or not both files.
std::optional<TwoTokenizers> FindTwoTokenizers(
    const ordo::training::v1::Evaluation& evaluation,
    const ordo::training::v1::Data& trained_on);

// Appends a sentence for each evaluation that names another tokenizer's file
// than the training; none twice.
void AddTokenizerNotices(const google::protobuf::RepeatedPtrField<
                             ordo::training::v1::Evaluation>& evaluations,
                         const ordo::training::v1::Data& trained_on,
                         std::vector<std::string>* notices);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_TOKENS_H_

#ifndef ORDO_MODEL_CATALOG_RESOLVE_EVALUATIONS_H_
#define ORDO_MODEL_CATALOG_RESOLVE_EVALUATIONS_H_

#include <cstdint>
#include <string>

#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// How a model is evaluated, resolved as in resolve.h.

namespace ordo::model::catalog {

inline constexpr int kMaxEvaluations = 64;
// Items of an evaluation. What became of each is in memory until its report is
// written: some 300 bytes and the output, a byte for each mark, so about a GB
// at most. A grid of 80 by 80 with a hundred samples has 640 000.
inline constexpr int64_t kMaxItems = 1'000'000;
// Tokens of as many rows as there are items, each as long as the longest: no
// item has more marks than tokens.
inline constexpr int64_t kMaxItemTokens = 1'000'000'000;

// Where evaluations stand.
struct EvaluationsContext {
  // Path of the list.
  std::string field = "evaluations";
  // Inside a training run, where `at` and `every_steps` mean something.
  bool in_training = true;
  // Of the model; 0 when not known.
  int vocabulary_size = 0;
  // Of the model, or not known. All tasks decode, which needs it.
  bool causal = true;
  // Number of positions that the encoding has room for; 0: no limit, or not
  // known.
  int64_t max_length = 0;
  // What the model is trained on, resolved; null: not known. Not owned.
  const ordo::training::v1::Data* trained_on = nullptr;
};

void ResolveEvaluations(
    const EvaluationsContext& context,
    google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>*
        evaluations,
    Violations* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESOLVE_EVALUATIONS_H_
